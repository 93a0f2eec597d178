#include "tools/guides.h"

#include <filesystem>
#include <system_error>

namespace baton::tools {

std::string guide_place(std::string_view page) {
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  // An installed program is in bin, beside share.
  const std::filesystem::path place = program.parent_path().parent_path() / BATON_DOCDIR / page;
  if (!failure && std::filesystem::exists(place, failure)) return place.string();
  return "docs/" + std::string(page);
}

}  // namespace baton::tools
