#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "baton/compile.h"
#include "baton/export.h"
#include "baton/image.h"

namespace baton {

// One file of a device link: CUDA source, or an image (PTX, cubin, fatbin). Machine code must be
// relocatable (nvcc -dc, -rdc=true) to be linked with other code.
using LinkInput = std::variant<Source, Image>;

// Reads a file for a link. Its bytes decide whether it is an image; any other text is CUDA source.
// Throws kNotFound for a missing file, and kInvalidInput for a blank one and for other bytes in a
// file that is called .ptx, .cubin or .fatbin.
BATON_API LinkInput read_link_input(const std::filesystem::path& path);

// "a.cu + b.ptx": the name of a link in messages.
BATON_API std::string link_name(const std::vector<LinkInput>& inputs);

// The result of one link: at least one image. Copies share the images' bytes.
struct Linked {
  // Absent where an input is machine code alone. The simulated GPU needs it.
  std::optional<Image> ptx;
  // Absent for a virtual architecture, and without nvJitLink.
  std::optional<Image> cubin;
  // Name expression → symbol, for the expressions that a source has.
  std::vector<std::pair<std::string, std::string>> symbols;
  std::string log;         // the compiler's warnings, or empty
  bool cache_hit = false;  // neither compiled nor linked now
  double seconds = 0;      // in the compiler and the linker, now or when the result was cached
};

// Compiles the sources as relocatable code and links all inputs: what one file declares `extern`
// and another defines is one function or variable. An entry of `options` may be in any source.
// nvJitLink, which is loaded at run time, makes the machine code. Sources with the option -dlto are
// optimised together (link-time optimisation, LTO). The result is cached by everything that decides
// it. Thread-safe. Throws
// - kCompile with the file and the symbol for a name that no file defines, or that two define, and
//   for an error in a source;
// - kNotFound if NVRTC, or nvJitLink where there is no PTX to link, is not installed;
// - kInvalidInput for an empty list, and for an input that the architecture cannot take.
BATON_API Linked link(const std::vector<LinkInput>& inputs, const CompileOptions& options);

// Links for the device and loads the result. Throws the errors of the function above and of
// Module::load.
BATON_API Module link(const Device& device, const std::vector<LinkInput>& inputs,
                      const CompileOptions& options = {});

}  // namespace baton
