#pragma once

// Fatbins: containers of one program's images for several architectures, as CUDA 13.0 and 12 write
// them (measured; flags and the container's magic also in LLVM's and RAPIDS' sources).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton/image.h"

namespace baton::image {

// The first word of a container.
inline constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;

struct FatbinMember {
  using Kind = MemberFacts::Kind;
  using Packing = MemberFacts::Packing;

  MemberFacts facts;
  int sm = 0;                // 90
  std::string_view payload;  // as stored, without padding
};

class Fatbin {
 public:
  // `bytes` must outlive it. Members of unknown kind or packing, and what lies past the end, cost a
  // remark. Throws kInvalidInput where not even the first container's header is there.
  Fatbin(std::string_view bytes, std::string_view name);

  const std::vector<FatbinMember>& members() const { return members_; }
  const std::vector<std::string>& remarks() const { return remarks_; }

  // The member of that kind for the newest architecture, or null.
  const FatbinMember* newest(FatbinMember::Kind kind) const;

  // The member's own bytes; PTX without its NUL. Memory is bounded by the size that the member
  // declares, and that by a cap and by a ratio to what is stored. Throws kInvalidInput where the
  // bytes do not unpack to that size.
  std::string unpack(const FatbinMember& member) const;

  // The size of the container that starts at `bytes`, of which 16 must be readable: for callers who
  // are handed a pointer alone. 0 where it is not a fatbin.
  static std::uint64_t size_of(const void* bytes);
  // The size of the container that `bytes` begins with; 0 where they begin otherwise, where it does
  // not fit, and where it holds no member.
  static std::uint64_t container_at(std::string_view bytes);

 private:
  void read_members(std::string_view container);

  std::string name_;
  std::vector<FatbinMember> members_;
  std::vector<std::string> remarks_;
};

}  // namespace baton::image
