// Verdicts about the edges of a record that is put together here: what the arguments of its
// launches make of tensor maps.

#include "record/judge.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <utility>

namespace baton::record::judge_test {
namespace {

constexpr std::uint64_t kA = 0x7f0000000000, kStart = 0x7f0000100000, kB = kStart + 256;
constexpr std::uint64_t kModule = 2, kWriter = 11, kReader = 12;
constexpr std::size_t kMapBytes = 128;

using MapBytes = std::array<std::uint64_t, kMapBytes / 8>;

MapBytes map_of(std::uint64_t address, std::uint64_t number = 1) {
  return {0x6d617031, number, address, 256};
}

template <typename T>
std::string text_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// `write` waits and writes where its parameter points to. `read` copies by the tensor map at %d1
// before it waits.
std::string module_of(unsigned declared, const std::string& place) {
  return fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry write(.param .u64 out) {{
  .reg .b64 %d<2>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1;
  griddepcontrol.wait;
  mov.u32 %r1, 7; st.global.u32 [%d1], %r1;
  ret;
}}
.visible .entry read(.param .align 64 .b8 p[{}]) {{
  .reg .b64 %d<5>; .reg .b32 %r<4>;
  .shared .align 128 .b8 tile[128]; .shared .align 8 .b64 bar[2];
  mov.b64 %d1, p; cvta.param.u64 %d1, %d1;
  {}
  mov.u32 %r1, tile; mov.u32 %r2, 0;
  cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, {{%r2}}], [bar+8];
  griddepcontrol.wait;
  ret;
}}
)",
                     declared, place);
}
std::string behind(std::uint64_t bytes) {
  return bytes == 0 ? "" : fmt::format("add.s64 %d1, %d1, {};", bytes);
}

class Process {
 public:
  Process() {
    call("cuMemAlloc_v2", {kA, 4096});
    // What was made for all of it reaches into two others, later.
    call("cuMemAlloc_v2", {kStart, 4096});
    make(map_of(kA), kA, 256);
    make(map_of(kA, 2), kA + 256, 256);
    make(map_of(kStart, 3), kStart, 4096);
    call("cuMemFree_v2", {kStart});
    call("cuMemAlloc_v2", {kStart, 256});
    call("cuMemAlloc_v2", {kB, 256});
    make(map_of(kB), kB, 256);
  }

  void call(std::string_view function, std::initializer_list<std::uint64_t> words) {
    std::string body;
    for (const std::uint64_t word : words) body += text_of(word);
    add(EventKind::kCall, body, function);
  }
  void make(const MapBytes& map, std::uint64_t address, std::uint64_t bytes,
            TensorMapKind kind = TensorMapKind::kTiled, const MapBytes& from = {}) {
    TensorMapNote note = {};
    note.kind = kind;
    std::memcpy(note.map, map.data(), sizeof note.map);
    std::memcpy(note.from, from.data(), sizeof note.from);
    note.address = address;
    if (kind == TensorMapKind::kTiled) {
      note.rank = 1;
      note.dims[0] = bytes;
    }
    add(EventKind::kTensorMap, text_of(note));
  }

  // What is said of `read` after `write`, which writes to kB. The driver tells of `told` bytes of
  // parameters.
  RecordEdge edge(const std::string& ptx, unsigned told, const std::string& passed) {
    const RecordJudgement result = judged(ptx, told, passed);
    EXPECT_EQ(result.edges.size(), 1U);
    return result.edges.empty() ? RecordEdge() : result.edges[0];
  }
  // The same, for any number of edges. `between`: what happens between the two launches.
  RecordJudgement judged(
      const std::string& ptx, unsigned told, const std::string& passed,
      const std::function<void()>& between = [] {}, const std::function<void()>& after = [] {}) {
    const ImageNote image = {kModule, ptx.size(), {1}};
    add(EventKind::kImage, text_of(image));
    function(kWriter, 8, "write");
    function(kReader, told, "read");
    launch(kWriter, text_of(kB));
    between();
    launch(kReader, passed);
    after();
    RecordJudgement result = judge(record_, [&](const auto&) { return std::optional(ptx); });
    for (const std::string& remark : result.remarks) ADD_FAILURE() << remark;
    for (const RecordKernel& kernel : result.kernels) EXPECT_EQ(kernel.unseen, "");
    return result;
  }
  // Of what follows.
  void set_thread(std::uint32_t thread) { thread_ = thread; }
  void function(std::uint64_t handle, unsigned bytes, std::string_view name) {
    const FunctionNote note = {handle, kModule, 1, 0};
    const ParamNote param = {0, bytes};
    add(EventKind::kFunction, text_of(note) + text_of(param), {}, name);
  }
  void launch(std::uint64_t function, const std::string& passed) {
    LaunchEvent note = {};
    note.function = function;
    for (int k = 0; k < 3; ++k) note.grid[k] = note.block[k] = 1;
    note.param_bytes = static_cast<std::uint32_t>(passed.size());
    add(EventKind::kLaunch, text_of(note) + passed, "cuLaunchKernel");
  }

