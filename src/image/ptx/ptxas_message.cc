#include "image/ptx/ptxas_message.h"

#include <charconv>

#include "base/text/text.h"

namespace baton::image {

std::optional<PtxasMessage> parse_ptxas_message(std::string_view text) {
  constexpr std::string_view kStart = "ptxas application ptx input, line ";
  constexpr std::string_view kBehindLine = "; ";
  if (!text.starts_with(kStart)) return std::nullopt;
  text.remove_prefix(kStart.size());
  PtxasMessage found;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), found.line);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (code != std::errc() || found.line < 1 || !text.starts_with(kBehindLine)) return std::nullopt;
  text.remove_prefix(kBehindLine.size());
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  found.severity = trim(text.substr(0, colon));
  found.message = trim(text.substr(colon + 1));
  return found;
}

}  // namespace baton::image
