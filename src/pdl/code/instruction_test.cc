// The analysis takes from the table of instructions what each row does to memory and to the order
// of threads; what the table lacks is taken for the worst.

#include "pdl/code/instruction.h"

#include <gtest/gtest.h>

namespace baton::overlap::instruction_test {
namespace {

using Kind = Operation::Kind;
using Space = Operation::Space;
using ptx::Form;
using ptx::Instruction;
using ptx::InstructionOperand;

InstructionOperand address() {
  InstructionOperand result;
  result.kind = InstructionOperand::Kind::kAddress;
  result.children.emplace_back().text = "%rd1";
  return result;
}

// The instruction with its destinations and two addresses.
Instruction written(std::string_view opcode, std::vector<std::string_view> modifiers,
                    std::size_t destinations) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.modifiers = std::move(modifiers);
  for (std::size_t k = 0; k < destinations; ++k) instruction.operands.emplace_back().text = "%r1";
  instruction.operands.push_back(address());
  instruction.operands.push_back(address());
  return instruction;
}

Shape shape(std::string_view opcode, std::vector<std::string_view> modifiers,
            std::size_t destinations) {
  const Instruction instruction = written(opcode, std::move(modifiers), destinations);
  return shape_of(instruction, ptx::form_of(instruction));
}

bool is_access(const Shape& shape) {
  return shape.kind == Kind::kLoad || shape.kind == Kind::kStore || shape.kind == Kind::kAtomic;
}

TEST(Instruction, EveryAccessOfTheTableIsOne) {
  for (const Form& form : ptx::forms()) {
    if (form.kind != Form::Kind::kAccess && form.kind != Form::Kind::kAtomic) continue;
    const Instruction instruction = written(form.opcode, form.modifiers, form.destinations);
    const Shape found = shape_of(instruction, &form);
    EXPECT_TRUE(is_access(found)) << form.name;
    EXPECT_EQ(found.defines, form.destinations != 0) << form.name;
    const bool writes =
        form.access != Form::Access::kRead && form.access != Form::Access::kPrefetch;
    EXPECT_EQ(found.kind != Kind::kLoad, writes) << form.name;
    const bool is_own =
        form.place == Form::Place::kShared || form.place == Form::Place::kTensorMemory;
    EXPECT_EQ(found.space == Space::kShared, is_own) << form.name;
    EXPECT_EQ(found.space == Space::kTensorMap, form.place == Form::Place::kMap) << form.name;
  }
}

TEST(Instruction, WhatTouchesNoMemoryIsNoAccess) {
  for (const Form& form : ptx::forms()) {
    if (form.kind == Form::Kind::kAccess || form.kind == Form::Kind::kAtomic) continue;
    if (form.name == "fence.proxy.tensormap::generic.acquire")
      continue;  // its operand is a tensor map
    const Instruction instruction = written(form.opcode, form.modifiers, form.destinations);
    EXPECT_FALSE(is_access(shape_of(instruction, &form))) << form.name;
    // Memory that other grids see is what the other kinds have nothing to do with.
    EXPECT_TRUE(form.place == Form::Place::kNowhere || form.place == Form::Place::kShared)
        << form.name;
  }
}

TEST(Instruction, BarriersAndFencesOrderThreads) {
  const std::vector<std::string_view> acquire = {"proxy", "tensormap::generic", "acquire", "gpu"};
  EXPECT_TRUE(shape("fence", acquire, 0).orders);
  EXPECT_TRUE(shape("fence", acquire, 0).prefetches);
  EXPECT_TRUE(shape("fence", {"acq_rel", "gpu"}, 0).orders);
  EXPECT_TRUE(shape("mbarrier", {"try_wait", "shared", "b64"}, 1).orders);
  EXPECT_FALSE(shape("mbarrier", {"arrive", "shared", "b64"}, 1).orders);
  EXPECT_TRUE(shape("barrier", {"cluster", "wait"}, 0).orders);
  EXPECT_FALSE(shape("barrier", {"cluster", "arrive"}, 0).orders);
  EXPECT_TRUE(shape("bar", {"warp", "sync"}, 0).orders);
  EXPECT_TRUE(shape("ld", {"acquire", "gpu", "global", "u32"}, 1).orders);
  EXPECT_FALSE(shape("ld", {"global", "u32"}, 1).orders);
  EXPECT_TRUE(shape("atom", {"acq_rel", "gpu", "global", "add", "u32"}, 1).orders);
}

TEST(Instruction, ACopyCountsForItsGlobalSide) {
  const Shape load = shape("cp", {"async", "ca", "shared", "global"}, 0);
  EXPECT_EQ(load.kind, Kind::kLoad);
  EXPECT_EQ(load.space, Space::kGlobal);
  EXPECT_EQ(load.address, 1);
  const Shape store = shape("cp", {"async", "bulk", "global", "shared::cta", "bulk_group"}, 0);
  EXPECT_EQ(store.kind, Kind::kStore);
  EXPECT_EQ(store.space, Space::kGlobal);
  EXPECT_EQ(store.address, 0);
  const Shape reduction = shape("cp", {"reduce", "async", "bulk", "global", "shared::cta"}, 0);
  EXPECT_EQ(reduction.kind, Kind::kAtomic);
  const Shape tensor =
      shape("cp", {"async", "bulk", "tensor", "2d", "shared::cluster", "global", "tile"}, 0);
  EXPECT_EQ(tensor.kind, Kind::kLoad);
  EXPECT_EQ(tensor.space, Space::kTensorMap);
  EXPECT_EQ(tensor.address, 1);
  const Shape between = shape("cp", {"async", "bulk", "shared::cluster", "shared::cta"}, 0);
  EXPECT_EQ(between.kind, Kind::kNothing);
  // Written as no copy can be: both sides may be anywhere.
  const Shape odd = shape("cp", {"async", "bulk"}, 0);
  EXPECT_EQ(odd.kind, Kind::kAtomic);
  EXPECT_EQ(odd.address, -1);
}

TEST(Instruction, ChangesOfTensorMapsAreWeakAccesses) {
  const Shape change =
      shape("tensormap", {"replace", "tile", "global_address", "global", "b1024", "b64"}, 0);
  EXPECT_EQ(change.kind, Kind::kAtomic) << "reads and writes";
  EXPECT_EQ(change.space, Space::kGlobal);
  EXPECT_FALSE(change.strong);
  const Shape copy = shape("tensormap",
                           {"cp_fenceproxy", "global", "shared::cta", "tensormap::generic",
                            "release", "gpu", "sync", "aligned"},
                           0);
  EXPECT_EQ(copy.kind, Kind::kStore);
  EXPECT_EQ(copy.space, Space::kGlobal);
  EXPECT_EQ(copy.address, 0);
  EXPECT_FALSE(copy.strong) << "its release is behind it";
}

TEST(Instruction, AnUnknownFormReadsAndWritesAndOrders) {
  const Shape store = shape("frobnicate", {"global", "u32"}, 0);
  EXPECT_EQ(store.kind, Kind::kAtomic);
  EXPECT_EQ(store.space, Space::kGlobal);
  EXPECT_EQ(store.address, 0);
  EXPECT_FALSE(store.defines);
  EXPECT_TRUE(store.orders);
  const Shape load = shape("mbarrier", {"frobnicate"}, 1);
  EXPECT_EQ(load.kind, Kind::kAtomic);
  EXPECT_EQ(load.space, Space::kGeneric);
  EXPECT_EQ(load.address, 1);
  EXPECT_TRUE(load.defines);
}

TEST(Instruction, SpecialRegistersByName) {
  using enum SpecialRegister;
  const std::pair<const char*, SpecialRegister> all[] = {
      {"%tid.x", kTidX},       {"%tid.y", kTidY},       {"%tid.z", kTidZ},
      {"%ntid.x", kNtidX},     {"%ntid.y", kNtidY},     {"%ntid.z", kNtidZ},
      {"%ctaid.x", kCtaidX},   {"%ctaid.y", kCtaidY},   {"%ctaid.z", kCtaidZ},
      {"%nctaid.x", kNctaidX}, {"%nctaid.y", kNctaidY}, {"%nctaid.z", kNctaidZ},
      {"%laneid", kLaneId},    {"%warpid", kWarpId}};
  for (const auto& [name, meant] : all) EXPECT_EQ(special_register(name), meant) << name;
  EXPECT_FALSE(special_register("%tid.w"));
  EXPECT_FALSE(special_register("%clock"));
}

}  // namespace
}  // namespace baton::overlap::instruction_test
