#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "baton/array.h"
#include "baton/compile.h"

namespace baton::tools {

// A source with options of the command line, where paths are relative to the working directory.
Source source_with_options(const std::filesystem::path& file,
                           const std::vector<std::string>& options);

// Compiles a source. The machine code of relocatable code, which `baton::compile` leaves out, is
// there too. Throws what `baton::compile` throws.
Compiled compile_for_file(const Source& source, const CompileOptions& options);

// Throws kInvalidInput for options that rewritten kernels would lose.
void require_rewritable(const std::vector<std::string>& options);

// Writes a file whole or not at all. Throws kInvalidInput.
void write_file(const std::filesystem::path& path, std::string_view bytes);
void write_array(const std::filesystem::path& path, const Array& array);

}  // namespace baton::tools