 private:
  void add(EventKind kind, std::string body, std::string_view function = {},
           std::string_view text = {}) {
    RecordedEvent event;
    event.kind = kind;
    event.thread = thread_;
    event.order = record_.events.size() + 1;
    event.function = function;
    event.body = bodies_.emplace_back(std::move(body));
    event.text = text;
    record_.events.push_back(event);
  }

  ProcessRecord record_;
  std::uint32_t thread_ = 1;
  std::deque<std::string> bodies_;
};

// What lies in a part of a struct.
enum class Part {
  kOther,     // a map of memory that `write` does not touch
  kWritten,   // a map of what it writes
  kReplaced,  // the same, by cuTensorMapReplaceAddress
  kNew,       // the same, by a way that is not recorded
  kInPlace,   // the same: a kernel replaced the address of a map that is recorded
  kStale,     // a map of memory that was freed; what is written lies there now
  kZeros,     // no map
};
constexpr std::array kParts = {Part::kOther,   Part::kWritten, Part::kReplaced, Part::kNew,
                               Part::kInPlace, Part::kStale,   Part::kZeros};

std::string part(Process& process, Part what) {
  MapBytes map = {};
  switch (what) {
    case Part::kOther:
      map = map_of(kA);
      break;
    case Part::kWritten:
      map = map_of(kB);
      break;
    case Part::kReplaced:
      map = map_of(kB, 9);
      process.make(map, kB, 0, TensorMapKind::kReplaced, map_of(kA, 2));
      break;
    case Part::kNew:
      // It tells no address that the record could find.
      for (std::uint64_t& word : map) word = 0x1122334455667788;
      break;
    case Part::kInPlace:
      map = map_of(kA, 2);
      map[2] = kB;
      break;
    case Part::kStale:
      map = map_of(kStart, 3);
      break;
    case Part::kZeros:
      break;
  }
  return text_of(map);
}
bool reads_what_is_written(Part what) {
  return what != Part::kOther && what != Part::kZeros;
}
bool is_recorded(Part what) {
  return what != Part::kNew && what != Part::kInPlace && what != Part::kStale;
}

// Every two parts, with 0, 64 or 128 bytes of numbers between them, and every way to reach a map.
TEST(RecordJudge, NoMapThatMayBeOfWhatIsWrittenIsProven) {
  int proven = 0;
  for (const Part first : kParts) {
    for (const Part second : kParts) {
      for (const unsigned gap : {0U, 64U, 128U}) {
        for (const int reached : {0, 1, 2}) {
          const unsigned at = 128 + gap, bytes = at + 128;
          SCOPED_TRACE(fmt::format("{} and {}, {} bytes apart, by {}", static_cast<int>(first),
                                   static_cast<int>(second), gap, reached));
          Process process;
          std::string passed = part(process, first);
          for (unsigned k = 0; k < gap / 4; ++k) passed += text_of(k + 1);
          passed += part(process, second);
          const std::string any = fmt::format(
              "mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, {}; add.s64 %d1, %d1, %d2;", at);
          const std::string place = reached == 2 ? any : behind(reached == 0 ? 0 : at);
          const RecordEdge edge = process.edge(module_of(bytes, place), bytes, passed);
          const bool may_meet = (reached != 1 && reads_what_is_written(first)) ||
                                (reached != 0 && reads_what_is_written(second));
          if (may_meet) {
            EXPECT_NE(edge.verdict, EdgeVerdict::kProven);
          }
          if (!is_recorded(first) || !is_recorded(second)) {
            EXPECT_EQ(edge.verdict, EdgeVerdict::kUnknown);
          }
          const bool is_other = first == Part::kOther || second == Part::kOther;
          const bool has_zeros = first == Part::kZeros || second == Part::kZeros;
          if (is_other && !reads_what_is_written(first) && !reads_what_is_written(second)) {
            // Numbers may be a map, with the zeros beside them too.
            const bool is_known = gap == 0 || (gap < kMapBytes && !has_zeros);
            EXPECT_EQ(edge.verdict, is_known ? EdgeVerdict::kProven : EdgeVerdict::kUnknown);
          }
          proven += edge.verdict == EdgeVerdict::kProven ? 1 : 0;
        }
      }
    }
  }
  EXPECT_EQ(proven, (3 + 1) * 3);
}

