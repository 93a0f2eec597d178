// The table of instructions: each row can be reached, agrees with itself, and the corpora have no
// instruction that it lacks.

#include "ptx/isa.h"

#include <set>

#include "ptx/flat.h"
#include "ptx/operand_use.h"
#include "ptx/testdata_test.h"

namespace baton::ptx::isa_test {
namespace {

using Kind = Form::Kind;
using Access = Form::Access;
using Place = Form::Place;
using Proxy = Form::Proxy;

Instruction written(const Form& form) {
  Instruction instruction;
  instruction.opcode = form.opcode;
  instruction.modifiers = form.modifiers;
  return instruction;
}

// The first instruction of a kernel with that body.
struct Parsed {
  explicit Parsed(std::string_view body)
      : module(parse(kernel(body))), flat(*module->entries()[0]) {}
  const Instruction& operator*() const { return *flat.instructions()[0].instruction; }
  const Form* form() const { return flat.instructions()[0].form; }
  std::shared_ptr<const ParsedModule> module;
  FlatFunction flat;
};

TEST(Isa, EveryRowIsReached) {
  for (const Form& form : forms()) {
    EXPECT_EQ(form_of(written(form)), &form) << form.name;
    // In whatever order the modifiers stand, and among others.
    Instruction turned = written(form);
    turned.modifiers.insert(turned.modifiers.begin(), "sync");
    std::reverse(turned.modifiers.begin(), turned.modifiers.end());
    EXPECT_EQ(form_of(turned), &form) << form.name;
  }
}

TEST(Isa, RowsOfAnOpcodeFollowEachOther) {
  std::set<std::string_view> seen;
  std::string_view last;
  for (const Form& form : forms()) {
    if (form.opcode == last) continue;
    EXPECT_TRUE(seen.insert(form.opcode).second) << form.name;
    last = form.opcode;
  }
}

TEST(Isa, RowsAgreeWithThemselves) {
  for (const Form& form : forms()) {
    const bool accesses = form.access != Access::kNone;
    EXPECT_EQ(accesses, form.place != Place::kNowhere) << form.name;
    EXPECT_EQ(accesses, form.proxy != Proxy::kNone) << form.name;
    const bool must = form.kind == Kind::kAccess || form.kind == Kind::kAtomic;
    EXPECT_TRUE(accesses || !must) << form.name;
    if (form.kind == Kind::kPure || form.kind == Kind::kCarry) {
      EXPECT_EQ(form.destinations, 1u) << form.name;
      EXPECT_FALSE(accesses) << form.name;
    }
    if (form.kind == Kind::kAtomic) {
      EXPECT_EQ(form.access, Access::kUpdate) << form.name;
    }
    EXPECT_GE(form.ptx_version, 10) << form.name;
    EXPECT_LE(form.ptx_version, 90) << form.name;
    EXPECT_FALSE(form.family.empty()) << form.name;
  }
}

TEST(Isa, ModifiersSelectTheRow) {
  EXPECT_EQ(Parsed("cp.async.ca.shared.global [%r1], [%rd1], 4;").form()->name, "cp.async");
  EXPECT_EQ(Parsed("cp.async.bulk.wait_group.read 0;").form()->name, "cp.async.bulk.wait_group");
  EXPECT_EQ(Parsed("cp.async.wait_group 0;").form()->name, "cp.async.wait_group");
  EXPECT_EQ(Parsed("add.cc.u32 %r1, %r2, %r3;").form()->kind, Kind::kCarry);
  EXPECT_EQ(Parsed("ld.global.nc.f32 %f1, [%rd1];").form()->proxy, Proxy::kNonCoherent);
  EXPECT_EQ(Parsed("ld.global.f32 %f1, [%rd1];").form()->proxy, Proxy::kGeneric);
}

TEST(Isa, SaysWhichOperandsAreWritten) {
  EXPECT_TRUE(writes_operand(*Parsed("add.u32 %r1, %r2, %r3;"), 0));
  EXPECT_FALSE(writes_operand(*Parsed("add.u32 %r1, %r2, %r3;"), 1));
  EXPECT_FALSE(writes_operand(*Parsed("st.global.u32 [%rd1], %r1;"), 0));
  EXPECT_FALSE(writes_operand(*Parsed("st.global.u32 [%rd1], %r1;"), 1));
  EXPECT_TRUE(writes_operand(*Parsed("bar.red.popc.u32 %r1, 0, %p1;"), 0));
  EXPECT_FALSE(writes_operand(*Parsed("bar.sync %r1;"), 0));
  // The state of an arrival may be left out.
  EXPECT_TRUE(writes_operand(*Parsed("mbarrier.arrive.shared.b64 %rd1, [%r1];"), 0));
  EXPECT_FALSE(writes_operand(*Parsed("mbarrier.arrive.shared::cluster.b64 [%r1];"), 0));
  EXPECT_FALSE(writes_operand(*Parsed("mbarrier.init.shared.b64 [%r1], %r2;"), 1));
  EXPECT_TRUE(writes_operand(*Parsed("call (%r1), f, (%r2);"), 0));
  EXPECT_FALSE(writes_operand(*Parsed("call (%r1), f, (%r2);"), 2));
  EXPECT_FALSE(writes_operand(*Parsed("call f, (%r2);"), 1));
  EXPECT_TRUE(writes_operand(
      *Parsed("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2}, %rd1, %rd2, %p1;"),
      0));
  EXPECT_FALSE(writes_operand(*Parsed("wgmma.wait_group.sync.aligned 0;"), 0));
  EXPECT_FALSE(
      writes_operand(*Parsed("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};"), 1));
  EXPECT_FALSE(writes_operand(*Parsed("add.u32 %r1, %r2, %r3;"), 7));
}

TEST(Isa, AProductOfAWarpgroupReadsWhatItWrites) {
  const Parsed product(
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%f1, %f2}, %rd1, %rd2, %r1, 0, "
      "%p1;");
  EXPECT_TRUE(updates_operand(*product, 0));
  EXPECT_FALSE(updates_operand(*product, 1));
  EXPECT_FALSE(updates_operand(*Parsed("mma.sync.aligned.m8n8k4 {%f1}, {%r1}, {%r2}, {%f1};"), 0));
}

TEST(Isa, AFormWithoutARowMayWriteItsFirstOperand) {
  const Parsed unknown("frobnicate.u32 %r1, %r2;");
  EXPECT_EQ(unknown.form(), nullptr);
  EXPECT_TRUE(writes_operand(*unknown, 0));
  EXPECT_FALSE(writes_operand(*unknown, 1));
  EXPECT_FALSE(writes_operand(*Parsed("frobnicate.u32 [%rd1], %r2;"), 0));
  EXPECT_EQ(Parsed("mbarrier.frobnicate.b64 [%r1];").form(), nullptr);
}

TEST(Isa, ClocksAreVolatile) {
  EXPECT_TRUE(is_volatile("%clock64"));
  EXPECT_TRUE(is_volatile("%globaltimer_lo"));
  EXPECT_TRUE(is_volatile("%smid"));
  EXPECT_FALSE(is_volatile("%tid.x"));
  EXPECT_FALSE(is_volatile("%r1"));
}

TEST(Isa, KnowsEveryInstructionOfTheCorpora) {
  std::size_t files = 0;
  for (const char* folder : {"src", "bench", "examples", "tests"}) {
    const auto root = std::filesystem::path(BATON_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".ptx") continue;
      ++files;
      const auto module = ParsedModule::parse(read_text(entry.path()), entry.path().filename());
      for (const TopLevel& item : module->items()) {
        const auto* function = std::get_if<Function>(&item);
        if (function == nullptr || !function->has_body) continue;
        const FlatFunction body(*function);
        for (const FlatInstruction& flat : body.instructions()) {
          // A written module that shows how unknown instructions are kept.
          if (flat.instruction->opcode == "unknown") continue;
          EXPECT_NE(flat.form, nullptr) << entry.path() << ":" << flat.instruction->position.line
                                        << " " << flat.instruction->opcode;
        }
      }
    }
  }
  EXPECT_GE(files, 100u);
}

}  // namespace
}  // namespace baton::ptx::isa_test
