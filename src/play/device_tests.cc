#include "play/device_tests.h"

#include <algorithm>
#include <array>

#include "baton/image.h"
#include "play/conditions.h"

namespace baton::play {
namespace {

// One thread. The value is 1, 2, 4 or 8 bytes wide. With a value other than 0 the steps are
// executed once more, but no more than `most` times: then `exceeded` becomes 1.
constexpr const char* kTestKernel = R"(.version 8.0
.target sm_80
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry baton_test(
  .param .u64 p_condition,
  .param .u64 p_value,
  .param .u32 p_width,
  .param .u32 p_first,
  .param .u64 p_most,
  .param .u64 p_total,
  .param .u64 p_iterations,
  .param .u64 p_exceeded
)
{
  .reg .b64 %condition, %at, %value, %most, %total, %iterations, %exceeded, %n, %t;
  .reg .b32 %width, %first, %go;
  .reg .pred %is, %on, %over;

  ld.param.u64 %condition, [p_condition];
  ld.param.u64 %at, [p_value];
  ld.param.u32 %width, [p_width];
  ld.param.u32 %first, [p_first];
  ld.param.u64 %most, [p_most];
  ld.param.u64 %total, [p_total];
  ld.param.u64 %iterations, [p_iterations];
  ld.param.u64 %exceeded, [p_exceeded];

  setp.eq.u32 %is, %width, 1;
  @%is ld.u8 %value, [%at];
  setp.eq.u32 %is, %width, 2;
  @%is ld.u16 %value, [%at];
  setp.eq.u32 %is, %width, 4;
  @%is ld.u32 %value, [%at];
  setp.eq.u32 %is, %width, 8;
  @%is ld.u64 %value, [%at];
  mov.u64 %n, 0;
  setp.eq.u32 %is, %first, 0;
  @%is ld.global.u64 %n, [%iterations];

  setp.ne.u64 %on, %value, 0;
  setp.ge.u64 %over, %n, %most;
  mov.u32 %go, 0;
  @!%on bra set;
  @%over bra exceed;
  mov.u32 %go, 1;
  add.u64 %n, %n, 1;
  ld.global.u64 %t, [%total];
  add.u64 %t, %t, 1;
  st.global.u64 [%total], %t;
  bra.uni set;
exceed:
  mov.u64 %t, 1;
  st.global.u64 [%exceeded], %t;
set:
  st.global.u64 [%iterations], %n;
  {
    .param .b64 a;
    .param .b32 b;
    st.param.b64 [a], %condition;
    st.param.b32 [b], %go;
    call.uni cudaGraphSetConditional, (a, b);
  }
  ret;
}
)";

constexpr std::size_t kParameters = 8;

}  // namespace

LaunchPlan make_condition_test(const Device& device) {
  const Module module =
      Module::load(device, Image::from_static(kTestKernel, "<the test of a condition>"));
  // The plan's own arguments are placeholders: each node brings its own.
  const std::uint64_t zero = 0;
  std::array<Argument, kParameters> arguments;
  arguments.fill({&zero, sizeof(std::uint64_t), false, std::nullopt});
  arguments[2].size = arguments[3].size = sizeof(std::uint32_t);
  LaunchConfig config;
  config.grid = config.block = Dim3(1);
  config.stream = device;
  return LaunchPlan(module.kernel("baton_test"), config, arguments);
}

DeviceTests::DeviceTests(std::shared_ptr<const LaunchPlan> test, std::size_t count,
                         const Stream& stream)
    : test_(std::move(test)),
      count_(count),
      memory_(stream.device(), count * kColumns * sizeof(std::uint64_t)) {
  memory_.set_name("the counts of conditions");
  memory_.fill(0, sizeof(std::uint64_t), count * kColumns, 0, stream);
}

std::size_t DeviceTests::number_of(const bind::RunStep& at, const bind::TapeCondition& condition) {
  const auto [entry, is_new] = numbers_.try_emplace({at.step, at.number}, conditions_.size());
  if (is_new) conditions_.push_back({at.step, condition.values.at_most});
  return entry->second;
}

NativeGraphNode DeviceTests::add_reset(Graph& graph, std::span<const GraphEdge> after) const {
  return graph.add_fill(place(kTotal, 0), 0, sizeof(std::uint64_t), count_, after);
}

NativeGraphNode DeviceTests::add_test(Graph& graph, std::span<const GraphEdge> after,
                                      std::size_t number, bool is_first, GraphCondition target,
                                      const bind::BufferTable& buffers) const {
  const Condition& condition = conditions_[number];
  const auto& planned = std::get<bind::PlannedCondition>(condition.step->action);
  const bind::BoundBuffer& tested = buffers[planned.test.buffer];
  DeviceAddress value = tested.address();
  auto width = static_cast<std::uint32_t>(tested.element_size());
  std::uint32_t first = is_first ? 1 : 0;
  std::uint64_t most = condition.at_most;
  DeviceAddress total = place(kTotal, number);
  DeviceAddress iterations = place(kIterations, number);
  DeviceAddress exceeded = place(kExceeded, number);
  void* const arguments[kParameters] = {&target, &value, &width,      &first,
                                        &most,   &total, &iterations, &exceeded};
  return graph.add(*test_, arguments, after);
}

DeviceTests::Counts DeviceTests::take_counts(const Stream& stream) const {
  std::vector<std::uint64_t> numbers(count_ * kColumns);
  memory_.download(numbers.data(), numbers.size() * sizeof(std::uint64_t), 0, stream);
  stream.synchronize();
  Counts counts;
  const auto exceeded = numbers.begin() + static_cast<std::ptrdiff_t>(kExceeded * count_);
  const auto found = std::find(exceeded, numbers.end(), std::uint64_t{1});
  if (found != numbers.end()) {
    memory_.fill(0, sizeof(std::uint64_t), count_, kExceeded * count_ * sizeof(std::uint64_t),
                 stream);
    const Condition& condition = conditions_[static_cast<std::size_t>(found - exceeded)];
    counts.failure = too_many_iterations(*condition.step, condition.at_most);
  }
  numbers.resize(count_);
  counts.executions = std::move(numbers);
  return counts;
}

}  // namespace baton::play
