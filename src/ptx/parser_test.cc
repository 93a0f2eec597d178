#include <cstring>
#include <thread>

#include "ptx/testdata_test.h"

namespace baton::ptx::parser_test {
namespace {

using Kind = InstructionOperand::Kind;

// The statements of a kernel with that body.
struct Body {
  explicit Body(std::string_view text)
      : module(parse(kernel(text))), statements(module->function("k")->body().statements) {}

  template <typename Node>
  const Node& node(std::size_t i) const {
    return std::get<Node>(statements.at(i).node);
  }
  const InstructionOperand& operand(std::size_t i, std::size_t statement = 0) const {
    return node<Instruction>(statement).operands.at(i);
  }

  std::shared_ptr<const ParsedModule> module;
  const std::vector<Statement>& statements;
};

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

TEST(PtxModule, ReadsTheHeader) {
  const auto module = parse(".version 8.10\n.target sm_90a, debug\n.address_size 32\n");
  EXPECT_EQ(module->version_major(), 8);
  EXPECT_EQ(module->version_minor(), 10);
  EXPECT_EQ(module->target(), "sm_90a");
  EXPECT_EQ(module->targets(), (std::vector<std::string_view>{"sm_90a", "debug"}));
  EXPECT_EQ(module->address_size(), 32);
}

TEST(PtxModule, AddressSizeMayBeMissing) {
  EXPECT_EQ(parse("// c\n/* d */.version 9.0 .target sm_80\n")->address_size(), 64);
}

TEST(PtxModule, TakesNulsAtTheEndButNothingBehindThem) {
  std::string text = kernel("ret;");
  const std::size_t size = text.size();
  text.append(3, '\0');
  EXPECT_EQ(parse(text)->text().size(), size);
  EXPECT_THROW(parse(text + "x"), Error);
}

TEST(PtxModule, FindsFunctionsVariablesAndFiles) {
  const auto module = parse(std::string(kHeader) + R"(
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func f();
.global .align 8 .u64 x[2] = {generic(y)+8, 0xFF00(y)};
.extern .shared .align 16 .b8 smem[];
.func f() { ret; }
.file 3 "a/b.cu", 17, 42
.weak .entry g(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24])
.maxntid 128, 2
.minnctapersm 3
.reqnctapercluster 2, 1, 1
.explicitcluster
.pragma "x";
{ ret; }
.alias a, f;
.section .debug_str { $L: .b8 1, 2 }
)");
  EXPECT_EQ(module->function("a"), module->function("f"));
  ASSERT_NE(module->function("vprintf"), nullptr);
  EXPECT_FALSE(module->function("vprintf")->has_body);
  EXPECT_EQ(module->function("vprintf")->results.at(0).type, "b32");
  EXPECT_TRUE(module->function("vprintf")->body().statements.empty());
  EXPECT_TRUE(module->function("f")->has_body);
  EXPECT_EQ(module->function("nothing"), nullptr);
  EXPECT_EQ(module->variable("smem")->extents, std::vector<std::int64_t>{-1});
  EXPECT_EQ(module->variable("smem")->align, 16u);
  EXPECT_EQ(module->file(3), "a/b.cu");
  EXPECT_EQ(module->file(4), "");

  const InstructionOperand& list = module->variable("x")->initialiser.at(0);
  ASSERT_EQ(list.kind, Kind::kVector);
  EXPECT_EQ(list.children.at(0).kind, Kind::kCall);
  EXPECT_EQ(list.children.at(0).text, "generic");
  EXPECT_EQ(list.children.at(0).offset, 8);
  EXPECT_EQ(list.children.at(1).bits, 0xFF00u);
  EXPECT_EQ(list.children.at(1).children.at(0).text, "y");

