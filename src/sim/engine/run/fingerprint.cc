#include "sim/engine/run/fingerprint.h"

#include <string_view>

#include "base/hash/hash.h"

namespace baton::sim {
namespace {

std::uint64_t hash_of(const std::byte* first, std::size_t bytes) {
  return xxh3({reinterpret_cast<const char*>(first), bytes});
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

}  // namespace

std::uint64_t fingerprint_of(const Warp& warp) {
  std::uint64_t fragments = 0;  // whatever their order
  for (std::uint32_t k = 0; k < warp.count; ++k) {
    const Fragment& fragment = warp.fragments[k];
    std::uint64_t one = mix(fragment.mask, reinterpret_cast<std::uintptr_t>(fragment.pc));
    one = mix(one, static_cast<std::uint64_t>(fragment.wait));
    fragments += mix(one, fragment.frame);
  }
  std::uint64_t hash = mix(warp.index, fragments);
  for (const CallFrame& frame : warp.frames) {
    if (frame.lanes == 0) continue;
    hash = mix(hash, hash_of(frame.base, frame.function->frame_bytes));
  }
  return mix(hash, hash_of(warp.local.data(), warp.local.size()));
}

std::uint64_t fingerprint_of(const BlockState& block) {
  std::uint64_t hash = block.number + 1;
  for (const Warp& warp : block.warps) hash = mix(hash, fingerprint_of(warp));
  return hash;
}

std::uint64_t fingerprint_of_shared(const BlockState& block) {
  return hash_of(block.shared.data(), block.shared.size());
}

}  // namespace baton::sim
