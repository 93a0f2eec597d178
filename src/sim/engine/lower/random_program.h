#pragma once

// For tests: random programs with any control flow, as a tiny language of their own. PTX is written
// from a program, and a plain interpreter runs it one thread at a time: both come from the program
// alone, so that they agree only where the engine is right.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace baton::sim::programs {

enum class RegKind : std::uint8_t { kWord, kLong, kPredicate, kAddress };
inline constexpr int kRegKinds = 4;
struct Reg {
  RegKind kind = RegKind::kWord;
  int index = -1;
};

// `d` is the register written, `a` and `b` are read, `p` is a predicate that is read.
enum class Do : std::uint8_t {
  kConstant,   // d = number
  kThread,     // word d = %tid.x
  kThreads,    // word d = %ntid.x
  kLane,       // word d = %laneid
  kBlock,      // word d = %ctaid.x
  kParameter,  // d = the kernel's parameter of its kind
  kCopy,       // d = a
  kAdd,        // d = a op b, words or longs
  kSub,
  kMul,
  kXor,
  kMin,
  kAddNumber,  // d = a + number
  kMix,        // word d = a * 31 + number
  kAndNumber,  // word d = a & number
  kSelect,     // d = p ? a : b
  kLess,       // predicate d = a < b
  kEqual,      // predicate d = a == b
  kNotZero,    // predicate d = a != 0
  kBoth,       // predicate d = p && a
  kNot,        // predicate d = !a
  kFlag,       // word d = p ? 1 : 0
  kWiden,      // long d = word a
  kNarrow,     // word d = the low half of long a
  kPack,       // long d = words a (low), b (high)
  kUnpack,     // words d, d2 = the halves of long a
  kTurn,       // address d = the other half of the thread's memory
  kLoad,       // word d = [address a + number]
  kStore,      // [address a + number] = word b
  kLoadTwo,    // words d, d2
  kStoreTwo,   // words b, p (a word here)
  kOut,        // output cell `number` = a
};

struct RandomOp {
  Do what = Do::kConstant;
  Reg d, d2, a, b, p;
  std::uint64_t number = 0;
  // Executed where the guard holds; index -1: always.
  int guard = -1;
  bool negated = false;
};

struct RandomBlock {
  enum class End : std::uint8_t { kGoto, kBranch, kIndexed, kLeaveIf, kLeave };
  std::vector<RandomOp> ops;
  End end = End::kGoto;
  // kBranch: to[0] where the predicate holds, else to[1]. kLeaveIf: to[0] where it does not hold.
  // kIndexed: to[selector], which is below the number of targets.
  std::vector<int> to;
  int predicate = -1;
  bool negated = false;
  int selector = -1;  // a word
};

enum class Scratch : std::uint8_t { kShared, kGlobal, kLocal };

// Threads begin at block 0, have 32 bytes of zeroed memory each and write `cells` words of 64 bits.
struct RandomProgram {
  std::vector<RandomBlock> blocks;
  int registers[kRegKinds] = {};
  int cells = 0;
  Scratch scratch = Scratch::kShared;
};

struct RandomInput {
  std::uint32_t threads = 0;  // of a block
  std::uint32_t word = 0;     // parameters
  std::uint64_t number = 0;
};

// The same program for the same seed everywhere. Every path through it ends; every register is
// written before it is read.
RandomProgram random_program(std::mt19937_64& random, int blocks);

// A kernel `k(out, scratch, word, number)` whose blocks stand in the order given.
std::string ptx_of(const RandomProgram& program, const std::vector<int>& order);

// The cells that one thread writes.
std::vector<std::uint64_t> run_thread(const RandomProgram& program, const RandomInput& input,
                                      std::uint32_t block, std::uint32_t thread);

}  // namespace baton::sim::programs
