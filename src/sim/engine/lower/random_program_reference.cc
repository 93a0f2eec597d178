// The plain interpreter that the engine is checked against.

#include <algorithm>
#include <utility>

#include "sim/engine/lower/random_program.h"

namespace baton::sim::programs {
namespace {

// The state of one thread of the interpreter.
struct Thread {
  const RandomProgram& program;
  const RandomInput& input;
  std::uint32_t block;
  std::uint32_t thread;
  std::vector<std::uint64_t> registers[kRegKinds] = {};
  std::uint32_t memory[8] = {};
  std::vector<std::uint64_t> cells = {};

  std::uint64_t& at(Reg reg) {
    return registers[static_cast<int>(reg.kind)][static_cast<std::size_t>(reg.index)];
  }
  bool holds(int predicate, bool negated) {
    return (at({RegKind::kPredicate, predicate}) != 0) != negated;
  }
  void perform(const RandomOp& op);
  int next(const RandomBlock& block);  // -1 where it leaves
};

void Thread::perform(const RandomOp& op) {
  if (op.guard >= 0 && !holds(op.guard, op.negated)) return;
  const auto a = [&] { return at(op.a); };
  const auto b = [&] { return at(op.b); };
  const auto set = [&](std::uint64_t value) {
    const bool is_word = op.d.kind == RegKind::kWord;
    at(op.d) = is_word ? static_cast<std::uint32_t>(value) : value;
  };
  const auto place = [&] { return (a() + op.number) / 4; };
  switch (op.what) {
    case Do::kConstant:
      return set(op.number);
    case Do::kThread:
      return set(thread);
    case Do::kThreads:
      return set(input.threads);
    case Do::kLane:
      return set(thread % 32);
    case Do::kBlock:
      return set(block);
    case Do::kParameter:
      return set(op.d.kind == RegKind::kWord ? input.word : input.number);
    case Do::kCopy:
      return set(a());
    case Do::kAdd:
      return set(a() + b());
    case Do::kSub:
      return set(a() - b());
    case Do::kMul:
      return set(a() * b());
    case Do::kXor:
      return set(a() ^ b());
    case Do::kMin:
      return set(std::min(a(), b()));
    case Do::kAddNumber:
      return set(a() + op.number);
    case Do::kMix:
      return set(a() * 31 + op.number);
    case Do::kAndNumber:
      return set(a() & op.number);
    case Do::kSelect:
      return set(at(op.p) != 0 ? a() : b());
    case Do::kLess:
      return set(a() < b());
    case Do::kEqual:
      return set(a() == b());
    case Do::kNotZero:
      return set(a() != 0);
    case Do::kBoth:
      return set(at(op.p) & a());
    case Do::kNot:
      return set(a() ^ 1);
    case Do::kFlag:
      return set(at(op.p));
    case Do::kWiden:
    case Do::kNarrow:
      return set(a());
    case Do::kPack:
      return set(a() | b() << 32);
    case Do::kUnpack:
      at(op.d2) = a() >> 32;
      return set(a());
    case Do::kTurn:
      return set(a() ^ 16);
    case Do::kLoad:
      return set(memory[place()]);
    case Do::kStore:
      memory[place()] = static_cast<std::uint32_t>(b());
      return;
    case Do::kLoadTwo: {
      const std::uint64_t first = place();
      at(op.d2) = memory[first + 1];
      return set(memory[first]);
    }
    case Do::kStoreTwo:
      memory[place()] = static_cast<std::uint32_t>(b());
      memory[place() + 1] = static_cast<std::uint32_t>(at(op.p));
      return;
    case Do::kOut:
      cells[op.number] = a();
      return;
  }
}

int Thread::next(const RandomBlock& end) {
  switch (end.end) {
    case RandomBlock::End::kGoto:
      return end.to[0];
    case RandomBlock::End::kBranch:
      return end.to[holds(end.predicate, end.negated) ? 0 : 1];
    case RandomBlock::End::kIndexed:
      return end.to[at({RegKind::kWord, end.selector})];
    case RandomBlock::End::kLeaveIf:
      return holds(end.predicate, end.negated) ? -1 : end.to[0];
    case RandomBlock::End::kLeave:
      return -1;
  }
  return -1;
}

}  // namespace

std::vector<std::uint64_t> run_thread(const RandomProgram& program, const RandomInput& input,
                                      std::uint32_t block, std::uint32_t thread) {
  Thread state{program, input, block, thread};
  for (int k = 0; k < kRegKinds; ++k) {
    state.registers[k].resize(static_cast<std::size_t>(program.registers[k]));
  }
  state.cells.resize(static_cast<std::size_t>(program.cells));
  for (int at = 0; at >= 0;) {
    const RandomBlock& here = program.blocks[static_cast<std::size_t>(at)];
    for (const RandomOp& op : here.ops) state.perform(op);
    at = state.next(here);
  }
  return std::move(state.cells);
}

}  // namespace baton::sim::programs
