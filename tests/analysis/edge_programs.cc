#include "analysis/edge_programs.h"

#include <fmt/format.h>

#include <iterator>
#include <regex>
#include <string_view>
#include <utility>

#include "analysis/step_program.h"
#include "baton/check.h"
#include "baton/executable.h"
#include "baton/program.h"

namespace baton::record {
namespace {

std::string edges_text(std::span<const EdgeReport> edges) {
  std::string out;
  auto to = std::back_inserter(out);
  for (const EdgeReport& edge : edges) {
    fmt::format_to(to, "{}-{} {} {} {} {}: {}; {}", edge.from, edge.to, to_string(edge.verdict),
                   to_string(edge.cause), edge.programmatic ? "early" : "full",
                   to_string(edge.decision), edge.reason, edge.decision_reason);
    if (edge.room) {
      fmt::format_to(to, "; room {} {} {} {}", edge.room->held, edge.room->beside, edge.room->share,
                     edge.room->limit);
    }
    out += '\n';
  }
  return out;
}

// A temporary file holds the kernels of the chains. Other files are in the repository.
std::string without_paths(const std::string& text) {
  static const std::regex kPath("[^ ]*baton_generated_[0-9]+\\.ptx");
  std::string out = std::regex_replace(text, kPath, "chains.ptx");
  constexpr std::string_view kRepository = BATON_SOURCE_DIR "/";
  for (std::size_t at = 0; (at = out.find(kRepository, at)) != std::string::npos;) {
    out.erase(at, kRepository.size());
  }
  return out;
}

std::string launches_text(const CheckReport& report) {
  std::string out;
  auto to = std::back_inserter(out);
  for (const LaunchReport& launch : report.launches) {
    fmt::format_to(to, "{} {} {} {} {} padding {} {}", launch.number, launch.kernel,
                   launch.executions, launch.skipped, launch.conditional, launch.padding,
                   launch.placement);
    if (launch.config) {
      fmt::format_to(to, " shared {} attributes {}", launch.config->shared,
                     launch.config->attributes.size());
    }
    out += '\n';
  }
  return out;
}

std::string notes_text(const CheckReport& report) {
  std::string out;
  for (const ParallelReport& parallel : report.parallels) {
    out += fmt::format("parallel of {}: {}\n", parallel.branches, to_string(parallel.verdict));
    for (const std::string& conflict : parallel.conflicts) out += conflict + "\n";
  }
  for (const std::string& warning : report.warnings) out += warning + "\n";
  if (report.objection) {
    out += fmt::format("{} {}\n", static_cast<int>(report.objection->code()),
                       report.objection->message());
  }
  return out;
}

}  // namespace

EdgeProgram chain_edges(const ChainFamily& family, std::uint64_t number) {
  const std::uint64_t first = number * kChainsAtOnce + 1;
  std::vector<verdicts::GeneratedChain> chains;
  for (std::uint64_t k = 0; k < kChainsAtOnce; ++k) chains.push_back(family.generate(first + k));
  return {fmt::format("{}/{}", family.name, first),
          {{"edges", without_paths(edges_text(verdicts::edges_of(chains)))}}};
}

namespace {

EdgeProgram edges_of_text(std::string name, std::uint64_t number, const std::string& text) {
  static const Device kDevice = Device::open("sim");
  EdgeProgram program{std::move(name), {}};
  PrepareOptions options;
  options.pdl = number % 16 == 0 ? PdlMode::kOn : number % 16 == 1 ? PdlMode::kOff : PdlMode::kAuto;
  options.use_cache = false;
  try {
    Executable executable = Executable::prepare(
        Program::from_text(text, "steps.toml", BATON_SOURCE_DIR), kDevice, options);
    const CheckReport report = executable.check();
    program.sections = {{"edges", edges_text(report.edges)},
                        {"launches", launches_text(report)},
                        {"notes", notes_text(report)}};
  } catch (const Error& refused) {
    // Without the path of the file.
    program.sections = {
        {"edges", ""},
        {"launches", ""},
        {"notes", fmt::format("{} {}\n", static_cast<int>(refused.code()), refused.message())}};
  }
  program.sections.push_back({"program", text});
  for (Section& section : program.sections) section.text = without_paths(section.text);
  return program;
}

}  // namespace

EdgeProgram step_edges(std::uint64_t number) {
  return edges_of_text(fmt::format("steps/{}", number), number, step_program(number));
}

EdgeProgram field_edges(std::uint64_t number) {
  return edges_of_text(fmt::format("fields/{}", number), number, field_program(number));
}

EdgeProgram crowded_edges(std::uint64_t number) {
  return edges_of_text(fmt::format("crowded/{}", number), number, crowded_program(number));
}

EdgeProgram branch_edges(std::uint64_t number) {
  return edges_of_text(fmt::format("branches/{}", number), number, branch_program(number));
}

}  // namespace baton::record
