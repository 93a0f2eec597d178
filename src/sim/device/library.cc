#include "sim/device/library.h"

#include <variant>

#include "sim/device/profile.h"
#include "sim/engine/memory/memory.h"

namespace baton::sim {
namespace {

// Memory of no device: a library's facts are looked up in a module that is placed here, so that
// they are known before any context is made.
DeviceMemory& facts_memory() {
  static auto& memory =
      *new DeviceMemory(static_cast<int>(profiles().size()), std::uint64_t{1} << 40);
  return memory;
}

}  // namespace

KernelSettings Kernel::settings(int ordinal) const {
  std::lock_guard lock(mutex_);
  auto found = settings_.find(ordinal);
  return found != settings_.end() ? found->second : others_;
}

void Kernel::change(int ordinal, const Change& change) {
  std::lock_guard lock(mutex_);
  const auto found = settings_.find(ordinal);
  const KernelSettings changed = change(found != settings_.end() ? found->second : others_);
  settings_[ordinal] = changed;
  if (auto function = functions_[ordinal].lock()) function->set(changed);
}

void Kernel::set_registers(std::uint32_t registers) {
  std::lock_guard lock(mutex_);
  others_.registers = registers;
  for (auto& [ordinal, settings] : settings_) settings.registers = registers;
  for (auto& [ordinal, placed] : functions_) {
    const auto function = placed.lock();
    if (function == nullptr) continue;
    function->change([&](KernelSettings settings) {
      settings.registers = registers;
      return settings;
    });
  }
}

void Kernel::attach(int ordinal, const std::shared_ptr<Function>& function) {
  std::lock_guard lock(mutex_);
  const auto found = settings_.find(ordinal);
  function->set(found != settings_.end() ? found->second : others_);
  functions_[ordinal] = function;
}

Function::Function(std::shared_ptr<Kernel> kernel, std::shared_ptr<Context> context,
                   std::shared_ptr<LoadedModule> module, const LoadedKernel* loaded)
    : kernel_(std::move(kernel)),
      context_(std::move(context)),
      module_(std::move(module)),
      loaded_(loaded) {}

KernelSettings Function::settings() const {
  std::lock_guard lock(mutex_);
  return settings_;
}

void Function::set(const KernelSettings& settings) {
  std::lock_guard lock(mutex_);
  settings_ = settings;
}

void Function::change(const Kernel::Change& change) {
  std::lock_guard lock(mutex_);
  settings_ = change(settings_);
}

std::shared_ptr<Library> Library::load(std::string ptx) {
  auto library = std::make_shared<Library>();
  library->may_wait_ = ptx.find("griddepcontrol.wait") != std::string::npos;
  library->ptx_ = ptx::Module::of(std::move(ptx), "<ptx>");
  // A driver's compiler reads the whole module, so a body that does not parse is refused here too,
  // where the caller's log takes the reason.
  for (const ptx::TopLevel& item : library->ptx_->items()) {
    const auto* function = std::get_if<ptx::Function>(&item);
    if (function != nullptr && function->has_body) function->body();
  }
  library->facts_ =
      LoadedModule::load(library->ptx_, facts_memory(), profiles().front().architecture());
  for (std::string& name : library->facts_->kernel_names()) {
    library->kernels_.emplace_back(*library, std::move(name));
  }
  return library;
}

std::vector<std::shared_ptr<Kernel>> Library::kernels() {
  std::vector<std::shared_ptr<Kernel>> all;
  for (Kernel& kernel : kernels_) all.emplace_back(shared_from_this(), &kernel);
  return all;
}

const LoadedKernel& Library::facts(const Kernel& kernel) const {
  return *facts_->kernel(kernel.name());
}

}  // namespace baton::sim
