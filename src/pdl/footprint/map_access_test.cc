// Which memory a copy by a tensor map touches, with what the launch gives the map's parameter.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "pdl/footprint/bound.h"
#include "pdl/footprint/footprint.h"
#include "ptx/ast.h"

namespace baton::overlap::map_access_test {
namespace {

constexpr MemoryId kNotKnown = 99;

// Of a kernel with a parameter of so many bytes. %d1 is the address of the map.
std::vector<MemoryId> memories(unsigned bytes, const std::string& body, const std::string& offset,
                               const GivenArgument& given, bool stores = false) {
  const std::string copy =
      stores ? "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1{}, {{%r2}}], [%r1];"
             : "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%r1], [%d1{}, {{%r2}}], [bar+8];";
  const auto module =
      ptx::ParsedModule::parse(fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 p0[{}]) {{
.reg .b64 %d<3>; .reg .b32 %r<3>;
.shared .align 128 .b8 tile[128]; .shared .align 8 .b64 bar[2];
{}
mov.u32 %r1, tile; mov.u32 %r2, 0;
{}
ret;
}})",
                                           bytes, body, fmt::format(fmt::runtime(copy), offset)),
                               "k.ptx");
  const Footprint found = read_footprint(module, *module->function("k"), {});
  std::vector<MemoryId> all;
  const BoundLaunch bound =
      bind(found, std::span(&given, 1), {}, {}, [](std::string_view, bool) { return MemoryId{9}; });
  for (const BoundAccess& access : bound.accesses) {
    all.push_back(access.memory.value_or(kNotKnown));
  }
  return all;
}

const std::vector<MemoryId> kNone = {kNotKnown};

// An access by one of them is an access by any.
TEST(MapAccess, AStructHasSeveralMaps) {
  GivenArgument given;
  given.kind = GivenArgument::Kind::kStruct;
  const auto of_struct = [&] {
    return memories(320, "mov.b64 %d1, p0; cvta.param.u64 %d1, %d1; add.s64 %d1, %d1, 128;", "",
                    given);
  };
  EXPECT_EQ(of_struct(), kNone) << "no map is known";
  given.maps = {{.position = 0, .memory = 4}, {.position = 128, .memory = 5}};
  EXPECT_EQ(of_struct(), (std::vector<MemoryId>{4, 5}));
  given.may_have_other_maps = true;
  EXPECT_EQ(of_struct(), kNone) << "some are known";
}

// An index from memory may lead anywhere.
TEST(MapAccess, AMapAtALoadedIndexIsNotKnown) {
  GivenArgument given;
  given.kind = GivenArgument::Kind::kStruct;
  given.maps = {{.position = 0, .memory = 4}, {.position = 128, .memory = 5}};
  EXPECT_EQ(memories(320,
                     "mov.b64 %d1, p0; ld.shared.u64 %d2, [tile]; and.b64 %d2, %d2, 128;\n"
                     "add.s64 %d1, %d1, %d2;",
                     "", given),
            kNone);
}

// After its own beginning a map that is a parameter is none, and what lies after it is not known.
TEST(MapAccess, AMapIsAtTheAddressOfItsParameter) {
  const std::vector<MemoryId> own = {5};
  const auto of_map = [](const std::string& body, const std::string& offset = "") {
    return memories(128, body, offset, GivenArgument::tensor_map(5));
  };
  EXPECT_EQ(of_map("mov.b64 %d1, p0;"), own);
  EXPECT_EQ(of_map("mov.b64 %d1, p0; cvta.param.u64 %d1, %d1;"), own);
  EXPECT_EQ(of_map("mov.b64 %d1, p0;", "+128"), kNone);
  EXPECT_EQ(of_map("mov.b64 %d1, p0+128;"), kNone);
  const auto stored = [](const std::string& offset) {
    return memories(128, "mov.b64 %d1, p0;", offset, GivenArgument::tensor_map(5), true);
  };
  EXPECT_EQ(stored(""), own);
  EXPECT_EQ(stored("+64"), kNone);
  EXPECT_EQ(of_map("mov.b64 %d1, p0; add.s64 %d1, %d1, 64;"), kNone);
  EXPECT_EQ(of_map("mov.b64 %d1, p0; cvt.u64.u32 %d2, %laneid; add.s64 %d1, %d1, %d2;"), kNone);
}

}  // namespace
}  // namespace baton::overlap::map_access_test