TEST(RecordJudge, AMapThatIsAParameterIsOneAtItsOwnAddress) {
  for (const Part what : kParts) {
    SCOPED_TRACE(static_cast<int>(what));
    Process process;
    const std::string passed = part(process, what);
    const RecordEdge edge = process.edge(module_of(128, ""), 128, passed);
    EXPECT_EQ(edge.verdict == EdgeVerdict::kProven, what == Part::kOther);
  }
}

TEST(RecordJudge, AWaitSeparatesLaunchesOfItsOwnThread) {
  struct Row {
    std::uint32_t first, waits, second;
    bool has_edge;
  };
  constexpr Row kRows[] = {
      {1, 1, 1, false}, {1, 1, 2, false}, {1, 2, 2, false}, {1, 2, 1, true}, {1, 2, 3, true}};
  struct Wait {
    std::string_view function;
    std::uint64_t word;
  };
  for (const Wait wait : {Wait{"cuCtxSynchronize", 0}, Wait{"cuStreamSynchronize", 0},
                          Wait{"cuEventSynchronize", 1}, Wait{"cuMemFree_v2", kA}}) {
    for (const Row& row : kRows) {
      SCOPED_TRACE(fmt::format("{} by thread {} between launches by {} and {}", wait.function,
                               row.waits, row.first, row.second));
      Process process;
      process.set_thread(row.first);
      const std::string passed = part(process, Part::kOther);
      const RecordJudgement result = process.judged(module_of(128, ""), 128, passed, [&] {
        process.set_thread(row.waits);
        process.call(wait.function, {wait.word});
        process.set_thread(row.second);
      });
      EXPECT_EQ(result.edges.size(), row.has_edge ? 1 : 0);
      EXPECT_EQ(result.separated, row.has_edge ? 0 : 1);
    }
  }
  // Work in the stream separates, whichever thread enqueues it.
  Process process;
  const std::string passed = part(process, Part::kOther);
  const RecordJudgement result = process.judged(module_of(128, ""), 128, passed, [&] {
    process.set_thread(2);
    process.call("cuMemsetD8Async", {kA, 0, 1, 0});
    process.set_thread(1);
  });
  EXPECT_TRUE(result.edges.empty());
}

// The launch passes a second map, which no parameter names.
TEST(RecordJudge, WhatIsPassedBehindTheDeclaredParametersIsNotKnown) {
  struct Row {
    unsigned declared, told;
  };
  for (const Row row : {Row{128, 128}, Row{128, 256}, Row{192, 192}, Row{192, 256}}) {
    for (const unsigned at : {0U, 128U}) {
      for (const Part second : kParts) {
        if (second == Part::kZeros) continue;
        SCOPED_TRACE(fmt::format("{} bytes are declared, {} told, {} read, {}", row.declared,
                                 row.told, at, static_cast<int>(second)));
        Process process;
        const std::string passed = part(process, Part::kOther) + part(process, second);
        const RecordEdge edge = process.edge(module_of(row.declared, behind(at)), row.told, passed);
        EXPECT_EQ(edge.verdict, EdgeVerdict::kUnknown);
      }
    }
  }
  // Blocks of parameters may be filled up.
  Process process;
  const std::string filled_up = part(process, Part::kOther) + "1234";
  EXPECT_EQ(process.edge(module_of(128, ""), 128, filled_up).verdict, EdgeVerdict::kProven);
  // After its own map a parameter has none, whatever is passed there.
  for (const char* place : {"add.s64 %d1, %d1, 64;", "mov.b64 %d1, p+128;"}) {
    Process another;
    EXPECT_EQ(another.edge(module_of(128, place), 128, part(another, Part::kOther)).verdict,
              EdgeVerdict::kUnknown);
  }
}

