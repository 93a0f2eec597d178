#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "baton/error.h"
#include "baton/image.h"
#include "image/cubin/kept_ptx.h"
#include "image/names/mangled_name.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Whatever is read must make sense: offsets inside the kernel's block, kinds that fit their types,
// and kernels that can be found by the names they are given.
void check(const baton::ImageFacts& facts) {
  for (const baton::KernelFacts& kernel : facts.kernels) {
    require(!kernel.name.empty() && !kernel.demangled.empty());
    require(facts.kernel(kernel.name) != nullptr);
    if (!kernel.params) continue;
    for (const baton::ParamFacts& param : *kernel.params) {
      require(!param.type.empty());
      require(param.kind != baton::ParamKind::kScalar || param.dtype.has_value());
      require(param.kind != baton::ParamKind::kScalar ||
              baton::size_of(*param.dtype) == param.size);
      require(param.kind != baton::ParamKind::kPointer || param.size == 8);
    }
  }
  const baton::ImageFacts merged = baton::merge_facts(facts, facts);
  require(merged.kernels.size() == facts.kernels.size());
}

}  // namespace

// Any bytes as an image: cubins for the most part, and PTX as it comes. And any bytes as a symbol.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    check(baton::read_facts(baton::Image::from_bytes(bytes, "input")));
  } catch (const baton::Error& refused) {
    require(refused.code() == baton::ErrorCode::kInvalidInput ||
            refused.code() == baton::ErrorCode::kUnsupported);
  }
  // What is kept in whatever takes it comes back.
  try {
    constexpr std::string_view kText = ".version 8.0";
    const std::string with = baton::image::keep_ptx(bytes, kText, "input");
    require(baton::image::kept_ptx(with) == kText);
  } catch (const baton::Error& refused) {
    require(refused.code() == baton::ErrorCode::kInvalidInput);
  }
  baton::image::kept_ptx(bytes);
  constexpr std::size_t kMaxSymbol = 4096;
  if (size <= kMaxSymbol) baton::image::read_mangled(bytes);
  return 0;
}
