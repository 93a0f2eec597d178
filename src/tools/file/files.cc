#include "tools/file/files.h"

#include "base/array/npy.h"
#include "base/error.h"
#include "base/file/file.h"
#include "compile/nvrtc/options.h"
#include "compile/relocatable.h"
#include "load/rewrite_words.h"

namespace baton::tools {

Source source_with_options(const std::filesystem::path& file,
                           const std::vector<std::string>& options) {
  Source source = Source::from_file(file);
  source.options = compiler::with_paths_from(std::filesystem::current_path(), options);
  return source;
}

Compiled compile_for_file(const Source& source, const CompileOptions& options) {
  // A source of its own has to have all its entries, which one of several for a link need not.
  Compiled compiled = compile(source, options);
  if (compiled.cubin || !compiler::is_relocatable(source)) return compiled;
  compiled.cubin = compiler::compile_relocatable(source, options).cubin;
  return compiled;
}

void require_rewritable(const std::vector<std::string>& options) {
  const std::string obstacle = load::rewrite_obstacle(options);
  if (obstacle.empty()) return;
  throw error(ErrorCode::kInvalidInput, "--rewrite: the source cannot be rewritten: {}", obstacle);
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  write_file_atomically(path, bytes);
}

void write_array(const std::filesystem::path& path, const Array& array) {
  write_npy(path, array);
}

}  // namespace baton::tools
