#include "generated_chain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "baton/executable.h"
#include "baton/program.h"

namespace baton::verdicts {
namespace {

constexpr std::size_t kBatch = 32;  // chains in one program

// Two accesses of different launches that nothing orders.
const std::set<std::string> kRaces = {"read_before_wait", "write_before_wait", "write_after_read",
                                      "missing_wait", "transitive_wait"};

// Errors that have nothing to do with other launches, and leave the device healthy.
const std::set<std::string> kOwn = {"no_wait", "shared_race", "async_race"};

std::vector<LaunchArgument> arguments_of(const GeneratedLaunch& launch) {
  std::vector<LaunchArgument> arguments;
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    const std::string buffer(1, launch.buffers[i]);
    if (launch.passing == Passing::kViews) {
      arguments.emplace_back(BufferView{{buffer, launch.offsets[i]}});
    } else if (launch.offsets[i] == 0) {
      arguments.emplace_back(buffer);
    } else {
      arguments.emplace_back(BufferOffset(buffer, launch.offsets[i]));
    }
  }
  if (launch.passing != Passing::kStruct) {
    arguments.emplace_back(launch.number);
    return arguments;
  }
  arguments.emplace_back(TypedValue{DType::kU32, Expression(launch.number)});
  return {StructArgument{std::move(arguments)}};
}

// A file that goes with the object.
class ImageFile {
 public:
  explicit ImageFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("baton_generated_{}.ptx", getpid())) {
    std::ofstream(path_) << text;
  }
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;
  ~ImageFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

Program program_of(std::span<const GeneratedChain> chains, const std::filesystem::path& image) {
  ProgramBuilder builder("generated");
  for (const char* name : {"x", "y", "z"}) {
    builder.buffer({.name = name,
                    .dtype = DType::kU32,
                    .shape = {kElements},
                    .role = BufferRole::kInout,
                    .init = BufferInit::kZeros});
  }
  builder.buffer({.name = "w",
                  .dtype = DType::kU32,
                  .shape = {kElements},
                  .role = BufferRole::kWeight,
                  .init = BufferInit::kArange});
  builder.buffer({.name = "t",
                  .dtype = DType::kU64,
                  .shape = {kElements / 2},
                  .role = BufferRole::kInout,
                  .init = BufferInit::kZeros});
  const auto add_kernel = [&](const std::string& name) {
    builder.kernel({.name = name, .origin = KernelOrigin::kPtx, .file = image, .entry = name});
  };
  add_kernel("set_up");
  builder.launch(
      {.kernel = "set_up", .grid = {1}, .block = {1}, .args = {"t", "w", "x", "y", "z"}});
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (std::size_t k = 0; k < chains[c].launches.size(); ++k) {
      const GeneratedLaunch& launch = chains[c].launches[k];
      LaunchStep step{.kernel = kernel_name(c, k)};
      step.grid.assign(launch.grid.begin(), launch.grid.end());
      step.block.assign(launch.block.begin(), launch.block.end());
      step.args = arguments_of(launch);
      step.attributes.pdl = k == 0 ? PdlMode::kOff : PdlMode::kForce;
      if (launch.cluster != 1) step.attributes.list.push_back({"cluster", {launch.cluster}});
      add_kernel(step.kernel);
      builder.launch(std::move(step));
    }
  }
  return builder.build();
}

// The findings of a run. A fault is none of these.
std::vector<FindingReport> findings_of(Executable& executable, const Schedule& schedule) {
  try {
    executable.run({.schedule = schedule, .time_steps = false, .join_executions = true});
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kFault) throw;
    for (const FindingReport& finding : executable.report().findings) {
      if (finding.error && !kRaces.contains(finding.kind) && !kOwn.contains(finding.kind)) {
        throw Error(ErrorCode::kFault, finding.kind + ": " + finding.message);
      }
    }
    if (executable.report().findings.empty()) throw;
  }
  return executable.report().findings;
}

Executable bound(std::span<const GeneratedChain> chains) {
  const ImageFile image(module_text(chains));
  Executable executable =
      Executable::prepare(program_of(chains, image.path()), Device::open("sim"), {});
  executable.bind();
  return executable;
}

std::vector<ChainOutcome> run_batch(std::span<const GeneratedChain> chains,
                                    std::span<const Schedule> schedules) {
  std::map<std::string, std::size_t> owners;  // of kernels
  std::vector<std::size_t> owner_of_launch = {chains.size()};
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (std::size_t k = 0; k < chains[c].launches.size(); ++k) {
      owners.emplace(kernel_name(c, k), c);
      owner_of_launch.push_back(c);
    }
  }
  Executable executable = bound(chains);
  std::vector<ChainOutcome> outcomes(chains.size());
  for (const EdgeReport& edge : executable.edges()) {
    if (!edge.programmatic) continue;
    ChainOutcome& outcome = outcomes[owner_of_launch[edge.to]];
    if (edge.verdict < outcome.verdict) continue;
    outcome.verdict = edge.verdict;
    outcome.reason = edge.reason;
  }
  for (const Schedule& schedule : schedules) {
    std::set<std::size_t> found;
    for (const FindingReport& finding : findings_of(executable, schedule)) {
      const auto owner = owners.find(finding.kernel);
      if (!kRaces.contains(finding.kind) || owner == owners.end()) continue;
      ChainOutcome& outcome = outcomes[owner->second];
      if (found.insert(owner->second).second) ++outcome.found;
      if (outcome.finding.empty()) {
        outcome.finding = fmt::format("{}: {} at {}: {}", to_string(schedule), finding.kind,
                                      finding.where, finding.message);
      }
    }
  }
  return outcomes;
}

}  // namespace

std::vector<EdgeReport> edges_of(std::span<const GeneratedChain> chains) {
  return bound(chains).edges();
}

std::vector<ChainOutcome> outcomes_of(std::span<const GeneratedChain> chains,
                                      std::span<const Schedule> schedules) {
  std::vector<ChainOutcome> outcomes;
  while (!chains.empty()) {
    const auto batch = chains.first(std::min(chains.size(), kBatch));
    chains = chains.subspan(batch.size());
    try {
      const std::vector<ChainOutcome> found = run_batch(batch, schedules);
      outcomes.insert(outcomes.end(), found.begin(), found.end());
      continue;
    } catch (const Error& failure) {
      if (batch.size() == 1) {
        outcomes.emplace_back().broken = failure.what();
        continue;
      }
    }
    // One of them is broken, which ends the others too.
    for (const GeneratedChain& chain : batch) {
      const std::vector<ChainOutcome> found = outcomes_of(std::span(&chain, 1), schedules);
      outcomes.push_back(found.front());
    }
  }
  return outcomes;
}

}  // namespace baton::verdicts
