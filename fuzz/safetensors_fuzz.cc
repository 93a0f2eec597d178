#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/array/safetensors.h"
#include "base/array/safetensors_model.h"
#include "baton/error.h"

// A whole file, or an index of several: what is read of it must lie inside of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const std::uint64_t length = baton::safetensors_header_length(bytes.substr(0, 8), size, "fuzz");
    const auto tensors = baton::parse_safetensors_header(bytes.substr(8, length), size, "fuzz");
    for (const auto& [name, tensor] : tensors) {
      if (tensor.offset > size || tensor.bytes > size - tensor.offset) std::abort();
    }
  } catch (const baton::Error&) {
    // Refused.
  }
  try {
    for (const auto& [tensor, shard] : baton::parse_safetensors_index(bytes, "fuzz")) {
      if (shard.empty() || shard.front() == '/') std::abort();
    }
  } catch (const baton::Error&) {
    // Refused.
  }
  return 0;
}
