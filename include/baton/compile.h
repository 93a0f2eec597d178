#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/forward.h"
#include "baton/image.h"

namespace baton {

// CUDA C++ source before compilation. A plain value.
struct BATON_API Source {
  std::string text;
  std::string name;                            // its name in messages: the path, or "<text>"
  std::filesystem::path directory;             // start of quoted includes and relative -I
  std::string prelude;                         // text before the source, with its own line numbers
  std::vector<std::filesystem::path> include;  // folders, searched before Baton's own
  std::vector<std::string> options;            // for NVRTC, unchanged; C++17 without a --std

  // Read a file, or take a text. They throw kNotFound for a missing file, and kInvalidInput for a
  // blank text.
  static Source from_file(const std::filesystem::path& path);
  static Source from_text(std::string text, std::string name = "<text>");
};

// The compiler's figures for one kernel's machine code.
struct CompiledKernel {
  std::string symbol;
  std::uint32_t registers = 0;          // per thread
  std::uint32_t stack_bytes = 0;        // per thread
  std::uint32_t spill_store_bytes = 0;  // per thread, written to the stack
  std::uint32_t spill_load_bytes = 0;   // per thread, read back
  std::uint32_t static_shared = 0;      // bytes per block
  double seconds = 0;                   // to make its machine code; 0 if not known
};

// The result of one compile. Copies share the images' bytes.
struct Compiled {
  Image ptx;
  std::optional<Image> cubin;  // absent for a virtual architecture
  // Name expression → symbol, for every requested expression.
  std::vector<std::pair<std::string, std::string>> symbols;
  // In the compiler's order; empty for a virtual architecture.
  std::vector<CompiledKernel> kernels;
  std::string log;  // the compiler's warnings, or empty
  bool cache_hit = false;
  double seconds = 0;  // in the compiler, now or when the result was cached
};

// Joins the facts of the compiled images with the compiler's spill counts and names. Throws the
// errors of read_facts for images.
BATON_API ImageFacts read_facts(const Compiled& compiled);

struct CompileOptions {
  std::string arch = {};  // "sm_90a", "compute_90"; empty: the device's
  // Name expressions to instantiate and look up: "rmsnorm<float>", "ns::kernel". A template or
  // static kernel exists only if an expression names it.
  std::vector<std::string> entries = {};
  bool use_cache = true;
  // Whether the facts also have the names of parameters (ParamFacts::name), and the types of those
  // of extern "C" kernels. Only debug information (DWARF) has them, and it excludes optimisation.
  // So this compiles the source to PTX once more, and caches that too. A source that does not
  // compile with -G has neither.
  bool param_names = false;
};

// Compiles with NVRTC to PTX and a cubin in one call. Loads NVRTC at run time; a cache hit does not
// load it. Finds CUDA's own headers. Thread-safe. Throws kCompile with "file:line:column: error: …"
// and the source line for an error in the source, and kNotFound if NVRTC or its headers are not
// installed.
BATON_API Compiled compile(const Source& source, const CompileOptions& options);

// Compiles for the device and loads the result. Throws the errors of the function above and of
// Module::load.
BATON_API Module compile(const Device& device, const Source& source,
                         const CompileOptions& options = {});

}  // namespace baton
