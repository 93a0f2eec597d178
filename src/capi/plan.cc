#include "capi/arguments.h"
#include "capi/call.h"
#include "capi/launch_config.h"
#include "capi/stream_or_default.h"

using baton::Device;
using baton::LaunchPlan;
using baton::capi::Call;
using baton::capi::PlanContent;

namespace baton::capi {
namespace {

// Runs `body` on a plan, if no other thread is in it.
template <typename Body>
baton_error* call_plan(const char* function, baton_plan* plan, Body&& body) noexcept {
  return capi::call(function, [&](const Call& call) {
    PlanContent& content = call.get(plan, "plan");
    const Call::Turn turn(call, content.gate, baton_plan::kName);
    body(call, content);
  });
}

}  // namespace
}  // namespace baton::capi

baton_error* baton_plan_create(const baton_kernel* kernel, const baton_launch_config* config,
                               const baton_value* values, std::size_t count, baton_plan** plan) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_plan*& result = call.result(plan, "plan");
    const baton::Kernel& launched = call.get(kernel, "kernel");
    const baton::capi::GivenConfig given(call, config, launched);
    const baton::capi::ConvertedArguments arguments(launched, call.array(values, count, "values"),
                                                    given.device());
    result = baton::capi::make_handle<baton_plan>(
        LaunchPlan(launched, given.config(), arguments.all()), given.device(),
        baton::capi::HandleReference<baton_stream>(given.stream()));
  });
}

baton_error* baton_plan_set(baton_plan* plan, std::size_t index, baton_value value) {
  return baton::capi::call_plan(__func__, plan, [&](const Call& call, PlanContent& content) {
    const baton::Kernel& kernel = content.plan.kernel();
    if (const auto& params = kernel.facts().params) {
      call.require_index(index, params->size(), "arguments");
    }
    std::uint64_t slot = 0;
    content.plan.set_argument(
        index, baton::capi::convert_argument(kernel, index, value, content.device, slot));
  });
}

baton_error* baton_plan_set_grid(baton_plan* plan, std::uint32_t x, std::uint32_t y,
                                 std::uint32_t z) {
  return baton::capi::call_plan(__func__, plan, [&](const Call&, PlanContent& content) {
    content.plan.set_grid(baton::Dim3(x, y, z));
  });
}

baton_error* baton_plan_set_stream(baton_plan* plan, const baton_stream* stream) {
  return baton::capi::call_plan(__func__, plan, [&](const Call& call, PlanContent& content) {
    content.plan.set_stream(*baton::capi::StreamOrDefault(call, stream, content.device));
    content.stream = baton::capi::HandleReference<baton_stream>(stream);
  });
}

baton_error* baton_plan_launch(baton_plan* plan) {
  return baton::capi::call_plan(__func__, plan,
                                [](const Call&, PlanContent& content) { content.plan.launch(); });
}

void baton_plan_retain(baton_plan* plan) {
  baton::capi::retain(plan);
}

void baton_plan_release(baton_plan* plan) {
  baton::capi::release(plan);
}
