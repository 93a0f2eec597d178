#include <fmt/core.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "instructions/suite.h"

// Special registers (PTX ISA, "Special Registers"). The input of a case is the thread's number in
// the grid, from which the reference knows where it is.
namespace baton::instructions {
namespace {

constexpr u32 kRows = 640;

struct Shape {
  u32 x, y, z;
  u32 count() const { return x * y * z; }
};

template <typename F>
void add_case(Group& group, std::string text, const Shape& shape, F reference) {
  Case& added = group.add(std::move(text), reference).operand(0, range(0, kRows - 1));
  added.block = Dim3(shape.x, shape.y, shape.z);
}

void add_positions(Group& group) {
  static constexpr Shape kShapes[] = {{64, 1, 1}, {8, 4, 2}, {5, 4, 1}, {1, 1, 32}, {2, 80, 1}};
  for (const Shape& shape : kShapes) {
    add_case(group, "mov.u32 %d, %tid.x; mov.u32 %x, %tid.y; mov.u32 %y, %tid.z;", shape,
             [&shape](u32 index) {
               const u32 thread = index % shape.count();
               return std::array{thread % shape.x, thread / shape.x % shape.y,
                                 thread / shape.x / shape.y};
             });
    add_case(group, "mov.u32 %d, %ntid.x; mov.u32 %x, %ntid.y; mov.u32 %y, %ntid.z;", shape,
             [&shape](u32) {
               return std::array{shape.x, shape.y, shape.z};
             });
    add_case(group, "mov.u32 %d, %ctaid.x; mov.u32 %x, %ctaid.y; mov.u32 %y, %ctaid.z;", shape,
             [&shape](u32 index) {
               return std::array{index / shape.count(), u32{0}, u32{0}};
             });
    add_case(group, "mov.u32 %d, %nctaid.x; mov.u32 %x, %nctaid.y; mov.u32 %y, %nctaid.z;", shape,
             [&shape](u32) {
               return std::array{kRows / shape.count(), u32{1}, u32{1}};
             });
    add_case(group, "mov.u32 %d, %laneid;", shape,
             [&shape](u32 index) { return index % shape.count() % 32; });
    // Their values are the device's own; that a warp's number is below the count of warps is not.
    add_case(group,
             "{ .reg .b32 %p, %q; mov.u32 %p, %warpid; mov.u32 %q, %nwarpid;\n"
             "  setp.lt.u32 %d, %p, %q; mov.u32 %p, %smid; mov.u32 %q, %nsmid;\n"
             "  setp.lt.u32 %x, %p, %q; }",
             shape, [](u32) { return std::tuple(true, true); });
  }
  // Registers of 16 bits: the upper half of %tid is not needed for them.
  add_case(group, "cvt.u16.u32 %d, %tid.x; mov.u16 %x, %ntid.x;", kShapes[0], [](u32 index) {
    return std::array{u16(index % 64), u16{64}};
  });
}

void add_lane_masks(Group& group) {
  static constexpr Shape kShape{64, 1, 1};
  struct Mask {
    std::string_view name;
    u32 (*value)(u32 lane);
  };
  static constexpr Mask kMasks[] = {{"eq", [](u32 lane) { return u32{1} << lane; }},
                                    {"lt", [](u32 lane) { return (u32{1} << lane) - 1; }},
                                    {"le", [](u32 lane) { return (u32{2} << lane) - 1; }},
                                    {"gt", [](u32 lane) { return ~((u32{2} << lane) - 1); }},
                                    {"ge", [](u32 lane) { return ~((u32{1} << lane) - 1); }}};
  for (const Mask& mask : kMasks) {
    add_case(group, fmt::format("mov.u32 %d, %lanemask_{};", mask.name), kShape,
             [&mask](u32 index) { return mask.value(index % 32); });
  }
}

void add_clocks(Group& group) {
  static constexpr Shape kShape{64, 1, 1};
  const auto holds = [](u32) { return true; };
  add_case(group,
           "{ .reg .b64 %p, %q; mov.u64 %p, %clock64; mov.u64 %q, %clock64;\n"
           "  setp.ge.u64 %d, %q, %p; }",
           kShape, holds);
  // A counter of 32 bits wraps: the difference is small and not negative.
  add_case(group,
           "{ .reg .b32 %p, %q; mov.u32 %p, %clock; mov.u32 %q, %clock; sub.u32 %q, %q, %p;\n"
           "  setp.ge.s32 %d, %q, 0; }",
           kShape, holds);
  add_case(group,
           "{ .reg .b32 %p, %q; mov.u32 %p, %clock_hi; mov.u32 %q, %clock_hi;\n"
           "  setp.ge.u32 %d, %q, %p; }",
           kShape, holds);
  add_case(group,
           "{ .reg .b64 %p, %q; mov.u64 %p, %globaltimer; nanosleep.u32 100;\n"
           "  mov.u64 %q, %globaltimer; setp.ge.u64 %d, %q, %p; }",
           kShape, holds);
}

void add_sizes(Group& group) {
  static constexpr Shape kShape{64, 1, 1};
  add_case(group, "mov.u32 %d, %dynamic_smem_size;", kShape, [](u32) { return u32{0}; });
  // At least what the kernel declares: the unit of allocation is the device's own.
  add_case(group,
           ".shared .align 4 .b8 some[1000];\n  .reg .b32 %p;\n  st.shared.u32 [some], 1;\n"
           "  mov.u32 %p, %total_smem_size;\n  setp.ge.u32 %d, %p, 1000;",
           kShape, [](u32) { return true; });
  // A launch without a cluster is one of single blocks.
  add_case(group,
           "mov.u32 %d, %cluster_ctarank; mov.u32 %x, %cluster_nctarank;\n"
           "  mov.u32 %y, %cluster_ctaid.x; mov.u32 %z, %cluster_nctaid.x;",
           kShape, [](u32) {
             return std::array{u32{0}, u32{1}, u32{0}, u32{1}};
           });
  add_case(group, "mov.u32 %d, %clusterid.x; mov.u32 %x, %nclusterid.x;", kShape, [](u32 index) {
    return std::array{index / kShape.count(), kRows / kShape.count()};
  });
}

}  // namespace

void add_special(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "special";
  add_positions(family.group("positions"));
  add_lane_masks(family.group("lane_masks"));
  add_clocks(family.group("clocks"));
  add_sizes(family.group("sizes"));
}

}  // namespace baton::instructions
