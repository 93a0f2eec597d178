#include "pdl/rewrite/rewrite.h"

#include <cstring>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>

#include "conformance/conformance.h"
#include "driver/driver.h"
#include "driver/simulator.h"

// Kernels of this suite that have no programmatic dependent launch are given it, with the trigger
// at every place there is; some that wait get loads that their wait orders. Chains of them, in
// which each launch may start beside those before it, leave what the kernels as they were leave one
// after the other. The simulated GPU runs them in every order that it knows, and finds no access
// that nothing orders.

namespace baton::conformance::rewrite_test {
namespace {

using overlap::TriggerPlace;

// A buffer of 32-bit words: each round of a chain starts with others, all below `below`.
struct Words {
  unsigned count = 0;
  unsigned below = 1u << 30;
};

struct Work {
  const char* file;
  const char* kernel;
  Dim3 grid, block;
  std::vector<std::variant<Words, int, float>> args;
  std::uint32_t shared = 0;
  const char* obstacle = "";  // why it cannot be rewritten

  friend std::ostream& operator<<(std::ostream& out, const Work& work) {
    return out << work.kernel;
  }
};

constexpr unsigned kRounds = 3;
constexpr unsigned kCopyBlock = 64;

std::vector<unsigned> contents(const Words& words, unsigned round) {
  std::vector<unsigned> result(words.count);
  for (unsigned i = 0; i < words.count; ++i) {
    result[i] = (i * 2654435761u + round * 40503u) % words.below;
  }
  return result;
}

class Rewritten : public Conformance, public testing::WithParamInterface<Work> {
 protected:
  using Form = std::optional<TriggerPlace>;  // nothing: as it was compiled

  // The kernel, rewritten where `trigger` says how.
  Kernel kernel(const char* file, const char* name, const Form& trigger) {
    auto& known = kernels_[std::pair(std::string(name), trigger)];
    if (known) return *known;
    auto compiled = compiled_.find(file);
    if (compiled == compiled_.end()) {
      CompileOptions options;
      options.arch = device().compile_arch();
      compiled =
          compiled_.emplace(file, baton::compile(Source::from_file(kernel_path(file)), options))
              .first;
    }
    Compiled image = compiled->second;
    if (trigger) {
      const auto module =
          ptx::ParsedModule::parse(std::string(image.ptx.bytes()), image.ptx.name());
      const overlap::RewriteRequest request = {module->function(name), {}, *trigger};
      const overlap::Rewriting done = overlap::rewrite(module, std::span(&request, 1));
      obstacle_ = done.kernels[0].obstacle;
      if (done.module != nullptr) {
        image.ptx = baton::Image::from_bytes(done.module->text(), image.ptx.name());
        image.cubin.reset();
      }
    }
    known = Module::load(device(), image).kernel(name);
    return *known;
  }

