#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton::image {

// The members of a static library: the common ar format with GNU's and BSD's long names ("ar(5)").
// Symbol tables are left out. The bytes may be anything: what does not fit ends the list with a
// remark.
struct ArchiveMember {
  std::string_view name;
  std::uint64_t offset = 0;  // of the bytes, in the archive
  std::string_view bytes;
};
struct Archive {
  std::vector<ArchiveMember> members;
  std::vector<std::string> remarks;
};

bool is_archive(std::string_view bytes);

// `bytes` must be an archive and outlive the answer. Throws kInvalidInput for a thin one, whose
// members are files of their own.
Archive read_archive(std::string_view bytes, std::string_view name);

}  // namespace baton::image
