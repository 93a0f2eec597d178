#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "metamorphosis.h"
#include "pdl/testdata/corpus.h"
#include "session/test_program.h"

// The corpus of the verdicts as programs that run, every edge programmatic by force. Static
// verdicts, what the simulated GPU finds under every schedule, and what a GPU computes agree: a
// program that is proven is never found to be wrong, and gives the results that it gives with full
// edges; one that is unsafe is found to be, under every schedule. A GPU gets the slow variants too,
// where each kernel lets the next one in and then takes its time: a wrong program may still get by
// there.

namespace baton::session_test::agreement_test {
namespace {

constexpr int kTries = 20;  // on a GPU
// Elements of a buffer: enough for four a thread, and for those that read 512 a thread.
constexpr const char* kPlainSize = "2048";
constexpr const char* kSquareSize = "512*512";

const std::vector<Schedule> kSchedules = {{ScheduleKind::kSerial},    {ScheduleKind::kLate},
                                          {ScheduleKind::kEarly},     {ScheduleKind::kReverse},
                                          {ScheduleKind::kRandom, 1}, {ScheduleKind::kRandom, 2}};

using overlap::corpus_launches;
using overlap::CorpusLaunch;

bool uses(const std::string& line, std::initializer_list<const char*> kernels) {
  return std::ranges::any_of(corpus_launches(line), [&](const CorpusLaunch& launch) {
    return std::ranges::find(kernels, launch.kernel) != kernels.end();
  });
}

// What no program can be made of: pointers in memory, and a null pointer that is read.
bool is_runnable(const std::string& line) {
  return !uses(line, {"reads_shape_early"}) && line.find(" 0 y") == std::string::npos;
}

// Whether threads of one launch write one element, each another value.
bool races_by_itself(const std::string& line) {
  return uses(line, {"walks", "pipelined"});
}

std::string argument_text(const std::string& word) {
  // Rows, columns, and the stride that the kernel takes.
  if (word == "{}")
    return "{ bytes = \"00020000000000000002000000000000"
           "8000000000000000\" }";
  if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return word;
  if (word.size() == 1) return "\"" + word + "\"";
  return fmt::format("\"{} + {}\"", word[0], std::stoi(word.substr(2)) / 4);
}

// Only weights are read alone: a buffer w that a launch is given to write is none.
bool is_weight(const std::string& line, char letter) {
  if (letter != 'w') return false;
  return std::ranges::none_of(corpus_launches(line), [](const CorpusLaunch& launch) {
    return !launch.words.empty() && launch.words.back() == "w";
  });
}

std::string program_text(const std::string& line, const std::string& image) {
  const bool square = uses(line, {"matvec", "planes", "takes_struct", "wide_strides"});
  std::set<char> buffers;
  std::set<std::string> kernels;
  std::string steps;
  for (const CorpusLaunch& launch : corpus_launches(line)) {
    std::string arguments;
    for (const std::string& word : launch.words) {
      arguments += (arguments.empty() ? "" : ", ") + argument_text(word);
      if (std::isalpha(static_cast<unsigned char>(word[0])) != 0) buffers.insert(word[0]);
    }
    steps += fmt::format("[[steps]]\nlaunch = \"{}\"\ngrid = [4]\nblock = [128]\nargs = [{}]\n{}",
                         launch.kernel, arguments, steps.empty() ? "" : "pdl = \"force\"\n");
    kernels.insert(launch.kernel);
  }
  std::string text;
  for (const char letter : buffers) {
    text += buffer(std::string(1, letter), "f32",
                   fmt::format("[\"{}\"]", square ? kSquareSize : kPlainSize),
                   is_weight(line, letter) ? "weight" : "inout", "random");
  }
  for (const auto& [name, dtype] :
       {std::pair("tickets", "i32"), std::pair("bias_of_module", "f32")}) {
    text += buffer(name, dtype, "[1]", "inout", "zeros") +
            fmt::format("variable = \"{}.{}\"\n", *kernels.begin(), name);
  }
  for (const std::string& kernel : kernels) {
    text += fmt::format("[kernels.{0}]\nptx = \"{1}\"\nentry = \"{0}\"\n", kernel, image);
  }
  return text + steps;
}

Executable prepare(const std::string& line, const std::string& image, PdlMode pdl,
                   RewriteMode rewrite) {
  PrepareOptions options;
  options.pdl = pdl;
  options.rewrite = rewrite;
  Executable executable =
      Executable::prepare(Program::from_text(program_text(line, image), "corpus.toml",
                                             BATON_SOURCE_DIR "/src/pdl/testdata"),
                          open_device(), options);
  executable.bind();
  return executable;
}

// The worst over all edges.
EdgeVerdict verdict_of(const Executable& executable) {
  EdgeVerdict worst = EdgeVerdict::kProven;
  for (const EdgeReport& edge : executable.edges()) {
    EXPECT_TRUE(edge.programmatic);
    if (edge.verdict == EdgeVerdict::kUnsafe) return EdgeVerdict::kUnsafe;
    if (edge.verdict == EdgeVerdict::kUnknown) worst = EdgeVerdict::kUnknown;
  }
  return worst;
}

using Results = std::map<std::string, std::string>;

Results results_of(Executable& executable) {
  executable.run();
  Results results;
  for (const std::string& name : executable.outputs()) {
    results[name] = executable.output(name).bytes;
  }
  return results;
}

// Whether the simulated GPU finds an error under the schedule.
bool is_found(Executable& executable, const Schedule& schedule) {
  try {
    executable.run({.schedule = schedule});
    return false;
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kFault) throw;
    return true;
  }
}

// How many programs there are of a verdict, and of how many something was seen.
struct Count {
  int programs = 0, seen = 0;
};
using Table = std::map<EdgeVerdict, Count>;

void simulate(const std::string& line, const std::string& image, RewriteMode rewrite,
              Table& table) {
  Executable executable = prepare(line, image, PdlMode::kAuto, rewrite);
  const EdgeVerdict verdict = verdict_of(executable);
  int found = 0;
  for (const Schedule& schedule : kSchedules) {
    const bool is = is_found(executable, schedule);
    found += is ? 1 : 0;
    if (verdict != EdgeVerdict::kUnknown) {
      EXPECT_EQ(is, verdict == EdgeVerdict::kUnsafe) << to_string(schedule);
    }
  }
  EXPECT_TRUE(found == 0 || found == static_cast<int>(kSchedules.size()))
      << "found under " << found << " schedules";
  ++table[verdict].programs;
  table[verdict].seen += found != 0 ? 1 : 0;
}

void run_on_gpu(const std::string& line, const std::string& image, RewriteMode rewrite,
                Table& table) {
  if (races_by_itself(line)) return;
  Executable full = prepare(line, image, PdlMode::kOff, RewriteMode::kOff);
  const Results want = results_of(full);
  Executable executable = prepare(line, image, PdlMode::kAuto, rewrite);
  const EdgeVerdict verdict = verdict_of(executable);
  int different = 0;
  for (int i = 0; i < kTries; ++i) different += results_of(executable) != want ? 1 : 0;
  if (verdict == EdgeVerdict::kProven) {
    EXPECT_EQ(different, 0) << "of " << kTries;
  }
  ++table[verdict].programs;
  table[verdict].seen += different != 0 ? 1 : 0;
}

// The programs of the corpus that `takes` names.
template <typename Takes>
Table hold_programs(const std::string& image, RewriteMode rewrite, const Takes& takes) {
  const bool simulated = is_simulated(open_device());
  Table table;
  const auto hold = [&](const auto& lines) {
    for (const char* line : lines) {
      if (!is_runnable(line) || !takes(line)) continue;
      SCOPED_TRACE(line);
      (simulated ? simulate : run_on_gpu)(line, image, rewrite, table);
    }
  };
  hold(overlap::kRight);
  hold(overlap::kWrong);
  hold(overlap::kDoubtful);
  return table;
}

void hold_corpus(const std::string& image) {
  if (open_device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  const bool simulated = is_simulated(open_device());
  Table table = hold_programs(image, RewriteMode::kOff, [](const std::string&) { return true; });
  for (const auto& [verdict, count] : table) {
    fmt::print("{}: {} programs {}, {} of them {}\n", image, count.programs, to_string(verdict),
               count.seen, simulated ? "found wrong" : "with other results");
  }
  EXPECT_GE(table[EdgeVerdict::kProven].programs, 50);
  EXPECT_GE(table[EdgeVerdict::kUnsafe].programs, 50);
}

using Verdicts = DeviceTest;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// The verdict stays where kernels are written in another way and do the same. Some of the programs
// run. BATON_GENERATED_PROGRAMS sets the number of ways, BATON_GENERATED_SEED the first seed.
TEST_F(Verdicts, StayWhereKernelsAreWrittenInAnotherWay) {
  if (!is_simulated(open_device())) GTEST_SKIP() << "what runs is the simulated GPU's text";
  std::ifstream original(BATON_SOURCE_DIR "/src/pdl/testdata/corpus.ptx");
  const std::string text(std::istreambuf_iterator<char>(original), {});
  const std::uint64_t first = setting("BATON_GENERATED_SEED", 1);
  for (std::uint64_t k = 0; k < setting("BATON_GENERATED_PROGRAMS", 2); ++k) {
    verdicts::Metamorphosis how{.seed = first + k};
    if (k % 2 == 0) {
      how.dead = "{ .reg .b32 %dead; mov.u32 %dead, %clock; add.u32 %dead, %dead, 1; }";
    }
    const std::string changed =
        verdicts::metamorphosed(text, [&](std::string_view) { return how; });
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / fmt::format("baton_corpus_{}.ptx", getpid());
    std::ofstream(file) << changed;
    std::uint64_t number = 0;
    const auto hold = [&](const auto& lines, EdgeVerdict least, EdgeVerdict most) {
      for (const char* line : lines) {
        if (!is_runnable(line)) continue;
        SCOPED_TRACE(fmt::format("seed {}: {}", how.seed, line));
        const auto is = [&](const std::string& image) {
          return verdict_of(prepare(line, image, PdlMode::kAuto, RewriteMode::kOff));
        };
        const EdgeVerdict now = is(file.string());
        EXPECT_GE(now, least);
        EXPECT_LE(now, most);
        Table unused;
        if (++number % 16 == 0) simulate(line, file.string(), RewriteMode::kOff, unused);
      }
    };
    hold(overlap::kRight, EdgeVerdict::kProven, EdgeVerdict::kProven);
    hold(overlap::kWrong, EdgeVerdict::kUnsafe, EdgeVerdict::kUnsafe);
    hold(overlap::kDoubtful, EdgeVerdict::kUnknown, EdgeVerdict::kUnknown);
    std::filesystem::remove(file);
  }
}

TEST_F(Verdicts, AgreeWithWhatRuns) {
  hold_corpus("corpus.ptx");
}
TEST_F(Verdicts, AgreeWithWhatRunsSlowly) {
  hold_corpus("corpus_slow.ptx");
}
TEST_F(Verdicts, AgreeWhereLoadsBehindAWaitWereMadePlain) {
  if (open_device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  for (const char* image : {"corpus.ptx", "corpus_slow.ptx"}) {
    const auto takes = [](const std::string& line) { return uses(line, {"non_coherent"}); };
    Table table = hold_programs(image, RewriteMode::kAuto, takes);
    EXPECT_EQ(table.size(), 1u);
    EXPECT_GT(table[EdgeVerdict::kProven].programs, 0);
  }
}

}  // namespace
}  // namespace baton::session_test::agreement_test
