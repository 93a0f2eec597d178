#include "sim/engine/lower/random_program.h"

#include <algorithm>
#include <span>
#include <utility>

#include "ptx/traversal.h"

namespace baton::sim::programs {
namespace {

// Registers that block 0 initialises and that any operation may write again.
constexpr int kWords = 4;
constexpr int kLongs = 2;
constexpr int kPredicates = 2;
constexpr int kAddresses = 2;
constexpr Reg kTrace = {RegKind::kWord, kWords};     // of the blocks on the way
constexpr Reg kFuel = {RegKind::kWord, kWords + 1};  // jumps backwards that are left
constexpr std::uint64_t kFullTank = 12;

class Maker {
 public:
  Maker(std::mt19937_64& random, int blocks) : random_(random) { made_.blocks.resize(blocks); }
  RandomProgram make();

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  bool chance(int percent) { return below(100) < percent; }
  int blocks() const { return static_cast<int>(made_.blocks.size()); }

  void connect();
  void find_dominators();
  bool avoids(int without, int to) const;
  void begin();
  void fill(int at);
  void finish(int at);
  void leave_backwards(int at);
  void random_op();

  Reg fresh(RegKind kind) { return {kind, made_.registers[static_cast<int>(kind)]++}; }
  Reg any(RegKind kind);
  Reg target(RegKind kind, RandomOp* op);
  void maybe_guard(RandomOp* op);
  void add(RandomOp op) { made_.blocks[static_cast<std::size_t>(at_)].ops.push_back(op); }
  RegKind number_kind() { return chance(60) ? RegKind::kWord : RegKind::kLong; }