  ASSERT_EQ(module->entries().size(), 1u);
  const Function& g = *module->entries()[0];
  EXPECT_EQ(g.linkage, "weak");
  EXPECT_TRUE(g.params.at(0).is_pointer);
  EXPECT_EQ(g.params.at(0).pointer_space, StateSpace::kGlobal);
  EXPECT_EQ(g.params.at(0).pointer_align, 16u);
  EXPECT_EQ(g.params.at(0).align, 0u);
  EXPECT_EQ(g.params.at(1).align, 8u);
  EXPECT_EQ(g.params.at(1).extents, std::vector<std::int64_t>{24});
  EXPECT_EQ(g.integers("maxntid", 3), (std::vector<std::int64_t>{128, 2, 1}));
  EXPECT_EQ(g.integers("minnctapersm"), std::vector<std::int64_t>{3});
  EXPECT_EQ(g.integers("explicitcluster"), std::vector<std::int64_t>{});
  EXPECT_EQ(g.integers("maxnreg"), std::nullopt);
  EXPECT_EQ(g.directives.size(), 5u);

  const auto& section = std::get<Section>(module->items().back());
  EXPECT_EQ(section.name, ".debug_str");
  EXPECT_EQ(section.text, "{ $L: .b8 1, 2 }");
}

TEST(PtxModule, BodiesAreParsedWhenAskedFor) {
  const auto module = parse(kernel("garbage here"));
  ASSERT_NE(module->function("k"), nullptr);
  EXPECT_EQ(module->function("k")->body_text(), "{\ngarbage here\n}");
  EXPECT_THROW(module->function("k")->body(), Error);
  EXPECT_THROW(module->function("k")->body(), Error);
}

TEST(PtxModule, FirstCallOfBodyMayComeFromManyThreads) {
  const auto module =
      ParsedModule::parse(read_text(testdata() / "ptx/math.nvrtc.sm_90.ptx"), "math");
  const Function& function = *module->function("doubles");
  std::vector<const Block*> seen(4);
  std::vector<std::thread> threads;
  for (const Block*& block : seen) {
    threads.emplace_back([&] { block = &function.body(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Block* block : seen) EXPECT_EQ(block, seen[0]);
  EXPECT_GT(seen[0]->statements.size(), 100u);
}

TEST(PtxBody, ReadsAnInstruction) {
  const Body body("@!%p1 ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1, _}, [%rd1+-8];");
  const auto& load = body.node<Instruction>(0);
  EXPECT_EQ(load.guard, "%p1");
  EXPECT_TRUE(load.guard_negated);
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_EQ(load.modifiers, (std::vector<std::string_view>{"global", "nc", "L1::no_allocate",
                                                           "L2::128B", "v2", "f32"}));
  EXPECT_TRUE(load.has("nc"));
  EXPECT_EQ(load.position.line, 6u);
  EXPECT_EQ(load.position.column, 1u);
  EXPECT_EQ(load.operands.at(0).kind, Kind::kVector);
  EXPECT_EQ(load.operands.at(0).children.at(1).text, "_");
  EXPECT_EQ(load.operands.at(1).kind, Kind::kAddress);
  EXPECT_EQ(load.operands.at(1).children.at(0).text, "%rd1");
  EXPECT_EQ(load.operands.at(1).children.at(0).offset, 0);
  EXPECT_EQ(load.operands.at(1).offset, -8);
}

TEST(PtxBody, ReadsEveryKindOfOperand) {
  const Body body(
      "setp.gt.and.s32 %p1|%p2, %r1, 4, !%p3;\n"
      "mov.u32 %r1, %tid.x;\n"
      "cp.async.bulk.tensor.2d.global [%0, {%r1, %r2}], [%r3];\n"
      "call (r), %rd1, (a, b), proto;\n"
      "vmad.s32.u32.u32 %r1, -%r2.b0, %r3.h1, %r4;\n"
      "mov.u64 %rd1, symbol+4*2;\n"
      "ld.shared.u32 %r1, [16];\n"
      "ret;\n");
  const InstructionOperand& pair = body.operand(0);
  EXPECT_EQ(pair.kind, Kind::kPair);
  EXPECT_EQ(pair.children.at(1).text, "%p2");
  EXPECT_TRUE(body.operand(3).negated);
  EXPECT_FALSE(body.operand(3).is_minus);
  EXPECT_EQ(body.operand(1, 1).text, "%tid.x");
  EXPECT_EQ(body.operand(0, 2).children.at(1).kind, Kind::kVector);
  EXPECT_EQ(body.operand(0, 3).kind, Kind::kGroup);
  EXPECT_EQ(body.operand(2, 3).children.size(), 2u);
  EXPECT_TRUE(body.operand(1, 4).is_minus);
  EXPECT_EQ(body.operand(1, 4).text, "%r2.b0");
  EXPECT_EQ(body.operand(1, 5).offset, 8);
  EXPECT_EQ(body.operand(1, 6).children.at(0).bits, 16u);
  EXPECT_TRUE(body.node<Instruction>(7).operands.empty());
}

TEST(PtxBody, ReadsStatementsOfEveryKind) {
  const Body body(
      ".reg .b32 %r<4>, a, none<0>;\n"
      ".loc 1 20 3, function_name $L__info_string0 + 4, inlined_at 2 9 5\n"
      "start: ts: .branchtargets start, end;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16]) .noreturn;\n"
      "fs: .calltargets f, g;\n"
      ".pragma \"nounroll\";\n"
      "{ start: ret; }\n"
      "end:");
  EXPECT_EQ(body.node<Variable>(0).range, 4u);
  EXPECT_EQ(body.node<Variable>(1).name, "a");
  const auto& loc = body.node<Loc>(2);
  EXPECT_EQ(loc.line, 20u);
  ASSERT_TRUE(loc.inlined);
  EXPECT_EQ(loc.inlined->offset, 4);
  EXPECT_EQ(loc.inlined->line, 9u);
  EXPECT_EQ(body.node<Label>(3).name, "start");
  EXPECT_EQ(body.node<TargetList>(4).targets, (std::vector<std::string_view>{"start", "end"}));
  const auto& prototype = body.node<CallPrototype>(5);
  EXPECT_EQ(prototype.name, "proto");
  EXPECT_TRUE(prototype.no_return);
  EXPECT_EQ(prototype.params.at(0).name, "");
  EXPECT_EQ(prototype.params.at(0).extents, std::vector<std::int64_t>{16});
  EXPECT_TRUE(body.node<TargetList>(6).calls);
  EXPECT_EQ(body.node<Directive>(7).operands.at(0).text, "nounroll");
  EXPECT_EQ(body.node<Block>(8).statements.size(), 2u);
  EXPECT_EQ(body.node<Label>(9).name, "end");
}

struct Literal {
  const char* text;
  Kind kind;
  std::uint64_t bits;
  bool is_single;
};

TEST(PtxBody, ReadsLiterals) {
  const Literal kLiterals[] = {
      {"0", Kind::kInteger, 0, false},
      {"017", Kind::kInteger, 15, false},
      {"0x1fU", Kind::kInteger, 31, false},
      {"0XFF", Kind::kInteger, 255, false},
      {"0b101", Kind::kInteger, 5, false},
      {"-1", Kind::kInteger, ~std::uint64_t{0}, false},
      {"- 5", Kind::kInteger, static_cast<std::uint64_t>(-5), false},
      {"18446744073709551615", Kind::kInteger, ~std::uint64_t{0}, false},
      {"WARP_SZ", Kind::kInteger, 32, false},
      {"0f3F800000", Kind::kFloat, 0x3F800000, true},
      {"0F3f800000", Kind::kFloat, 0x3F800000, true},
      {"-0f3F800000", Kind::kFloat, 0xBF800000, true},
      {"0dBFF0000000000000", Kind::kFloat, bits_of(-1.0), false},
      {"1.5", Kind::kFloat, bits_of(1.5), false},
      {".5", Kind::kFloat, bits_of(0.5), false},
      {"-.5e1", Kind::kFloat, bits_of(-5.0), false},
      {"1.", Kind::kFloat, bits_of(1.0), false},
      {"1e3", Kind::kFloat, bits_of(1000.0), false},
      {"2.5E-2", Kind::kFloat, bits_of(0.025), false},
  };
  for (const Literal& literal : kLiterals) {
    const Body body(std::string("mov.x a, ") + literal.text + ";");
    const InstructionOperand& operand = body.operand(1);
    EXPECT_EQ(operand.kind, literal.kind) << literal.text;
    EXPECT_EQ(operand.bits, literal.bits) << literal.text;
    EXPECT_EQ(operand.is_single, literal.is_single) << literal.text;
    EXPECT_EQ(operand.text, literal.text);
  }
}

TEST(PtxBody, EvaluatesConstantExpressions) {
  const std::pair<const char*, std::int64_t> kExpressions[] = {
      {"4*8", 32},
      {"(1 + 2) * 3", 9},
      {"1 + 2 * 3 - 4", 3},
      {"10 - 4 - 3", 3},
      {"7 / 2 % 2", 1},
      {"-7 / 2", -3},
      {"1 << 4 | 3", 19},
      {"0xF0 & 0x3C ^ 1", 0x31},
      {"-16 >> 2", -4},
      {"1 << 64", 0},
      {"-1 >> 100", -1},
      {"~0", -1},
      {"!5", 0},
      {"!0 && 3 || 0", 1},
      {"1 ? 2 : 3", 2},
      {"0 ? 2 : 1 ? 4 : 5", 4},
      {"3 < 4", 1},
      {"-1 < 0", 1},
      {"-1 < 0U", 0},
      {"3 >= 4", 0},
      {"4 <= 4", 1},
      {"4 > 4", 0},
      {"4 == 4", 1},
      {"4 != 4", 0},
      {"(.u64) -1 > 0", 1},
      {"(.s64) 5", 5},
      {"WARP_SZ * 2", 64},
      {"2 * WARP_SZ", 64},
      {"0x8000000000000000 / (.s64)(-1)", 0},
      {"(.s64)0x8000000000000000 / -1", INT64_MIN},
      // ptxas 13.0: the remainder is of unsigned numbers and is one.
      {"-7 % 3", 0},
      {"7 % -3", 7},
      {"-8 % 3 - 5 < 0", 0},
      {"7 % 3", 1},
      {"+ - + 4", -4},
  };
  for (const auto& [text, value] : kExpressions) {
    const Body body(std::string("mov.x a, ") + text + ", b;");
    EXPECT_EQ(body.operand(1).kind, Kind::kInteger) << text;
    EXPECT_EQ(static_cast<std::int64_t>(body.operand(1).bits), value) << text;
    EXPECT_EQ(body.operand(1).text, text);
  }
}

TEST(PtxBody, NestingIsBounded) {
  const auto nested = [](char open, char close, int depth) {
    return "mov.x a, " + std::string(depth, open) + "1" + std::string(depth, close) + ";";
  };
  EXPECT_NO_THROW(Body(nested('{', '}', 50)));
  EXPECT_THROW(Body(nested('{', '}', 100000)), Error);
  EXPECT_THROW(Body(nested('(', ')', 100000)), Error);
  EXPECT_THROW(Body("mov.x a, " + std::string(100000, '-') + "1;"), Error);
  std::string choice;
  for (int i = 0; i < 100000; ++i) choice += "1?2:";
  EXPECT_THROW(Body("mov.x a, " + choice + "3;"), Error);
  EXPECT_NO_THROW(Body(std::string(200, '{') + std::string(200, '}')));
  EXPECT_THROW(Body(std::string(100000, '{') + std::string(100000, '}')), Error);
}

TEST(PtxBody, MemoryIsBounded) {
  std::string dense = "mov.x a";
  for (int i = 0; i < (1 << 22); ++i) dense += ",a";
  EXPECT_THROW(Body(dense + ";"), Error);
}

}  // namespace
}  // namespace baton::ptx::parser_test
