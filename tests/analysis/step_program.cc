#include "analysis/step_program.h"

#include <fmt/format.h>

#include <initializer_list>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace baton::record {
namespace {

// A kernel with its parameters: 'r' reads a buffer, 'w' writes one, 'n' is a number, 'p' points to
// pointers. 's' is a struct of what is read, what is written and a number.
struct Kernel {
  const char* name;
  const char* params;
  const char* file = "src/session/testdata/edges.ptx";
};
constexpr const char* kSteps = "tests/analysis/steps.ptx";
constexpr Kernel kKernels[] = {
    {"late", "rw"},        {"late", "rw"},       {"late", "rw"},         {"ahead", "rrw"},
    {"ahead", "rrw"},      {"overwrites", "w"},  {"never", "rw"},        {"idle", ""},
    {"returns", "rwn"},    {"eager", "rw"},      {"eager", "rw"},        {"one_waits", "rw"},
    {"counts", ""},        {"counted", "w"},     {"non_coherent", "rw"}, {"indirect", "pw"},
    {"adds_offset", "rw"}, {"hands_over", "rw"}, {"reads_beyond", "rwn"}};
constexpr Kernel kMoreKernels[] = {{"late", "rw"},
                                   {"eager", "rw"},
                                   {"ahead", "rrw"},
                                   {"hands_over", "rw"},
                                   {"counted", "w"},
                                   {"fields_late", "s", kSteps},
                                   {"fields_late", "s", kSteps},
                                   {"fields_early", "s", kSteps},
                                   {"fields_early", "s", kSteps},
                                   {"fields_beyond", "s", kSteps},
                                   {"waits_nowhere", "rw", kSteps},
                                   {"rows", "rwn", kSteps},
                                   {"adds", "wr", kSteps},
                                   {"either", "rrw", kSteps}};

// Those that branches tell apart by what they wait for.
constexpr Kernel kBranchKernels[] = {{"late", "rw"},         {"late", "rw"},
                                     {"late", "rw"},         {"ahead", "rrw"},
                                     {"never", "rw"},        {"never", "rw"},
                                     {"eager", "rw"},        {"overwrites", "w"},
                                     {"one_waits", "rw"},    {"indirect", "pw"},
                                     {"counted", "w"},       {"counts", ""},
                                     {"adds", "wr", kSteps}, {"either", "rrw", kSteps},
                                     {"non_coherent", "rw"}};

// Those that tell where blocks have room.
constexpr Kernel kCrowdedKernels[] = {
    {"late", "rw"}, {"eager", "rw"},    {"eager", "rw"},  {"hands_over", "rw"},
    {"idle", ""},   {"returns", "rwn"}, {"counted", "w"}, {"fields_late", "s", kSteps},
    {"late", "rw"}, {"one_waits", "rw"}};

constexpr char kHead[] = R"([symbols]
N = 4
Z = 0
[buffers]
w = { dtype = "i32", shape = [128], role = "weight", init = "ones" }
u = { dtype = "i32", shape = [128], role = "input", init = "ones" }
x = { dtype = "i32", shape = [128], role = "inout", init = "zeros" }
y = { dtype = "i32", shape = [128], role = "output", init = "zeros" }
z = { dtype = "i32", shape = [128], role = "scratch" }
s = { dtype = "i32", shape = [128], role = "state", init = "zeros" }
go = { dtype = "i32", shape = [1], role = "state", init = "zeros" }
k = { dtype = "i32", shape = [4, 32], role = "cache", init = "zeros", frozen = "go[0]" }
pointers = { dtype = "u64", shape = [1], role = "input", init = "zeros" }
v = { dtype = "i32", shape = [], role = "inout", init = "zeros", variable = "late.counter" }
)";

class StepProgram {
 public:
  enum class Style {
    kPlain,
    kViews,     // some of which differ from one iteration to the next
    kCrowded,   // its launches fill multiprocessors
    kBranches,  // nearly all steps are in branches that run side by side
  };
  StepProgram(std::uint64_t seed, std::span<const Kernel> kernels, Style style)
      : random_(seed), kernels_(kernels), style_(style) {
    const std::uint64_t count = 2 + pick(4);
    const std::string steps = list(count, 0);
    used_["late"] = kKernels[0].file;  // which has the variable
    for (const auto& [name, file] : used_) {
      text_ += fmt::format("[kernels.{0}]\nptx = \"{1}\"\nentry = \"{0}\"\n", name, file);
    }
    text_ += "[[steps]]\nrepeat = 1\nsteps = " + steps + "\n";
  }

