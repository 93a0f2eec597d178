// A random program as PTX.

#include <fmt/core.h>

#include <string>

#include "sim/engine/lower/random_program.h"

namespace baton::sim::programs {
namespace {

class RandomProgramWriter {
 public:
  explicit RandomProgramWriter(const RandomProgram& program) : program_(program) {}
  std::string write(const std::vector<int>& order);

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += "  ";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += ";\n";
  }
  bool is_wide() const { return program_.scratch != Scratch::kShared; }
  // Bits of a register, for types.
  int bits(Reg reg) const {
    if (reg.kind == RegKind::kAddress) return is_wide() ? 64 : 32;
    return reg.kind == RegKind::kLong ? 64 : 32;
  }
  static std::string name(Reg reg) {
    static constexpr const char* kNames[] = {"%w", "%l", "%p", "%a"};
    return kNames[static_cast<int>(reg.kind)] + std::to_string(reg.index);
  }
  const char* space() const {
    static constexpr const char* kNames[] = {"shared", "global", "local"};
    return kNames[static_cast<int>(program_.scratch)];
  }
  void declare();
  void prologue();
  void op(const RandomOp& op);
  void end(const RandomBlock& block, int next);
  void go(int to, int next);

  const RandomProgram& program_;
  std::string text_;
  std::string lists_;  // of the targets of indexed branches
};

void RandomProgramWriter::declare() {
  static constexpr const char* kTypes[] = {".b32 %w", ".b64 %l", ".pred %p"};
  for (int k = 0; k < 3; ++k) {
    line(".reg {}<{}>", kTypes[k], program_.registers[k] + 1);
  }
  line(".reg .b{} %a<{}>", is_wide() ? 64 : 32, program_.registers[3] + 1);
  line(".reg .b32 %thread, %index, %size");
  line(".reg .b64 %out, %cells, %given");
  line(".reg .b{} %base", is_wide() ? 64 : 32);
  if (program_.scratch == Scratch::kShared) line(".shared .align 32 .b8 memory[4096]");
  if (program_.scratch == Scratch::kLocal) line(".local .align 32 .b8 memory[32]");
}

// The thread's cells and its memory, which it clears.
void RandomProgramWriter::prologue() {
  line("mov.u32 %thread, %tid.x");
  line("mov.u32 %size, %ntid.x");
  line("mov.u32 %index, %ctaid.x");
  line("mad.lo.u32 %index, %index, %size, %thread");
  line("ld.param.u64 %given, [out]");
  line("cvta.to.global.u64 %cells, %given");
  line("mad.wide.u32 %out, %index, {}, %cells", 8 * program_.cells);
  switch (program_.scratch) {
    case Scratch::kShared:
      line("mov.u32 %base, memory");
      line("mad.lo.u32 %base, %thread, 32, %base");
      break;
    case Scratch::kGlobal:
      line("ld.param.u64 %base, [scratch]");
      line("mad.wide.u32 %base, %index, 32, %base");
      break;
    case Scratch::kLocal:
      line("mov.u64 %base, memory");
      break;
  }
  for (int k = 0; k < 8; ++k) line("st.{}.u32 [%base+{}], 0", space(), 4 * k);
}

void RandomProgramWriter::op(const RandomOp& o) {
  const std::string d = o.d.index < 0 ? "" : name(o.d);
  const std::string a = o.a.index < 0 ? "" : name(o.a);
  const std::string b = o.b.index < 0 ? "" : name(o.b);
  const std::string p = o.p.index < 0 ? "" : name(o.p);
  const int wide = bits(o.d);
  if (o.guard >= 0) text_ += fmt::format("  @{}%p{}", o.negated ? "!" : "", o.guard);
  switch (o.what) {
    case Do::kConstant:
      if (o.d.kind != RegKind::kAddress) {
        return line("mov.u{} {}, {}", wide, d, wide == 32 ? o.number & UINT32_MAX : o.number);
      }
      if (o.number == 0) return line("mov.u{} {}, %base", wide, d);
      return line("add.u{} {}, %base, {}", wide, d, o.number);
    case Do::kThread:
      return line("mov.u32 {}, %tid.x", d);
    case Do::kThreads:
      return line("mov.u32 {}, %ntid.x", d);
    case Do::kLane:
      return line("mov.u32 {}, %laneid", d);
    case Do::kBlock:
      return line("mov.u32 {}, %ctaid.x", d);
    case Do::kParameter:
      return line("ld.param.u{} {}, [{}]", wide, d, o.d.kind == RegKind::kWord ? "word" : "number");
    case Do::kCopy:
      if (o.d.kind == RegKind::kPredicate) return line("mov.pred {}, {}", d, a);
      return line("mov.b{} {}, {}", wide, d, a);
    case Do::kAdd:
      return line("add.u{} {}, {}, {}", wide, d, a, b);
    case Do::kSub:
      return line("sub.u{} {}, {}, {}", wide, d, a, b);
    case Do::kMul:
      return line("mul.lo.u{} {}, {}, {}", wide, d, a, b);
    case Do::kXor:
      return line("xor.b{} {}, {}, {}", wide, d, a, b);
    case Do::kMin:
      return line("min.u{} {}, {}, {}", wide, d, a, b);
    case Do::kAddNumber:
      return line("add.u{} {}, {}, {}", wide, d, a, o.number);
    case Do::kMix:
      return line("mad.lo.u32 {}, {}, 31, {}", d, a, o.number);
    case Do::kAndNumber:
      return line("and.b32 {}, {}, {}", d, a, o.number);
    case Do::kSelect:
      return line("selp.b{} {}, {}, {}, {}", wide, d, a, b, p);
    case Do::kLess:
      return line("setp.lt.u{} {}, {}, {}", bits(o.a), d, a, b);
    case Do::kEqual:
      return line("setp.eq.u{} {}, {}, {}", bits(o.a), d, a, b);
    case Do::kNotZero:
      return line("setp.ne.u{} {}, {}, 0", bits(o.a), d, a);
    case Do::kBoth:
      return line("and.pred {}, {}, {}", d, p, a);
    case Do::kNot:
      return line("not.pred {}, {}", d, a);
    case Do::kFlag:
      return line("selp.u32 {}, 1, 0, {}", d, p);
    case Do::kWiden:
      return line("cvt.u64.u32 {}, {}", d, a);
    case Do::kNarrow:
      return line("cvt.u32.u64 {}, {}", d, a);
    case Do::kPack:
      return line("mov.b64 {}, {{{}, {}}}", d, a, b);
    case Do::kUnpack:
      return line("mov.b64 {{{}, {}}}, {}", d, name(o.d2), a);
    case Do::kTurn:
      return line("xor.b{} {}, {}, 16", wide, d, a);
    case Do::kLoad:
      return line("ld.{}.u32 {}, [{}+{}]", space(), d, a, o.number);
    case Do::kStore:
      return line("st.{}.u32 [{}+{}], {}", space(), a, o.number, b);
    case Do::kLoadTwo:
      return line("ld.{}.v2.u32 {{{}, {}}}, [{}+{}]", space(), d, name(o.d2), a, o.number);
    case Do::kStoreTwo:
      return line("st.{}.v2.u32 [{}+{}], {{{}, {}}}", space(), a, o.number, b, p);
    case Do::kOut:
      return line("st.global.u{} [%out+{}], {}", bits(o.a), 8 * o.number, a);
  }
}

// What stands next in the text needs no jump.
void RandomProgramWriter::go(int to, int next) {
  if (to != next) line("bra B{}", to);
}

void RandomProgramWriter::end(const RandomBlock& block, int next) {
  const char* sign = block.negated ? "!" : "";
  switch (block.end) {
    case RandomBlock::End::kGoto:
      return go(block.to[0], next);
    case RandomBlock::End::kBranch:
      line("@{}%p{} bra B{}", sign, block.predicate, block.to[0]);
      return go(block.to[1], next);
    case RandomBlock::End::kIndexed: {
      const std::size_t list = lists_.size();
      std::string targets;
      for (int to : block.to) targets += fmt::format("{}B{}", targets.empty() ? "" : ", ", to);
      lists_ += fmt::format("T{}: .branchtargets {};\n", list, targets);
      return line("brx.idx %w{}, T{}", block.selector, list);
    }
    case RandomBlock::End::kLeaveIf:
      line("@{}%p{} exit", sign, block.predicate);
      return go(block.to[0], next);
    case RandomBlock::End::kLeave:
      return line("ret");
  }
}

std::string RandomProgramWriter::write(const std::vector<int>& order) {
  declare();
  if (order.front() != 0) line("bra.uni B0");
  for (std::size_t k = 0; k < order.size(); ++k) {
    const RandomBlock& block = program_.blocks[static_cast<std::size_t>(order[k])];
    text_ += fmt::format("B{}:\n", order[k]);
    if (order[k] == 0) prologue();
    for (const RandomOp& one : block.ops) op(one);
    end(block, k + 1 < order.size() ? order[k + 1] : -1);
  }
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, "
         ".param .u64 scratch, .param .u32 word, .param .u64 number) {\n" +
         lists_ + text_ + "}\n";
}

}  // namespace

std::string ptx_of(const RandomProgram& program, const std::vector<int>& order) {
  return RandomProgramWriter(program).write(order);
}

}  // namespace baton::sim::programs
