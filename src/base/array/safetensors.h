#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file_descriptor.h"
#include "base/file/held_bytes.h"
#include "baton/dtype.h"

namespace baton {

// The format of Hugging Face's safetensors library (its README, "Format"): 8 bytes with the
// header's length, little-endian; the header, JSON with a dtype, a shape and a range of bytes for
// each tensor; then the tensors' bytes, little-endian and in C order, without gaps.

struct SafeTensor {
  std::string dtype_name;      // as in the file: "BF16"
  std::optional<DType> dtype;  // nothing for a type that Baton lacks
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  // of its first byte in the file
  std::uint64_t bytes = 0;
};

using SafeTensors = std::map<std::string, SafeTensor, std::less<>>;

// No header of the library is longer.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

// The length of the header that the first 8 bytes of a file give. Throws kInvalidInput naming
// `name` for fewer bytes, and for a header longer than the file of `file_bytes` or the limit.
std::uint64_t safetensors_header_length(std::string_view start, std::uint64_t file_bytes,
                                        const std::string& name);
// Reads a header. Throws kInvalidInput naming `name` and the tensor: text that is not JSON,
// missing keys, sizes that overflow or disagree with the shape, ranges outside the file, with gaps
// or overlaps.
SafeTensors parse_safetensors_header(std::string_view header, std::uint64_t file_bytes,
                                     const std::string& name);

// An open .safetensors file. Movable. Several threads may read it.
class SafetensorsFile {
 public:
  // Reads the header. Throws kNotFound, or kInvalidInput as above.
  explicit SafetensorsFile(const std::filesystem::path& path);
  // The same for a file that is a part of another one.
  explicit SafetensorsFile(std::shared_ptr<const HeldBytes> held);

  const SafeTensors& tensors() const { return tensors_; }
  // Copies `bytes` bytes of a tensor, from its byte `first` on. Throws kInvalidInput if the file
  // has become shorter.
  void read(const SafeTensor& tensor, std::uint64_t first, std::uint64_t bytes, void* target) const;

 private:
  void read_header(std::uint64_t file_bytes);
  void read_at(std::uint64_t offset, std::uint64_t bytes, void* target) const;

  std::string name_;
  FileDescriptor file_;
  std::shared_ptr<const HeldBytes> held_;  // instead of a file
  SafeTensors tensors_;
};

}  // namespace baton
