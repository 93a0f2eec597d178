#include "tools/files.h"

#include "base/file.h"
#include "base/npy.h"
#include "compile/nvrtc/options.h"

namespace baton::tools {

Source source_with_options(const std::filesystem::path& file,
                           const std::vector<std::string>& options) {
  Source source = Source::from_file(file);
  source.options = compiler::with_paths_from(std::filesystem::current_path(), options);
  return source;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  write_file_atomically(path, bytes);
}

void write_array(const std::filesystem::path& path, const Array& array) {
  write_npy(path, array);
}

}  // namespace baton::tools
