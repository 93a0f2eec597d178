#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/image.h"
#include "compile/link/nvjitlink.h"

namespace baton::compiler {

// One input of a device link. `bytes` must outlive the link.
struct DeviceLinkInput {
  int kind = NvJitLink::kPtxInput;
  std::string_view bytes;  // PTX without a NUL
  std::string name;
};

// nvJitLink for one architecture. Immutable, so thread-safe.
class DeviceLinker {
 public:
  // The nvJitLink of find_toolkit. Throws kNotFound where there is none, and kUnsupported where it
  // may not know the architecture ("sm_90a"), for which it would end the process.
  explicit DeviceLinker(const std::string& arch);

  // Machine code, or, with the option -ptx, PTX without a NUL. Throws kCompile with the linker's
  // log, without its marks.
  std::string link(const std::vector<DeviceLinkInput>& inputs,
                   const std::vector<std::string>& options) const;

  std::string version_text() const { return table_->version_text(); }

 private:
  const NvJitLink* table_;
  std::string arch_;
};

// The machine code for `arch` ("sm_90a") that the nvJitLink of find_toolkit assembles from PTX.
// Nothing where there is none, it may not know the architecture, or it refuses the PTX; `*why`, if
// given, then says so.
std::optional<Image> assemble(const Image& ptx, const std::string& arch,
                              std::string* why = nullptr);

}  // namespace baton::compiler
