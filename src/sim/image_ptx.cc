#include "sim/image_ptx.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace baton::sim {
namespace {

// A fatbin's first word, and that of the wrapper that points to one (fatbinary_section.h).
constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;
constexpr std::uint32_t kFatbinWrapperMagic = 0x466243B1;

// Whether `code` starts with `magic`. Reads no byte behind the first that differs, as a shorter
// text ends in a NUL.
bool starts_with(const char* code, std::string_view magic) {
  for (std::size_t i = 0; i < magic.size(); ++i) {
    if (code[i] != magic[i]) return false;
  }
  return true;
}

bool starts_with(const char* code, std::uint32_t magic) {
  char bytes[sizeof magic];
  std::memcpy(bytes, &magic, sizeof magic);
  return starts_with(code, std::string_view(bytes, sizeof bytes));
}

}  // namespace

std::string ptx_of_image(const void* code) {
  const auto* bytes = static_cast<const char*>(code);
  if (starts_with(bytes,
                  "\x7f"
                  "ELF")) {
    throw error(ErrorCode::kUnsupported,
                "the image is a cubin: it holds machine code only, no PTX, and the simulated GPU "
                "runs PTX; give it the PTX of the same kernels, or run on a GPU");
  }
  if (starts_with(bytes, kFatbinMagic) || starts_with(bytes, kFatbinWrapperMagic)) {
    throw error(ErrorCode::kUnsupported,
                "the image is a fatbin, which the simulated GPU does not unpack; give it the PTX "
                "of the same kernels, or run on a GPU");
  }
  const std::string_view text(bytes);
  if (text.find(".version") == std::string_view::npos) {
    throw error(ErrorCode::kInvalidInput,
                "the image is neither PTX (it has no .version) nor a cubin nor a fatbin: it starts "
                "with \"{}\"",
                printable(text, 24));
  }
  return std::string(text);
}

}  // namespace baton::sim
