#pragma once

// Litmus tests of the PTX memory model (PTX ISA 9.0, chapter 8): small programs of a few threads,
// the model's answer about each, and where the threads are. docs/litmus.md describes them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton::litmus {

// Where the threads of a program are to each other. One: there is but one thread.
enum class Place : std::uint8_t { kOne, kLanes, kWarps, kBlocks, kClusters };
inline constexpr Place kPlaces[] = {Place::kOne, Place::kLanes, Place::kWarps, Place::kBlocks,
                                    Place::kClusters};
std::string_view name_of(Place place);

// Where the data and the flags are.
enum class Memory : std::uint8_t { kGlobal, kShared };
std::string_view name_of(Memory memory);

// The model's answer. Racy: two accesses conflict, causality does not order them, and they are not
// morally strong.
enum class Answer : std::uint8_t {
  kOrdered,
  kRacy,
  kByScope,   // ordered if SCOPE has all of the threads
  kInBlock,   // ordered if all threads are of one block
  kInCluster  // or of one cluster
};

// A set of places or memories, a bit each.
using Set = unsigned;
template <class... Each>
constexpr Set set_of(Each... each) {
  return (0u | ... | (1u << static_cast<unsigned>(each)));
}
inline constexpr Set kApart = set_of(Place::kWarps, Place::kBlocks, Place::kClusters);
inline constexpr Set kAnyPlace = kApart | set_of(Place::kLanes);
inline constexpr Set kAnyMemory = set_of(Memory::kGlobal, Memory::kShared);

// A program: the PTX of each of its threads. In it
//   %x %y        are generic addresses of data, each 16 bytes of zeros;
//   %f %g        of flags, likewise;
//   %from %to    of 16 bytes of global memory: each byte 7 and never written, and never read;
//   %sx %sm      32-bit addresses in the block's own shared memory, of %x and of an mbarrier that
//                expects one arrival;
//   %other       the 32-bit address, in the cluster's shared memory, of the second block's
//   mbarrier; %own         whether the lane is the first of the warp that executes the text; %r0
//   ... %r9, %d0 ... %d9, %p0 ... %p9   are free; %v           is 7 at the end if the thread read
//   what it should have read.
// SCOPE is each scope in turn, MEMBAR the matching level of membar, and NARROW cta and cluster.
struct Litmus {
  const char* name;
  Answer answer;
  Set places, memories;
  std::vector<std::string> threads;
  // Whether the warp of a thread executes the text, with %own set in its first lane.
  bool by_warps = false;
  // The reason why only Races::kModel finds something in a program that the model calls racy.
  const char* unseen = nullptr;
};

std::vector<Litmus> flag_litmus();       // release and acquire patterns
std::vector<Litmus> coherence_litmus();  // accesses of one place, and of two
std::vector<Litmus> barrier_litmus();    // barriers, mbarriers and instructions between lanes
std::vector<Litmus> proxy_litmus();      // asynchronous copies, and non-coherent loads

// Parts of texts. A load ends with a blank.
std::string polls(std::string_view load, std::string_view address, int value);
inline constexpr char kWrites[] = "st.u32 [%x], 7;\n";
inline constexpr char kReads[] = "ld.u32 %v, [%x];\n";

// A program at one place, in one memory, with one scope: a kernel of one parameter, the address of
// kBytes of global memory, which are zeros but for 16 bytes of 7.
struct LitmusCase {
  std::string name;
  std::string kernel;
  bool is_racy = false;
  const char* unseen = nullptr;
  unsigned threads = 0;
  unsigned grid = 1, block = 32, cluster = 1;
};
inline constexpr std::size_t kBytes = 256;
inline constexpr std::size_t kFrom = 64;  // where they begin
inline constexpr std::size_t kTo = 96;
inline constexpr std::size_t kResults = 128;  // where each thread stores %v

// Every place, memory and scope of the program.
std::vector<LitmusCase> cases_of(const Litmus& litmus);
std::vector<Litmus> all_litmus();
inline constexpr char kModuleHead[] = ".version 8.8\n.target sm_90\n.address_size 64\n";

}  // namespace baton::litmus
