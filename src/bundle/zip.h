#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton::bundle {

// The zip around a bundle: stored entries whose bytes begin at multiples of 4096, so that common
// tools list and unpack it. Baton itself reads the index alone. APPNOTE.TXT 6.3.10 of PKWARE says
// what the records mean.

struct ZipEntry {
  std::string name;
  std::uint64_t offset = 0;  // in the file: the first byte of the contents
  std::uint64_t size = 0;
  std::uint32_t crc32 = 0;
  bool is_stored = true;  // without compression, as all that is written here
};

inline constexpr std::string_view kIndexEntry = "baton.index";

// The first offset, a multiple of 4096, at which the bytes of such an entry may lie if the bytes
// before its header end at `begin`.
std::uint64_t zip_place(std::string_view name, std::uint64_t size, std::uint64_t begin);
// The local header of an entry, which reaches from `begin` to the entry's offset.
std::string zip_header(const ZipEntry& entry, std::uint64_t begin);
// The end of the file: the directory of all entries, which begins at byte `begin`. `headers` has
// where the entries' local headers begin.
std::string zip_directory(const std::vector<ZipEntry>& entries,
                          const std::vector<std::uint64_t>& headers, std::uint64_t begin);

// Whether the bytes begin as a bundle does: with the local header of the index.
bool begins_as_bundle(std::string_view file);

// The entries of a zip's directory, for comparison with the index. Throws kInvalidInput.
std::vector<ZipEntry> read_zip_directory(std::string_view file, const std::string& name);

}  // namespace baton::bundle
