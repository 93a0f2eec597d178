#include "base/error.h"
#include "baton/module.h"
#include "runtime/context.h"
#include "runtime/module_state.h"

namespace baton {
namespace {

CUfunction_attribute function_attribute(int id) {
  return static_cast<CUfunction_attribute>(id);
}

KernelFacts facts_of_name(const char* name) {
  KernelFacts facts;
  facts.name = facts.demangled = name;
  return facts;
}

}  // namespace

Kernel Kernel::adopt(const Device& device, NativeFunction function) {
  const char* name = nullptr;
  ContextGuard guard(device);
  BATON_DRIVER_CALL(device.driver(), cuFuncGetName, &name, function);
  return Kernel(std::make_shared<const KernelState>(device, function, facts_of_name(name)));
}

Kernel Kernel::adopt(const Device& device, NativeKernel kernel) {
  const char* name = nullptr;
  ContextGuard guard(device);
  BATON_DRIVER_CALL(device.driver(), cuKernelGetName, &name, kernel);
  return Kernel(std::make_shared<const KernelState>(device, kernel, facts_of_name(name)));
}

const std::string& Kernel::name() const {
  return state_->facts().name;
}
const KernelFacts& Kernel::facts() const {
  return state_->facts();
}
std::optional<bool> Kernel::pdl() const {
  const auto& [waits, triggers] = std::tie(facts().waits, facts().triggers);
  if (waits == true || triggers == true) return true;
  return waits && triggers ? std::optional(false) : std::nullopt;
}
std::optional<bool> Kernel::cooperative() const {
  return facts().grid_sync;
}
std::optional<Dim3> Kernel::cluster() const {
  const auto& required = facts().required_cluster;
  if (!required) return std::nullopt;
  return Dim3{(*required)[0], (*required)[1], (*required)[2]};
}
[[gnu::hot]] const Device& Kernel::device() const {
  return state_->home();
}

Module Kernel::module() const {
  if (state_->module() == nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "kernel {} is an adopted function; its module is not known", name());
  }
  return Module(state_->module()->shared_from_this());
}

NativeKernel Kernel::native() const {
  return state_->handle();
}
NativeFunction Kernel::native_function() const {
  return state_->at_home().function();
}
NativeFunction Kernel::native_function(const Device& on) const {
  return state_->on(on).function();
}
std::uint32_t Kernel::max_threads() const {
  return max_threads(device());
}
std::uint32_t Kernel::max_threads(const Device& on) const {
  return state_->on(on).max_threads();
}
std::uint32_t Kernel::max_dynamic_shared() const {
  return max_dynamic_shared(device());
}
std::uint32_t Kernel::max_dynamic_shared(const Device& on) const {
  return state_->on(on).max_dynamic_shared();
}

int Kernel::attribute(int id) const {
  return attribute(id, device());
}
int Kernel::attribute(int id, const Device& on) const {
  return state_->on(on).attribute(function_attribute(id));
}
void Kernel::set_attribute(int id, int value) const {
  set_attribute(id, value, device());
}
void Kernel::set_attribute(int id, int value, const Device& on) const {
  state_->on(on).set_attribute(function_attribute(id), value);
}

}  // namespace baton
