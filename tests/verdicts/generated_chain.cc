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

constexpr char kModule[] = R"(.version 8.7
.target sm_90a
.address_size 64
.global .align 16 .b8 counter[4096];
.const .align 16 .b8 table[4096];
.func (.param .b64 out) same(.param .b64 in) {
.reg .b64 %x; ld.param.b64 %x, [in]; st.param.b64 [out], %x; ret; }
.func (.param .b64 out) swapped(.param .b64 in) {
.reg .b64 %x; .reg .b32 %l, %h; ld.param.b64 %x, [in]; mov.b64 {%l, %h}, %x; mov.b64 %x, {%h, %l};
st.param.b64 [out], %x; ret; }
.func waits() { griddepcontrol.wait; ret; }
.func waits_if(.param .b32 in) {
.reg .b32 %x; .reg .pred %p; ld.param.b32 %x, [in]; setp.eq.u32 %p, %x, 0; @%p ret;
griddepcontrol.wait; ret; }
.func triggers() { griddepcontrol.launch_dependents; ret; }
.func meets() { bar.sync 0; ret; }
.func stores(.param .b64 at, .param .b32 value) {
.reg .b64 %x; .reg .b32 %v; ld.param.b64 %x, [at]; ld.param.b32 %v, [value];
st.global.u32 [%x], %v; ret; }
.func (.param .b32 out) reads(.param .b64 in) {
.reg .b64 %x; .reg .b32 %v; ld.param.b64 %x, [in]; ld.global.u32 %v, [%x]; st.param.b32 [out], %v;
ret; }
.visible .entry set_up(.param .u64 t, .param .u64 w, .param .u64 x, .param .u64 y, .param .u64 z) {
.reg .b64 %t, %w, %x, %y, %z, %i; .reg .b32 %r; .reg .pred %p;
ld.param.u64 %t, [t]; ld.param.u64 %w, [w]; ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
ld.param.u64 %z, [z]; mov.u32 %r, 0;
LOOP: mul.wide.u32 %i, %r, 32; add.u64 %i, %i, %t; st.global.v2.u64 [%i], {%w, %x};
st.global.v2.u64 [%i+16], {%y, %z}; add.u32 %r, %r, 1; setp.lt.u32 %p, %r, 128; @%p bra LOOP; ret; }
)";

// Two accesses of different launches that nothing orders.
const std::set<std::string> kRaces = {"read_before_wait", "write_before_wait", "write_after_read",
                                      "missing_wait", "transitive_wait"};

// Errors that have nothing to do with other launches, and leave the device healthy.
const std::set<std::string> kOwn = {"no_wait", "shared_race", "async_race"};

std::string kernel_name(std::size_t chain, std::size_t launch) {
  return fmt::format("k{}_{}", chain, launch);
}

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

std::vector<ChainOutcome> run_batch(std::span<const GeneratedChain> chains,
                                    std::span<const Schedule> schedules) {
  std::string text = kModule;
  std::map<std::string, std::size_t> owners;  // of kernels
  std::vector<std::size_t> owner_of_launch = {chains.size()};
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (std::size_t k = 0; k < chains[c].launches.size(); ++k) {
      text += kernel_text(chains[c].launches[k], kernel_name(c, k));
      owners.emplace(kernel_name(c, k), c);
      owner_of_launch.push_back(c);
    }
  }
  const bool changes = std::ranges::any_of(
      chains, [](const GeneratedChain& chain) { return chain.metamorphosis.has_value(); });
  if (changes) {
    text = metamorphosed(text, [&](std::string_view kernel) {
      const auto owner = owners.find(std::string(kernel));
      return owner == owners.end() ? std::nullopt : chains[owner->second].metamorphosis;
    });
  }
  const ImageFile image(text);
  Executable executable =
      Executable::prepare(program_of(chains, image.path()), Device::open("sim"), {});
  executable.bind();
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

std::string kernel_text(const GeneratedLaunch& launch, const std::string& name) {
  const bool is_flat = launch.block[1] * launch.block[2] * launch.grid[1] * launch.grid[2] == 1;
  const char* const indexes =
      is_flat ? "mov.u32 %tid, %tid.x; mov.u32 %ntid, %ntid.x; mov.u32 %cta, %ctaid.x;\n"
              : "mov.u32 %x, %ntid.x; mov.u32 %y, %ntid.y; mov.u32 %z, %tid.z;\n"
                "mov.u32 %tid, %tid.y; mad.lo.u32 %tid, %z, %y, %tid; mov.u32 %z, %tid.x;\n"
                "mad.lo.u32 %tid, %tid, %x, %z; mul.lo.u32 %ntid, %x, %y; mov.u32 %z, %ntid.z;\n"
                "mul.lo.u32 %ntid, %ntid, %z; mov.u32 %x, %nctaid.x; mov.u32 %y, %ctaid.y;\n"
                "mov.u32 %z, %ctaid.x; mad.lo.u32 %cta, %y, %x, %z;\n";
  const bool is_struct = launch.passing == Passing::kStruct;
  const char* const parameters =
      is_struct ? ".param .align 8 .b8 p[40]"
                : ".param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3,\n.param .u32 p4";
  const auto parameter = [&](int k) {
    return is_struct ? fmt::format("p+{}", 8 * k) : fmt::format("p{}", k);
  };
  return fmt::format(
      ".visible .entry {}({}) {{\n"
      ".reg .b64 %a, %b, %c, %e; .reg .b32 %n, %tid, %ntid, %cta, %x, %y, %z;\n"
      ".shared .align 16 .b8 shared[1024]; .local .align 16 .b8 spill[256];\n{}"
      "ld.param.u64 %a, [{}]; cvta.to.global.u64 %a, %a;\n"
      "ld.param.u64 %b, [{}]; cvta.to.global.u64 %b, %b;\n"
      "ld.param.u64 %c, [{}]; cvta.to.global.u64 %c, %c;\n"
      "ld.param.u64 %e, [{}]; cvta.to.global.u64 %e, %e;\n"
      "ld.param.u32 %n, [{}];\n"
      "{}{}ret;\n}}\n",
      name, parameters, launch.declarations, parameter(0), parameter(1), parameter(2), parameter(3),
      parameter(4), indexes, launch.body);
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