  // What the work's buffers hold after each round, as one.
  std::vector<unsigned> run(const Form& trigger) {
    const Work& work = GetParam();
    const Kernel copy = kernel("rewrite.cu", "copy", trigger);
    const Kernel tested = kernel(work.file, work.kernel, trigger);
    struct Buffers {
      Words words;
      Buffer<unsigned> given, used, left;  // of all rounds, of one, of all rounds
    };
    std::vector<Buffers> buffers;
    for (const auto& arg : work.args) {
      const auto* words = std::get_if<Words>(&arg);
      if (words == nullptr) continue;
      std::vector<unsigned> given;
      for (unsigned round = 0; round < kRounds; ++round) {
        const std::vector<unsigned> more = contents(*words, round);
        given.insert(given.end(), more.begin(), more.end());
      }
      buffers.push_back({*words, Buffer<unsigned>::of(device(), given),
                         Buffer<unsigned>(device(), words->count),
                         Buffer<unsigned>(device(), given.size())});
    }
    const Stream stream(device());
    LaunchConfig config{.stream = stream};
    if (trigger) config.attributes.set(pdl());
    const auto copy_words = [&](DeviceAddress from, DeviceAddress to, unsigned count) {
      config.grid = ceil_div(count, kCopyBlock);
      config.block = kCopyBlock;
      config.shared = 0;
      const Argument arguments[] = {{&from, sizeof(from), true, {}},
                                    {&to, sizeof(to), true, {}},
                                    {&count, sizeof(count), false, DType::kU32}};
      copy.launch_arguments(config, arguments);
    };
    for (unsigned round = 0; round < kRounds; ++round) {
      const auto of_round = [&](const Buffer<unsigned>& all, const Buffers& each) {
        return all.data().address + std::uint64_t{4} * round * each.words.count;
      };
      for (const Buffers& each : buffers) {
        copy_words(of_round(each.given, each), each.used.data().address, each.words.count);
      }
      std::vector<DeviceAddress> addresses;
      for (const Buffers& each : buffers) addresses.push_back(each.used.data().address);
      std::vector<Argument> arguments;
      std::size_t next = 0;
      for (const auto& arg : work.args) {
        if (std::holds_alternative<Words>(arg)) {
          arguments.push_back({&addresses[next++], sizeof(DeviceAddress), true, {}});
        } else if (const int* number = std::get_if<int>(&arg)) {
          arguments.push_back({number, sizeof(*number), false, {}});
        } else {
          arguments.push_back({std::get_if<float>(&arg), sizeof(float), false, {}});
        }
      }
      config.grid = work.grid;
      config.block = work.block;
      config.shared = work.shared;
      // What is left as it is never waits, so that it must not start early.
      if (*work.obstacle != '\0') config.attributes.remove(AttributeId::kPdl);
      tested.launch_arguments(config, arguments);
      if (trigger) config.attributes.set(pdl());
      for (const Buffers& each : buffers) {
        copy_words(each.used.data().address, of_round(each.left, each), each.words.count);
      }
    }
    stream.synchronize();
    std::vector<unsigned> result;
    for (const Buffers& each : buffers) {
      const std::vector<unsigned> left = each.left.download();
      result.insert(result.end(), left.begin(), left.end());
    }
    return result;
  }

  std::string obstacle_;  // of the kernel that was rewritten last