  std::mt19937_64& random_;
  RandomProgram made_;
  std::vector<std::vector<bool>> dominates_;
  struct Once {
    Reg reg;
    int block;
  };
  std::vector<Once> once_;  // registers with one definition
  int at_ = 0;              // the block at hand
};

// Blocks are numbered so that every one can be reached by jumps to higher numbers alone.
void Maker::connect() {
  for (int b = 1; b < blocks(); ++b) {
    int parent = b - 1;
    const int wanted = below(b);
    if (made_.blocks[static_cast<std::size_t>(wanted)].to.size() < 2) parent = wanted;
    made_.blocks[static_cast<std::size_t>(parent)].to.push_back(b);
  }
  for (int b = 0; b < blocks(); ++b) {
    RandomBlock& block = made_.blocks[static_cast<std::size_t>(b)];
    if (b == blocks() - 1) {
      block.end = RandomBlock::End::kLeave;
      continue;
    }
    const auto forward = [&] { return b + 1 + below(blocks() - b - 1); };
    if (block.to.empty()) block.to.push_back(forward());
    if (block.to.size() == 1) {
      const int kind = below(10);
      if (kind < 2) {
        block.end = RandomBlock::End::kGoto;
      } else if (kind < 3) {
        block.end = RandomBlock::End::kLeaveIf;
      } else {
        block.end = RandomBlock::End::kBranch;
        block.to.push_back(forward());
        // Backwards: see leave_backwards().
        if (kind < 7 && b > 0) block.to.insert(block.to.begin(), 1 + below(b));
        block.to.resize(2);
      }
    } else {
      block.end = RandomBlock::End::kBranch;
    }
    if (block.end == RandomBlock::End::kBranch && block.to[0] > b && chance(15)) {
      block.end = RandomBlock::End::kIndexed;
      while (block.to.size() < 4) block.to.push_back(forward());
    }
    if (block.end == RandomBlock::End::kBranch && block.to[0] > b && chance(50)) {
      std::swap(block.to[0], block.to[1]);
    }
  }
}

// Whether a path from the begin leads to a block without passing another.
bool Maker::avoids(int without, int to) const {
  if (without == 0) return false;
  const std::uint32_t begin = 0;
  const auto visit = [&](std::uint32_t block, const auto& go) {
    for (int next : made_.blocks[block].to) {
      if (next != without) go(static_cast<std::uint32_t>(next));
    }
  };
  return ptx::reachable(made_.blocks.size(), std::span(&begin, 1),
                        visit)[static_cast<std::size_t>(to)];
}

void Maker::find_dominators() {
  dominates_.assign(made_.blocks.size(), std::vector<bool>(made_.blocks.size()));
  for (int a = 0; a < blocks(); ++a) {
    for (int b = 0; b < blocks(); ++b) {
      dominates_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = !avoids(a, b);
    }
  }
}

// A register that is known to have a value here; often one that is written once.
Reg Maker::any(RegKind kind) {
  std::vector<Reg> found;
  for (const Once& one : once_) {
    const bool seen =
        dominates_[static_cast<std::size_t>(one.block)][static_cast<std::size_t>(at_)];
    if (one.reg.kind == kind && seen) found.push_back(one.reg);
  }
  if (!found.empty() && chance(65))
    return found[static_cast<std::size_t>(below(int(found.size())))];
  constexpr int kCounts[] = {kWords, kLongs, kPredicates, kAddresses};
  return {kind, below(kCounts[static_cast<int>(kind)])};
}

void Maker::maybe_guard(RandomOp* op) {
  if (!chance(30)) return;
  op->guard = any(RegKind::kPredicate).index;
  op->negated = chance(50);
}

// What the operation writes: a register of its own, or one that others write too, then perhaps
// under a guard.
Reg Maker::target(RegKind kind, RandomOp* op) {
  if (chance(60)) return fresh(kind);
  maybe_guard(op);
  constexpr int kCounts[] = {kWords, kLongs, kPredicates, kAddresses};
  return {kind, below(kCounts[static_cast<int>(kind)])};
}

void Maker::begin() {
  const auto set = [&](Do what, Reg d, std::uint64_t number = 0) {
    RandomOp op;
    op.what = what;
    op.d = d;
    op.number = number;
    add(op);
  };
  constexpr Do kFirst[] = {Do::kThread, Do::kLane, Do::kParameter, Do::kConstant};
  for (int k = 0; k < kWords; ++k) {
    set(kFirst[k], {RegKind::kWord, k}, static_cast<std::uint64_t>(below(50)));
  }
  for (int k = 0; k < kAddresses; ++k) {
    set(Do::kConstant, {RegKind::kAddress, k}, static_cast<std::uint64_t>(16 * k));
  }
  set(Do::kConstant, kTrace, 1);
  set(Do::kConstant, kFuel, kFullTank);
  set(Do::kParameter, {RegKind::kLong, 0});
  set(Do::kConstant, {RegKind::kLong, 1}, random_());
  for (int k = 0; k < kPredicates; ++k) {
    RandomOp op;
    op.what = Do::kLess;
    op.d = {RegKind::kPredicate, k};
    op.a = {RegKind::kWord, below(kWords)};
    op.b = {RegKind::kWord, below(kWords)};
    add(op);
  }
}

void Maker::random_op() {
  struct Choice {
    Do what;
    int weight;
  };
  static constexpr Choice kChoices[] = {
      {Do::kCopy, 30},     {Do::kConstant, 6}, {Do::kThread, 3},    {Do::kThreads, 2},
      {Do::kLane, 2},      {Do::kBlock, 2},    {Do::kParameter, 5}, {Do::kAdd, 8},
      {Do::kSub, 4},       {Do::kMul, 4},      {Do::kXor, 4},       {Do::kMin, 3},
      {Do::kAddNumber, 6}, {Do::kSelect, 6},   {Do::kLess, 6},      {Do::kEqual, 2},
      {Do::kBoth, 3},      {Do::kNot, 2},      {Do::kFlag, 2},      {Do::kWiden, 4},
      {Do::kNarrow, 4},    {Do::kPack, 3},     {Do::kUnpack, 3},    {Do::kTurn, 3},
      {Do::kLoad, 7},      {Do::kStore, 7},    {Do::kLoadTwo, 2},   {Do::kStoreTwo, 2},
      {Do::kOut, 3}};
  int total = 0;
  for (const Choice& choice : kChoices) total += choice.weight;
  int drawn = below(total);
  const Choice* choice = kChoices;
  while (drawn >= choice->weight) drawn -= (choice++)->weight;

  RandomOp op;
  op.what = choice->what;
  const auto word = [&] { return any(RegKind::kWord); };
  switch (op.what) {
    case Do::kCopy:
      op.d.kind = static_cast<RegKind>(below(kRegKinds));
      op.a = any(op.d.kind);
      break;
    case Do::kConstant:
      op.d.kind = number_kind();
      op.number = chance(50) ? random_() : static_cast<std::uint64_t>(below(40));
      break;
    case Do::kThread:
    case Do::kThreads:
    case Do::kLane:
    case Do::kBlock:
      break;
    case Do::kParameter:
      op.d.kind = number_kind();
      break;
    case Do::kAdd:
    case Do::kSub:
    case Do::kMul:
    case Do::kXor:
    case Do::kMin:
      op.d.kind = number_kind();
      op.a = any(op.d.kind);
      op.b = any(op.d.kind);
      break;
    case Do::kAddNumber:
      op.d.kind = number_kind();
      op.a = any(op.d.kind);
      op.number = static_cast<std::uint64_t>(below(1000));
      break;
    case Do::kSelect:
      op.d.kind = number_kind();
      op.a = any(op.d.kind);
      op.b = any(op.d.kind);
      op.p = any(RegKind::kPredicate);
      break;
    case Do::kLess:
    case Do::kEqual: {
      const RegKind kind = number_kind();
      op.d.kind = RegKind::kPredicate;
      op.a = any(kind);
      op.b = any(kind);
      break;
    }
    case Do::kBoth:
      op.d.kind = RegKind::kPredicate;
      op.p = any(RegKind::kPredicate);
      op.a = any(RegKind::kPredicate);
      break;
    case Do::kNot:
      op.d.kind = RegKind::kPredicate;
      op.a = any(RegKind::kPredicate);
      break;
    case Do::kFlag:
      op.p = any(RegKind::kPredicate);
      break;
    case Do::kWiden:
      op.d.kind = RegKind::kLong;
      op.a = word();
      break;
    case Do::kNarrow:
    case Do::kUnpack:
      op.a = any(RegKind::kLong);
      break;
    case Do::kPack:
      op.d.kind = RegKind::kLong;
      op.a = word();
      op.b = word();
      break;
    case Do::kTurn:
      op.d.kind = RegKind::kAddress;
      op.a = any(RegKind::kAddress);
      break;
    case Do::kLoad:
      op.a = any(RegKind::kAddress);
      op.number = static_cast<std::uint64_t>(4 * below(4));
      break;
    case Do::kLoadTwo:
      op.a = any(RegKind::kAddress);
      op.number = static_cast<std::uint64_t>(8 * below(2));
      break;
    case Do::kStoreTwo:
      op.p = word();
      [[fallthrough]];
    case Do::kStore:
      op.a = any(RegKind::kAddress);
      op.b = word();
      op.number = static_cast<std::uint64_t>(op.what == Do::kStore ? 4 * below(4) : 8 * below(2));
      break;
    case Do::kOut:
      op.a = any(number_kind());
      op.number = static_cast<std::uint64_t>(made_.cells++);
      break;
    case Do::kMix:
    case Do::kAndNumber:
    case Do::kNotZero:
      break;
  }
  const bool writes = op.what != Do::kStore && op.what != Do::kStoreTwo && op.what != Do::kOut;
  if (!writes) {
    maybe_guard(&op);
    return add(op);
  }
  const std::size_t before[kRegKinds] = {
      static_cast<std::size_t>(made_.registers[0]), static_cast<std::size_t>(made_.registers[1]),
      static_cast<std::size_t>(made_.registers[2]), static_cast<std::size_t>(made_.registers[3])};
  op.d = target(op.d.kind, &op);
  // Two results are two registers; under a guard both have a value before.
  if (op.what == Do::kUnpack || op.what == Do::kLoadTwo) {
    op.d2 = op.guard < 0 ? fresh(RegKind::kWord) : Reg{RegKind::kWord, (op.d.index + 1) % kWords};
  }
  add(op);
  for (const Reg reg : {op.d, op.d2}) {
    const auto kind = static_cast<std::size_t>(reg.kind);
    if (reg.index >= static_cast<int>(before[kind])) once_.push_back({reg, at_});
  }
}

// A jump backwards takes fuel, so that it ends some day.
void Maker::leave_backwards(int at) {
  RandomBlock& block = made_.blocks[static_cast<std::size_t>(at)];
  RandomOp filled;
  filled.what = Do::kNotZero;
  filled.d = fresh(RegKind::kPredicate);
  filled.a = kFuel;
  add(filled);
  RandomOp both;
  both.what = Do::kBoth;
  both.d = fresh(RegKind::kPredicate);
  both.p = filled.d;
  both.a = {RegKind::kPredicate, block.predicate};
  add(both);
  RandomOp burn;
  burn.what = Do::kAddNumber;
  burn.d = burn.a = kFuel;
  burn.number = UINT32_MAX;
  burn.guard = both.d.index;
  add(burn);
  block.predicate = both.d.index;
  block.negated = false;
}

void Maker::finish(int at) {
  RandomBlock& block = made_.blocks[static_cast<std::size_t>(at)];
  if (block.end == RandomBlock::End::kIndexed) {
    RandomOp op;
    op.what = Do::kAndNumber;
    op.d = fresh(RegKind::kWord);
    op.a = any(RegKind::kWord);
    op.number = block.to.size() - 1;
    block.selector = op.d.index;
    add(op);
  }
  if (block.end == RandomBlock::End::kBranch || block.end == RandomBlock::End::kLeaveIf) {
    block.predicate = any(RegKind::kPredicate).index;
    block.negated = chance(50);
    if (block.end == RandomBlock::End::kBranch && block.to[0] <= at) leave_backwards(at);
  }
  if (block.end != RandomBlock::End::kLeave) return;
  // All that has a value here is told.
  const auto tell = [&](Reg reg) {
    RandomOp op;
    op.what = Do::kOut;
    op.a = reg;
    if (reg.kind == RegKind::kPredicate) {
      RandomOp flag;
      flag.what = Do::kFlag;
      flag.d = op.a = fresh(RegKind::kWord);
      flag.p = reg;
      add(flag);
    }
    if (reg.kind == RegKind::kAddress) {
      RandomOp load;
      load.what = Do::kLoad;
      load.d = op.a = fresh(RegKind::kWord);
      load.a = reg;
      add(load);
    }
    op.number = static_cast<std::uint64_t>(made_.cells++);
    add(op);
  };
  for (int k = 0; k < kWords; ++k) tell({RegKind::kWord, k});
  for (int k = 0; k < kLongs; ++k) tell({RegKind::kLong, k});
  for (int k = 0; k < kPredicates; ++k) tell({RegKind::kPredicate, k});
  for (int k = 0; k < kAddresses; ++k) tell({RegKind::kAddress, k});
  tell(kTrace);
  const std::vector<Once> all = once_;
  for (const Once& one : all) {
    if (dominates_[static_cast<std::size_t>(one.block)][static_cast<std::size_t>(at)]) {
      tell(one.reg);
    }
  }
}

void Maker::fill(int at) {
  at_ = at;
  if (at == 0) begin();
  RandomOp trace;
  trace.what = Do::kMix;
  trace.d = trace.a = kTrace;
  trace.number = static_cast<std::uint64_t>(at) + 1;
  add(trace);
  for (int count = below(7); count > 0; --count) random_op();
  finish(at);
}

RandomProgram Maker::make() {
  constexpr int kFirst[] = {kWords + 2, kLongs, kPredicates, kAddresses};
  std::copy(std::begin(kFirst), std::end(kFirst), made_.registers);
  made_.scratch = static_cast<Scratch>(below(3));
  connect();
  find_dominators();
  for (int b = 0; b < blocks(); ++b) fill(b);
  return std::move(made_);
}

}  // namespace

RandomProgram random_program(std::mt19937_64& random, int blocks) {
  return Maker(random, blocks).make();
}

}  // namespace baton::sim::programs
