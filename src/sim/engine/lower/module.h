#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chip/chip.h"
#include "ptx/ast.h"

namespace baton::sim {

class DeviceMemory;

// One parameter of a kernel, as the driver reports it.
struct KernelParam {
  std::string name;
  std::uint32_t offset = 0;  // in the parameter block handed to a launch
  std::uint32_t size = 0;
  std::uint32_t align = 1;
};

struct DecodedKernel;  // the executable form; private to the engine

// One entry of a loaded module.
struct LoadedKernel {
  std::string name;
  const ptx::Function* function = nullptr;
  std::vector<KernelParam> params;
  std::uint32_t param_bytes = 0;
  std::uint32_t static_shared = 0;  // bytes, after layout; without the dynamic part
  std::uint32_t local_bytes = 0;    // per thread
  std::uint32_t constant_bytes = 0;
  std::uint32_t max_threads = 0;         // of a block, from .maxntid / .reqntid and the chip
  std::uint32_t required_block[3] = {};  // 0 where the image does not fix it
  std::uint32_t required_cluster[3] = {};
  bool blocks_are_clusters = false;  // launches count the grid in clusters
  bool explicit_cluster = false;     // .explicitcluster
  // An estimate from live PTX registers where no cubin says better.
  std::uint32_t registers = 0;
  std::shared_ptr<const DecodedKernel> decoded;
};

// A PTX module placed on one device: its globals and constants have addresses (allocated and
// initialised when a kernel that refers to them, or a look-up by name, first needs them), its
// kernels are decoded when first asked for. Thread-safe.
class LoadedModule {
 public:
  // Throws Error(kInvalidInput) where the module does not suit the device: a target newer than its
  // chip (or, for sm_90a and its like, not the chip's own), address size 32, an unresolved extern.
  // `module` must have been parsed already; `chip` is one of the table.
  static std::shared_ptr<LoadedModule> load(std::shared_ptr<const ptx::ParsedModule> module,
                                            DeviceMemory& memory, const chip::Chip& chip);
  ~LoadedModule();

  // All entry names in the order written.
  std::vector<std::string> kernel_names() const;
  // The entry with its facts and its decoded body, or null where there is none of that name.
  // Throws Error(kInvalidInput) where its body does not parse or decode. Unknown instructions
  // decode: only executing one is an error.
  const LoadedKernel* kernel(std::string_view name);
  // The same kernel's body as it counts its accesses; decoded when first asked for.
  std::shared_ptr<const DecodedKernel> counting(const LoadedKernel& kernel);
  // The same as a debugger needs it.
  std::shared_ptr<const DecodedKernel> debugged(const LoadedKernel& kernel);
  // Address and size of a .global or .const variable; false where there is none.
  bool global(std::string_view name, std::uint64_t* address, std::uint64_t* bytes);

  // The .global variables with .attribute(.managed). They need memory that the host shares: someone
  // else allocates that, and says where it is before any kernel or look-up needs it.
  struct ManagedVariable {
    std::string name;
    std::uint64_t bytes = 0;
  };
  std::vector<ManagedVariable> managed_variables() const;
  // The memory stays the caller's. With `initialise` it gets the variable's initial value.
  void set_address(std::string_view name, std::uint64_t address, bool initialise);

  const ptx::ParsedModule& ptx() const;

  struct Impl;

 private:
  explicit LoadedModule(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::sim