  std::string text() const { return kHead + text_; }

 private:
  std::uint64_t pick(std::uint64_t count) { return random_() % count; }
  bool chance(unsigned percent) { return pick(100) < percent; }
  const char* choose(std::initializer_list<const char*> choices) {
    return choices.begin()[pick(choices.size())];
  }
  std::string any(std::initializer_list<const char*> choices) { return choose(choices); }

  // Steps that follow one another.
  std::string list(std::uint64_t count, unsigned depth) {
    std::string text = "[ ";
    for (std::uint64_t k = 0; k < count; ++k) text += (k == 0 ? "" : ", ") + step(depth);
    return text + " ]";
  }

  std::string step(unsigned depth) {
    if (style_ == Style::kBranches && depth < 2 && chance(depth == 0 ? 80 : 15)) {
      return parallel(depth);
    }
    const std::uint64_t kind = pick(depth < 2 ? 26 : 20);
    if (kind == 0) return fmt::format("{{ fill = {{ buffer = \"{}\", value = 0 }} }}", written());
    if (kind == 1) {
      const char* const count = style_ == Style::kBranches ? choose({"0", "1", "4", "16"}) : "16";
      return fmt::format("{{ copy = {{ from = \"{} + {}\", to = \"{} + {}\", count = {} }} }}",
                         read(), 16 * pick(4), written(), 64 + 16 * pick(3), count);
    }
    if (kind < 20) return launch("");
    if (kind < 23) {
      const std::string index = fmt::format("i{}", depth);
      indexes_.push_back(index);
      const std::string text =
          fmt::format("{{ repeat = {}, index = \"{}\", steps = {} }}", any({"2", "3", "1", "5"}),
                      index, list(1 + pick(3), depth + 1));
      indexes_.pop_back();
      return text;
    }
    if (kind == 23) {
      return fmt::format("{{ if = {{ buffer = \"go\" }}, steps = {} }}",
                         list(1 + pick(2), depth + 1));
    }
    if (kind == 24 && chance(50)) {
      return fmt::format("{{ while = {{ buffer = \"go\", at_most = 3 }}, steps = {} }}",
                         list(1 + pick(2), depth + 1));
    }
    return parallel(depth);
  }

  // The first branch may record events that launches of the others come after.
  std::string parallel(unsigned depth) {
    std::string text = "{ parallel = [ ";
    const std::uint64_t branches = 2 + pick(2);
    std::vector<std::string> events;
    for (std::uint64_t k = 0; k < branches; ++k) {
      std::string branch;
      const std::size_t earlier = events.size();
      const std::uint64_t count = 1 + pick(3);
      for (std::uint64_t n = 0; n < count; ++n) {
        std::string more;
        // An event of the branch itself is refused.
        const std::size_t known = style_ == Style::kBranches ? earlier : events.size();
        if (known != 0 && k > 0 && chance(50)) {
          more += fmt::format(", after = [\"{}\"]", events[pick(known)]);
        }
        std::string recorded;
        if (k + 1 < branches && chance(50)) {
          recorded = fmt::format("e{}", events_++);
          more += fmt::format(
              ", {} = \"{}\"",
              any({"programmatic_event", "programmatic_event", "launch_completion_event"}),
              recorded);
        }
        branch += branch.empty() ? "" : ", ";
        const bool launches = chance(style_ == Style::kBranches ? 70 : 85);
        branch += launches || !more.empty() ? launch(more) : step(depth + 1);
        if (!recorded.empty()) events.push_back(recorded);
      }
      text += fmt::format("{}[ {} ]", k == 0 ? "" : ", ", branch);
    }
    return text + " ] }";
  }

  std::string launch(const std::string& more) {
    const Kernel& kernel = kernels_[pick(kernels_.size())];
    used_[kernel.name] = kernel.file;
    std::string arguments;
    for (const char* param = kernel.params; *param != '\0'; ++param) {
      if (!arguments.empty()) arguments += ", ";
      arguments += *param == 'n'   ? number()
                   : *param == 'p' ? "\"pointers\""
                   : *param == 's' ? structure()
                                   : place(*param == 'w' ? written() : read());
    }
    std::string options = more;
    if (chance(25)) {
      // What is asked for in vain is refused, and then nothing is said of the branches.
      const std::string asked = style_ == Style::kBranches ? any({"off", "force", "auto", "force"})
                                                           : any({"on", "off", "force", "auto"});
      options += fmt::format(", pdl = \"{}\"", asked);
    }
    if (style_ != Style::kCrowded && chance(20)) options += ", placement = \"even\"";
    if (chance(5)) options += ", cooperative = true";
    return fmt::format("{{ launch = \"{}\", {}, args = [{}]{} }}", kernel.name, extents(),
                       arguments, options);
  }

