#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/array/npy.h"
#include "baton/error.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Whatever is read must be whole, and must come back the same from what Baton itself writes.
void check(const baton::Array& array) {
  std::uint64_t bytes = baton::size_of(array.dtype);
  for (const std::int64_t extent : array.shape) {
    require(extent >= 0);
    bytes *= static_cast<std::uint64_t>(extent);
  }
  require(bytes == array.bytes.size());
  const baton::Array again = baton::parse_npy(baton::format_npy(array), array.dtype, "again");
  require(again.shape == array.shape && again.bytes == array.bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    check(baton::parse_npy(bytes, "input"));
  } catch (const baton::Error& refused) {
    require(refused.code() == baton::ErrorCode::kInvalidInput);
  }
  for (const baton::DType raw : {baton::DType::kBF16, baton::DType::kF8E4M3}) {
    try {
      check(baton::parse_npy(bytes, raw, "input"));
    } catch (const baton::Error& refused) {
      require(refused.code() == baton::ErrorCode::kInvalidInput);
    }
  }
  return 0;
}
