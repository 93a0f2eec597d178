#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "baton/error.h"
#include "baton/image.h"
#include "image/container/fatbin.h"
#include "image/kernel_index.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename Read>
void tolerate(Read read) {
  try {
    read();
  } catch (const baton::Error& refused) {
    require(refused.code() == baton::ErrorCode::kInvalidInput ||
            refused.code() == baton::ErrorCode::kUnsupported);
  }
}

}  // namespace

// Any bytes as a fatbin: every member is unpacked, to the size it declares or not at all.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  require(baton::image::Fatbin::container_at(bytes) <= size);
  tolerate([&] {
    const baton::image::Fatbin fatbin(bytes, "input");
    for (const baton::image::FatbinMember& member : fatbin.members()) {
      require(member.payload.size() <= size && member.facts.stored_size == member.payload.size());
      tolerate([&] {
        const std::string unpacked = fatbin.unpack(member);
        require(unpacked.size() <= member.facts.size);
      });
    }
  });
  tolerate([&] {
    const baton::ImageFacts facts = baton::read_facts(baton::Image::from_bytes(bytes, "input"));
    for (int device : {75, 80, 87, 90, 100, 121}) {
      require(!baton::runs_on(facts, device, 12040).reason.empty());
    }
    const baton::image::KernelIndex index(facts);
    for (const baton::KernelFacts& kernel : facts.kernels) {
      require(index.find(kernel.name, "input").name == kernel.name);
    }
  });
  return 0;
}