  std::string extents() {
    if (style_ != Style::kCrowded) {
      const std::string block = any({"4", "4", "8", "32"});
      const std::string grid = chance(4) ? "\"Z\"" : any({"1", "1", "2"});
      return fmt::format("grid = [{}], block = [{}]", grid, block);
    }
    const std::string grid = any({"1", "100", "132", "133", "264", "264", "500", "2000"});
    std::string text =
        fmt::format("grid = [{}], block = [{}]", grid, any({"32", "128", "256", "512", "1024"}));
    if (chance(50)) {
      text += fmt::format(", shared = {}",
                          any({"1024", "16384", "33000", "49152", "70000", "113000", "200000"}));
    }
    if (chance(40)) text += ", placement = \"even\"";
    if (chance(4)) text += fmt::format(", sms = {}", any({"66", "32"}));
    return text;
  }

  std::string number() { return any({"4", "0", "1", "\"N\"", "32", "\"N - 1\""}); }
  std::string structure() {
    const std::string from = start(read()), to = start(written());
    return fmt::format("{{ struct = [{}, {}, {{ i32 = {} }}] }}", from, to, number());
  }
  std::string read() { return any({"x", "x", "y", "y", "z", "w", "w", "u", "s", "k"}); }
  std::string written() {
    return chance(6) ? any({"w", "u", "v", "k"}) : any({"x", "x", "y", "y", "z", "s"});
  }
  std::string place(const std::string& buffer) {
    if (buffer == "v") return "\"v\"";
    const std::uint64_t offset = any_offset();
    if (style_ == Style::kViews && !indexes_.empty() && chance(25)) {
      const std::string& index = indexes_[pick(indexes_.size())];
      const std::string count = any({"8", "32", "32 - {0}", "8 + 4 * {0}"});
      return fmt::format("{{ buffer = \"{}\", offset = \"{} * {}\", count = \"{}\" }}", buffer,
                         any({"8", "4"}), index, fmt::format(fmt::runtime(count), index));
    }
    if (chance(15)) {
      return fmt::format("{{ buffer = \"{}\", offset = {}, count = {} }}", buffer, offset,
                         any({"4", "32", "64"}));
    }
    return start(buffer, offset);
  }
  std::string start(const std::string& buffer) { return start(buffer, any_offset()); }
  std::string start(const std::string& buffer, std::uint64_t offset) {
    if (!indexes_.empty() && chance(40)) {
      return fmt::format("\"{} + {} * {}\"", buffer, any({"4", "8", "1"}),
                         indexes_[pick(indexes_.size())]);
    }
    return offset == 0 ? fmt::format("\"{}\"", buffer) : fmt::format("\"{} + {}\"", buffer, offset);
  }
  std::uint64_t any_offset() {
    static constexpr std::uint64_t kOffsets[] = {0, 0, 0, 0, 1, 3, 4, 5, 32, 60, 64};
    return kOffsets[pick(std::size(kOffsets))];
  }

  std::mt19937_64 random_;
  std::string text_;
  const std::span<const Kernel> kernels_;
  const Style style_;
  std::map<std::string, std::string> used_;  // kernels, with their files
  std::vector<std::string> indexes_;
  unsigned events_ = 0;
};

}  // namespace

std::string step_program(std::uint64_t seed) {
  return StepProgram(seed, kKernels, StepProgram::Style::kPlain).text();
}

std::string field_program(std::uint64_t seed) {
  return StepProgram(seed, kMoreKernels, StepProgram::Style::kViews).text();
}

std::string crowded_program(std::uint64_t seed) {
  return StepProgram(seed, kCrowdedKernels, StepProgram::Style::kCrowded).text();
}

std::string branch_program(std::uint64_t seed) {
  return StepProgram(seed, kBranchKernels, StepProgram::Style::kBranches).text();
}

}  // namespace baton::record
