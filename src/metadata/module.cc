#include <algorithm>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "baton/metadata.h"
#include "image/container/elf.h"

namespace baton {
namespace {

bool is_label(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

// Text has no control characters but those that set its lines.
bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || (byte >= '\t' && byte <= '\r');
  });
}

bool symbol_less(const FunctionMetadata& a, const FunctionMetadata& b) {
  return a.symbol() < b.symbol();
}

}  // namespace

ModuleMetadata::ModuleMetadata(Parts parts)
    : name_(std::move(parts.name)),
      functions_(std::move(parts.functions)),
      label_(std::move(parts.label)),
      sources_(std::move(parts.sources)) {
  constexpr std::size_t kMaxLabel = 64;
  if (label_.size() > kMaxLabel || !is_label(label_)) {
    throw error(ErrorCode::kInvalidInput, "{}: \"{}\" is not a label of code", name_,
                printable(label_));
  }
  std::sort(functions_.begin(), functions_.end(), symbol_less);
  const auto twice = std::adjacent_find(functions_.begin(), functions_.end(),
                                        [](const FunctionMetadata& a, const FunctionMetadata& b) {
                                          return a.symbol() == b.symbol();
                                        });
  if (twice != functions_.end()) {
    throw error(ErrorCode::kInvalidInput, "{}: the function {} is described twice", name_,
                twice->symbol());
  }
  if (parts.code.empty()) return;
  try {
    Image image = Image::from_bytes(parts.code, name_);
    // PTX ends at its first NUL: what is left must be an image still.
    if (image.kind() == ImageKind::kPtx) image = Image::from_bytes(image.bytes(), name_);
    image_ = std::move(image);
  } catch (const Error& no_image) {
    std::string_view text = parts.code;
    while (text.ends_with('\0')) text.remove_suffix(1);
    if (!is_text(text)) {
      throw error(ErrorCode::kInvalidInput, "{}: its code, labelled \"{}\", is not text either: {}",
                  name_, label_, no_image.message());
    }
    // TileLang writes the name of the format where it did not compile: there is no code.
    if (text == label_ || text == "ptx" || text == "cubin") return;
    // What a container says of its source beside the code is the same source.
    sources_.try_emplace("cuda", text);
  }
}

const FunctionMetadata& ModuleMetadata::function(std::string_view symbol) const {
  const auto found =
      std::lower_bound(functions_.begin(), functions_.end(), symbol,
                       [](const FunctionMetadata& function, std::string_view wanted) {
                         return function.symbol() < wanted;
                       });
  if (found != functions_.end() && found->symbol() == symbol) return *found;
  std::vector<std::string> known;
  for (const FunctionMetadata& function : functions_) known.push_back(function.symbol());
  throw error(ErrorCode::kNotFound, "{} describes no function \"{}\"{}", name_, printable(symbol),
              suggestion(symbol, known));
}

}  // namespace baton
