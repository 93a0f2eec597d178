#include "image/sniff.h"

#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace baton::image {
namespace {

constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;
constexpr std::uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr std::size_t kMachineOffset = 18;   // of e_machine in the ELF header

template <typename T>
T load(std::string_view bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

bool starts_with_ptx_version(std::string_view text) {
  for (;;) {
    const std::size_t start = text.find_first_not_of(" \t\r\n\v\f");
    if (start == std::string_view::npos) return false;
    text.remove_prefix(start);
    std::size_t end;
    if (text.starts_with("//")) {
      end = text.find('\n');
    } else if (text.starts_with("/*")) {
      end = text.find("*/", 2);
      if (end != std::string_view::npos) end += 1;
    } else {
      constexpr std::string_view kVersion = ".version";
      return text.starts_with(kVersion) && text.size() > kVersion.size() &&
             (text[kVersion.size()] == ' ' || text[kVersion.size()] == '\t');
    }
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

ImageKind sniff(std::string_view bytes, std::string_view name) {
  if (bytes.empty()) throw error(ErrorCode::kInvalidInput, "{} is empty: it holds no image", name);
  if (bytes.starts_with("\x7f"
                        "ELF")) {
    const auto machine = load<std::uint16_t>(bytes, kMachineOffset);
    if (machine == kMachineCuda) return ImageKind::kCubin;
    throw error(ErrorCode::kInvalidInput,
                "{} is an ELF file for machine {}, not a cubin (machine {}); give the kernel image "
                "itself",
                name, machine, kMachineCuda);
  }
  if (load<std::uint32_t>(bytes, 0) == kFatbinMagic) return ImageKind::kFatbin;
  if (starts_with_ptx_version(bytes)) return ImageKind::kPtx;
  if (bytes.starts_with("\xef\xbb\xbf") && starts_with_ptx_version(bytes.substr(3))) {
    throw error(ErrorCode::kInvalidInput,
                "{} begins with a byte order mark, which no PTX assembler takes; remove it", name);
  }
  throw error(ErrorCode::kInvalidInput,
              "{} is no kernel image: it is neither PTX (which begins with .version), nor a cubin, "
              "nor a fatbin",
              name);
}

}  // namespace baton::image