// The map's tensor is known by its address alone.
TEST(RecordJudge, AnAddressThatIsGivenAgainIsOfOtherMemory) {
  for (const bool again : {false, true}) {
    Process process;
    const MapBytes map = map_of(kA, 20);
    process.make(map, kA, 0, TensorMapKind::kIm2col);
    if (again) {
      process.call("cuMemFree_v2", {kA});
      process.call("cuMemAlloc_v2", {kA, 64});
    }
    EXPECT_EQ(process.edge(module_of(128, ""), 128, text_of(map)).verdict,
              again ? EdgeVerdict::kUnknown : EdgeVerdict::kProven);
  }
}

// `read` of these instructions.
std::string module_that_reads(unsigned declared, const std::string& body) {
  const std::string text = module_of(declared, "");
  const std::size_t from = text.find("  mov.b64 %d1, p;"), end = text.find("  ret;", from);
  return text.substr(0, from) + body + text.substr(end);
}

// A kernel takes the address out of a map's bits, by way of a pointer that it has.
TEST(RecordJudge, TheBitsOfAMapInAStructAreNotANumber) {
  Process process;
  std::string passed = text_of(map_of(kB)) + text_of(kA);
  passed.resize(192);
  const std::string ptx = module_that_reads(192, R"(
  ld.param.u64 %d1, [p+16]; ld.param.u64 %d2, [p+128];
  sub.s64 %d3, %d1, %d2; add.s64 %d3, %d3, %d2;
  ld.global.u32 %r1, [%d3];
  griddepcontrol.wait;
  st.global.u32 [%d2], %r1;
)");
  EXPECT_EQ(process.edge(ptx, 192, passed).verdict, EdgeVerdict::kUnknown);
}

// An address that does not lie at a multiple of its size, between what can be told.
TEST(RecordJudge, AnAddressInAPackedStructIsNotKnown) {
  for (const unsigned at : {4U, 12U, 20U}) {
    SCOPED_TRACE(at);
    Process process;
    std::string passed = text_of(kA) + text_of(std::uint64_t{5}) + text_of(kA) + text_of(kA);
    const std::uint64_t written = kB;
    std::memcpy(passed.data() + at, &written, sizeof written);
    const std::string ptx = module_that_reads(32, fmt::format(R"(
  ld.param.u32 %r1, [p+{}]; ld.param.u32 %r2, [p+{}]; mov.b64 %d1, {{%r1, %r2}};
  ld.global.u32 %r1, [%d1];
  griddepcontrol.wait;
  st.global.u32 [%d1], %r1;
)",
                                                              at, at + 4));
    EXPECT_EQ(process.edge(ptx, 32, passed).verdict, EdgeVerdict::kUnknown);
  }
}

// A graph that holds all three may be launched again, and so may another stream's work be late.
TEST(RecordJudge, ADifferenceThatIsStoredLaterCounts) {
  const std::string ptx = module_that_reads(16, R"(
  ld.param.u64 %d1, [p]; ld.param.u64 %d2, [p+8];
  ld.global.u64 %d3, [%d1]; add.u64 %d3, %d3, %d2; ld.global.u32 %r1, [%d3];
  griddepcontrol.wait;
  st.global.u32 [%d2+512], %r1;
)") + R"(
.visible .entry leave(.param .align 8 .b8 p[16]) {
  .reg .b64 %d<4>;
  griddepcontrol.wait;
  ld.param.u64 %d1, [p]; ld.param.u64 %d2, [p+8];
  sub.u64 %d3, %d2, %d1;
  st.global.u64 [%d1], %d3;
  ret;
}
)";
  constexpr std::uint64_t kLeaver = 13;
  const auto verdict = [&](bool leaves) {
    Process process;
    const RecordJudgement result = process.judged(
        ptx, 16, text_of(kA) + text_of(kA + 2048), [] {},
        [&] {
          process.function(kLeaver, 16, "leave");
          if (leaves) process.launch(kLeaver, text_of(kA) + text_of(kB));
        });
    EXPECT_EQ(result.edges.size(), leaves ? 2U : 1U);
    return result.edges.empty() ? EdgeVerdict::kUnsafe : result.edges[0].verdict;
  };
  EXPECT_EQ(verdict(false), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(true), EdgeVerdict::kUnknown);
}

}  // namespace
}  // namespace baton::record::judge_test
