#include "analysis/case_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analysis/programs.h"

namespace baton::record {
namespace {

using overlap::GivenArgument;

// %d0 and %d1 are addresses of x and y, %r0 is the thread's index, and %r1 a number. %p1 holds or
// not, which nothing tells. The struct has addresses at 0 and 12, and a number at 8.
constexpr std::string_view kKernel = R"(.version 8.7
.target sm_100a
.address_size 64
.global .u32 seen;
$functions
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 n, .param .align 8 .b8 s[24],
                  .param .align 64 .b8 m[128], .param .u64 p5) {
.reg .b64 %d<60>; .reg .b32 %r<60>; .reg .b16 %h<8>; .reg .pred %p<20>;
.shared .align 16 .b8 shared[128]; .shared .u32 other;
$top
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u32 %r1, [n]; mov.u32 %r0, %tid.x;
setp.eq.u32 %p1, %r1, 0; mul.wide.u32 %d2, %r0, 4;
$body
}
)";

void replace(std::string& text, const std::string& name, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += by.size()) {
    text.replace(at, name.size(), by);
  }
}

std::vector<GivenArgument> arguments(std::size_t count, bool swapped) {
  const overlap::MemoryId x = swapped ? 'y' : 'x', y = swapped ? 'x' : 'y';
  std::vector<GivenArgument> all = {GivenArgument::pointer(x, 256),
                                    GivenArgument::pointer(y, 512),
                                    GivenArgument::scalar(swapped ? 5 : 3),
                                    {.kind = GivenArgument::Kind::kStruct,
                                     .fields = {{0, x, 64}, {12, y, 0}},
                                     .numbers = {{8, 4, 7}, {20, 4, 2}}},
                                    GivenArgument::tensor_map(y),
                                    GivenArgument::scalar(0)};
  all.resize(count);
  return all;
}

// `chosen`: by hole, the number of its text.
RecordedProgram program_of(const CaseForm& form, const std::vector<std::size_t>& chosen) {
  RecordedProgram program;
  program.name = form.name;
  std::string text(kKernel);
  replace(text, "$body", form.body);
  replace(text, "$functions", form.functions);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    replace(text, fmt::format("${}", form.holes[k].name), form.holes[k].texts[chosen[k]]);
    program.name += fmt::format("{}{}", k == 0 ? "/" : ".", chosen[k]);
  }
  replace(text, "$top", "");
  program.module = ptx::ParsedModule::parse(std::move(text), program.name);
  for (const bool swapped : {false, true, true}) {
    program.launches.push_back({program.module->function("k"), arguments(form.given, swapped),
                                form.grid, form.block, true});
  }
  return program;
}

// All that differ from the first one in the same hole are a group; with a second hole that varies,
// all that have the same text in the first.
void add_all(const CaseForm& form, std::vector<CaseGroup>& groups) {
  std::vector<std::size_t> chosen(form.holes.size());
  groups.push_back({form.name, {program_of(form, chosen)}});
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const Hole& hole = form.holes[k];
    const bool varies_more = form.each_with_each && k == 0;
    const std::size_t others = varies_more ? form.holes[1].texts.size() : 1;
    if (!varies_more) groups.push_back({fmt::format("{}/{}", form.name, hole.name), {}});
    for (std::size_t text = 1; text < hole.texts.size(); ++text) {
      if (varies_more) groups.push_back({fmt::format("{}/{}/{}", form.name, hole.name, text), {}});
      chosen[k] = text;
      for (std::size_t other = 0; other < others; ++other) {
        if (varies_more) chosen[1] = other;
        groups.back().programs.push_back(program_of(form, chosen));
      }
    }
    std::ranges::fill(chosen, 0);
  }
}

}  // namespace

std::vector<CaseGroup> case_groups() {
  std::vector<CaseGroup> groups;
  for (const auto& forms : {number_cases(), memory_cases(), passing_cases(), flag_cases(),
                            signal_cases(), rewriting_cases()}) {
    for (const CaseForm& form : forms) add_all(form, groups);
  }
  return groups;
}

}  // namespace baton::record