 private:
  std::map<std::pair<std::string, Form>, std::optional<Kernel>> kernels_;
  std::map<std::string, Compiled> compiled_;
};

// The order is the simulated GPU's; there is one on others.
std::vector<Schedule> schedules(const Device& device) {
  std::vector<Schedule> result;
  if (device.driver().simulator == nullptr) return {Schedule{}};
  for (const char* name : {"serial", "late", "early", "reverse", "random:5"}) {
    result.push_back(parse_schedule(name));
  }
  return result;
}

TEST_P(Rewritten, LeavesWhatItLeftBefore) {
  if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  const std::vector<unsigned> want = run(std::nullopt);
  driver::Simulator* const simulator = device().driver().simulator;
  for (const TriggerPlace trigger : {TriggerPlace::kNowhere, TriggerPlace::kBehindLoads,
                                     TriggerPlace::kAtExits, TriggerPlace::kAtTop}) {
    for (const Schedule& schedule : schedules(device())) {
      SCOPED_TRACE(testing::Message()
                   << "trigger " << static_cast<int>(trigger) << ", " << to_string(schedule));
      std::unique_ptr<driver::Simulator::Session> session;
      if (simulator != nullptr) {
        session = simulator->begin(device().native_context(), {.schedule = schedule});
      }
      EXPECT_EQ(run(trigger), want);
      if (session == nullptr) continue;
      for (const driver::Finding& finding : session->take_findings()) {
        ADD_FAILURE() << finding.where << ": " << finding.message;
      }
    }
    EXPECT_EQ(obstacle_.substr(0, obstacle_.find(" is at ")), GetParam().obstacle);
  }
}

constexpr unsigned kFlag = 2;  // 0 or 1
constexpr const char* kRecursive = "a recursive call";
constexpr const char* kPointer = "a call through a register";

INSTANTIATE_TEST_SUITE_P(
    Kernels, Rewritten,
    testing::Values(
        Work{"shared.cu", "transpose", {2, 2}, {32, 8}, {Words{4096}, Words{4096}, 64}},
        Work{"shared.cu", "sum_dynamic", 4, 64, {Words{8}, 1000}, 1000},
        Work{"shared.cu", "carve", 1, 64, {Words{128}, 64}, 64 * 14},
        Work{"shared.cu", "generic", 1, 64, {Words{64}, Words{64}, 1}},
        Work{"barriers.cu", "tree_sum", 3, 256, {Words{3}, Words{768}}},
        Work{"barriers.cu", "voting_barriers", 1, 64, {Words{192}, Words{64, kFlag}}},
        Work{"barriers.cu", "early_exit", 1, 128, {Words{128}}},
        Work{"barriers.cu", "producer_consumer", 1, 128, {Words{64}}},
        Work{"barriers.cu", "groups", 1, 128, {Words{128}}},
        Work{"barriers.cu", "uniform_branch", 4, 64, {Words{4}, 7}},
        Work{"barriers.cu", "smooth", 2, 256, {Words{512}, 5}},
        Work{"calls.cu", "direct", 1, 64, {Words{128}}},
        Work{"calls.cu", "recursive", 1, 64, {Words{64}}, 0, kRecursive},
        Work{"calls.cu", "mutual", 1, 64, {Words{64}}, 0, kRecursive},
        Work{"calls.cu", "indirect", 1, 64, {Words{64}, Words{64, 3}}, 0, kPointer},
        Work{"calls.cu", "virtual_calls", 1, 64, {Words{64}}, 0, kPointer},
        Work{"calls.cu", "local_array", 2, 64, {Words{128}, 3}},
        Work{"calls.cu", "local_sort", 1, 32, {Words{64}, 9}},
        Work{"calls.cu", "frames", 1, 64, {Words{64}}, 0, kRecursive},
        Work{"atomics.cu", "wrap", 2, 64, {Words{1, 7}, Words{1, 7}, 6}},
        Work{"atomics.cu", "cas_add", 2, 64, {Words{1}, Words{2}, Words{1}}},
        Work{"atomics.cu", "scopes", 4, 64, {Words{4}, Words{1}}},
        Work{"atomics.cu", "last_block", 6, 32, {Words{1, 1}, Words{6}, Words{1}}},
        Work{"asynchronous.cu", "thread_pipeline", 1, 128, {Words{128}, Words{768}, 6}},
        Work{"asynchronous.cu", "block_pipeline", 1, 128, {Words{128}, Words{768}, 6}},
        Work{"asynchronous.cu", "split_barrier", 1, 128, {Words{128}}},
        Work{"asynchronous.cu", "block_copies", 1, 128, {Words{128}, Words{256}}},
        Work{"asynchronous.cu", "bulk_copies", 1, 128, {Words{128}, Words{128}}},
        Work{"asynchronous.cu", "large_tiles", 1, 128, {Words{128}, Words{128}}},
        Work{"asynchronous.cu", "labeled_groups", 1, 128, {Words{128}, Words{128}}},
        Work{"asynchronous.cu", "multicast", 8, 128, {Words{1024}, Words{256}}},
        Work{"asynchronous.cu", "send", 8, 32, {Words{512}, Words{256}}},
        Work{"divergence.cu", "nested", 2, 128, {Words{256}}},
        Work{"divergence.cu", "loops", 2, 128, {Words{256}}},
        Work{"divergence.cu", "cases", 2, 128, {Words{256}}},
        Work{"divergence.cu", "jumps", 2, 128, {Words{256}}},
        Work{"divergence.cu", "spin_lock", 2, 64, {Words{1, 1}, Words{1}}},
        Work{"divergence.cu", "relay", 1, 32, {Words{1, 1}, Words{32}, 1}},
        Work{"divergence.cu", "leave_early", 2, 128, {Words{256}, 200}},
        Work{"divergence.cu", "reconverge", 1, 32, {Words{32}}},
        Work{"warps.cu", "votes", 1, 32, {Words{128}, Words{32, kFlag}}},
        Work{"warps.cu", "partial_votes", 1, 32, {Words{32}, Words{32, kFlag}}},
        Work{"warps.cu", "reductions", 1, 32, {Words{256}, Words{32}}},
        Work{"warps.cu", "block_sum", 2, 96, {Words{2}, Words{180}, 180}},
        Work{"warps.cu", "warp_scan", 2, 64, {Words{128}, Words{128}}},
        Work{"warps.cu", "identity", 1, 32, {Words{192}}},
        Work{"warps.cu", "exchange", 1, 32, {Words{32}}},
        Work{"ordering.cu", "turns_of_device", 8, 64, {Words{1, 1}, Words{9}}},
        Work{"ordering.cu", "turns_of_warps", 1, 192, {Words{1}, 9}},
        Work{"grid.cu", "indices", {2, 2, 2}, {4, 4, 4}, {Words{6 * 512}}},
        Work{"grid.cu", "count_blocks", 8, 32, {Words{2}}},
        Work{"grid.cu", "saxpy", 4, 64, {Words{250}, Words{250}, 0.5f, 250}},
        Work{"grid.cu", "strided", 2, 64, {Words{300}, Words{1200}, 300}},
        Work{"integer.cu", "intrinsics", 1, 64, {Words{4096}, Words{128}, Words{128}, 64}},
        Work{
            "math.cu", "rounded_f32", 1, 64, {Words{24 * 64}, Words{64}, Words{64}, Words{64}, 64}},
        Work{"math.cu",
             "rounded_f64",
             1,
             64,
             {Words{48 * 64}, Words{128}, Words{128}, Words{128}, 64}},
        Work{"math.cu", "fast", 1, 64, {Words{8 * 64}, Words{64}, Words{64}, 64}},
        Work{"int128.cu", "int128", 1, 64, {Words{28 * 64}, Words{128}, Words{128}, 64}},
        Work{"convert.cu", "to_integers", 1, 64, {Words{32 * 64}, Words{64}, Words{128}, 64}},
        Work{"convert.cu", "from_integers", 1, 64, {Words{24 * 64}, Words{128}, 64}},
        Work{"convert.cu", "narrow_doubles", 1, 64, {Words{4 * 64}, Words{128}, 64}},
        Work{"convert.cu", "half_to_float", 1, 64, {Words{64}, Words{32}, 64}},
        Work{"convert.cu", "float_to_half", 1, 64, {Words{32}, Words{64}, 64}},
        Work{"convert.cu", "bfloat_to_float", 1, 64, {Words{64}, Words{32}, 64}},
        Work{"convert.cu", "float_to_bfloat", 1, 64, {Words{32}, Words{64}, 64}},
        Work{"convert.cu", "half_arithmetic", 1, 64, {Words{3 * 64}, Words{32}, Words{32}, 64}},
        Work{"convert.cu", "fp8_both_ways", 1, 64, {Words{128}, Words{32}, Words{64}, 64}},
        Work{"variables.cu", "gather", 1, 64, {Words{64}}},
        Work{"matrices.cu", "mma_f16_f16", 1, 32, {Words{64}, Words{128}, Words{64}, Words{64}}},
        Work{"matrices.cu", "wmma_f16", 1, 32, {Words{256}, Words{128}, Words{128}, Words{256}}},
        Work{
            "matrices.cu", "wmma_f16_tall", 1, 32, {Words{256}, Words{256}, Words{64}, Words{256}}},
        Work{"matrices.cu", "load_matrices", 1, 32, {Words{480}, Words{128}}},
        Work{"matrices.cu", "store_matrices", 1, 32, {Words{256}, Words{128}}},
        Work{"rewrite.cu", "waits", 4, 64, {Words{256}, Words{256}}},
        Work{"rewrite.cu", "waits_and_triggers", 2, 64, {Words{512}, Words{512}}},
        Work{"rewrite.cu", "leader_waits", 2, 64, {Words{500}, Words{500}, 500}}),
    [](const testing::TestParamInfo<Work>& work) { return std::string(work.param.kernel); });

}  // namespace
}  // namespace baton::conformance::rewrite_test
