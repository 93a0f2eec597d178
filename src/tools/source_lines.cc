#include "tools/source_lines.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/file/file.h"
#include "base/text/text.h"
#include "baton/error.h"

namespace baton::tools {
namespace {

// What is larger is not a source that people read.
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;
constexpr std::size_t kMostColumns = 400;

// Takes ":12" off the end.
std::optional<int> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data() + colon + 1, end, value);
  if (code != std::errc() || at != end || value < 0) return std::nullopt;
  text.remove_suffix(text.size() - colon);
  return value;
}

}  // namespace

std::optional<TextPlace> read_place(std::string_view where) {
  // "vector.h:9:3 (inlined at norm.cu:12:7)": the reader's own line is the last one.
  constexpr std::string_view kInlined = "(inlined at ";
  if (const std::size_t at = where.rfind(kInlined); at != std::string_view::npos) {
    where.remove_prefix(at + kInlined.size());
    where = where.substr(0, where.find(')'));
  }
  const auto last = take_number(where);
  if (!last) return std::nullopt;
  const auto first = take_number(where);
  if (where.empty()) return std::nullopt;
  if (!first) return TextPlace{std::string(where), *last, 0};
  return TextPlace{std::string(where), *first, *last};
}

SourceLines::SourceLines(const Program& program) {
  for (const ProgramKernel& kernel : program.kernels()) {
    if (kernel.origin == KernelOrigin::kText) texts_["<kernel " + kernel.name + ">"] = kernel.text;
  }
}

const std::string& SourceLines::text_of(const std::string& file) {
  const auto [found, fresh] = texts_.try_emplace(file);
  std::error_code failure;
  if (!fresh || !std::filesystem::is_regular_file(file, failure)) return found->second;
  try {
    found->second = read_file(file, kMostBytes);
  } catch (const Error&) {
    // The message has its place, which is what counts.
  }
  return found->second;
}

std::string SourceLines::excerpt(std::string_view where) {
  const auto place = read_place(where);
  if (!place) return {};
  const std::string& text = text_of(place->file);
  return text.empty() ? "" : source_excerpt(text, place->line, place->column);
}

std::vector<SourceLine> SourceLines::lines(std::string_view where, int around) {
  std::vector<SourceLine> result;
  const auto place = read_place(where);
  if (!place) return result;
  const std::vector<std::string_view> all = split_lines(text_of(place->file));
  const int count = static_cast<int>(all.size());
  if (place->line < 1 || place->line > count) return result;
  for (int k = std::max(place->line - around, 1); k <= std::min(place->line + around, count); ++k) {
    const std::string_view line = all[static_cast<std::size_t>(k - 1)];
    result.push_back({k, std::string(line.substr(0, kMostColumns)), k == place->line});
  }
  return result;
}

}  // namespace baton::tools
