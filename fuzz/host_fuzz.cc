#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "baton/error.h"
#include "baton/image.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// Any bytes as a program, a library or an archive: what is found lies in the file byte for byte,
// in order, and nothing twice.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const baton::FoundImages found = baton::find_images(bytes, "input");
    std::uint64_t end = 0;
    for (const baton::FoundImage& each : found.images) {
      const std::string_view image = each.image.bytes();
      require(each.offset >= end && each.offset <= size && image.size() <= size - each.offset);
      require(bytes.substr(each.offset, image.size()) == image);
      end = each.offset + image.size();
    }
  } catch (const baton::Error& refused) {
    require(refused.code() == baton::ErrorCode::kInvalidInput);
  }
  return 0;
}
