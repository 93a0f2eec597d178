#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/export.h"
#include "baton/image.h"

namespace baton {

class Device;
class Module;

// CUDA C++ source before it is compiled: a value.
struct BATON_API Source {
  std::string text;
  std::string name;                            // what messages call it: the path, or "<text>"
  std::filesystem::path directory;             // where quotes and relative -I resolve from
  std::string prelude;                         // text put in front, with its own line numbers
  std::vector<std::filesystem::path> include;  // folders, searched before Baton's own
  std::vector<std::string> options;            // for NVRTC, as written; C++17 unless one says --std

  // Two constructors, so that nothing has to be guessed. Throws kNotFound, or kInvalidInput where
  // the text is blank.
  static Source from_file(const std::filesystem::path& path);
  static Source from_text(std::string text, std::string name = "<text>");
};

// What the compiler says of one kernel's machine code.
struct CompiledKernel {
  std::string symbol;
  std::uint32_t registers = 0;          // per thread
  std::uint32_t stack_bytes = 0;        // per thread
  std::uint32_t spill_store_bytes = 0;  // per thread, written to the stack for want of registers
  std::uint32_t spill_load_bytes = 0;   // and read back
  std::uint32_t static_shared = 0;      // bytes per block
  double seconds = 0;                   // that its machine code took to make; 0 where not said
};

// What one compile gave. The images share their bytes: cheap to copy.
struct Compiled {
  Image ptx;
  std::optional<Image> cubin;  // absent for a virtual architecture
  // Name expression → symbol, for every expression asked for.
  std::vector<std::pair<std::string, std::string>> symbols;
  // In the compiler's order; empty for a virtual architecture.
  std::vector<CompiledKernel> kernels;
  std::string log;  // the compiler's warnings; empty where there are none
  bool cache_hit = false;
  double seconds = 0;  // spent in the compiler, then or now
};

// All that is known of what a compile gave: what its images say, and the spills that the compiler
// told. Throws what read_facts of an image throws.
BATON_API ImageFacts read_facts(const Compiled& compiled);

struct CompileOptions {
  std::string arch = {};  // "sm_90a", "compute_90"; empty: of the device
  // Name expressions to instantiate and look up: "rmsnorm<float>", "ns::kernel". Templates and
  // static kernels exist only where they are named.
  std::vector<std::string> entries = {};
  bool use_cache = true;
};

// Compiles by NVRTC, loaded at run time, to PTX and a cubin in one call; on a cache hit NVRTC is
// not loaded at all. CUDA's own headers are found by themselves. Thread-safe. Throws kCompile with
// "file:line:column: error: …" and the source line where the source is wrong, kNotFound where NVRTC
// or its headers are not installed.
BATON_API Compiled compile(const Source& source, const CompileOptions& options);

// Compiles for the device and loads the result.
BATON_API Module compile(const Device& device, const Source& source,
                         const CompileOptions& options = {});

}  // namespace baton
