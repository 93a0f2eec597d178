#include "sim/device/library.h"

#include <optional>
#include <string_view>
#include <unordered_set>
#include <variant>

#include "image/cubin/kernel_registers.h"
#include "ptx/version_error.h"
#include "sim/api/refusal.h"
#include "sim/device/device.h"
#include "sim/device/image_ptx.h"
#include "sim/device/module_check.h"
#include "sim/device/profile.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/memory/memory.h"

namespace baton::sim {
namespace {

// Memory of no device: a library's facts are looked up in a module that is placed here, so that
// they are known before any context is made.
DeviceMemory& facts_memory() {
  static auto& memory = *new DeviceMemory(kMaxOrdinal, kConstantBit);
  return memory;
}

// The compiler's own numbers. An image whose machine code is not readable has none.
std::unordered_map<std::string, std::uint32_t> registers_of(const void* image,
                                                            const chip::Chip& chip) {
  std::unordered_map<std::string, std::uint32_t> registers;
  try {
    const std::string cubin = cubin_of_image(image, chip.architecture);
    if (!cubin.empty()) registers = image::kernel_registers(cubin, chip.architecture);
  } catch (const Error&) {
    registers.clear();
  }
  return registers;
}

// What a chip runs of an image. A driver's compiler reads the whole module, so what it refuses is
// refused here too, where the caller's log takes the reason. `checked`: the module that was
// found right before; of several chips it is nearly always the same.
std::variant<LibraryCode, ImageRefusal> code_for(
    const void* image, const chip::Chip& chip, std::shared_ptr<const ptx::ParsedModule>* checked) {
  CUresult refused = CUDA_ERROR_INVALID_IMAGE;
  try {
    std::string text = ptx_of_image(image, chip.architecture);
    refused = CUDA_ERROR_INVALID_PTX;
    LibraryCode code;
    code.may_wait = text.find("griddepcontrol.wait") != std::string::npos;
    code.ptx = ptx::ParsedModule::of(std::move(text), "<ptx>");
    if (code.ptx != *checked) check_module(*code.ptx);
    *checked = code.ptx;
    code.facts = LoadedModule::load(code.ptx, facts_memory(), chip);
    code.registers = registers_of(image, chip);
    return code;
  } catch (const ptx::VersionError& failure) {
    return ImageRefusal{CUDA_ERROR_UNSUPPORTED_PTX_VERSION, failure};
  } catch (const Error& failure) {
    const bool unsupported = failure.code() == ErrorCode::kUnsupported;
    return ImageRefusal{unsupported ? CUDA_ERROR_NO_BINARY_FOR_GPU : refused, failure};
  }
}

}  // namespace

KernelSettings SimKernel::settings(int ordinal) const {
  std::lock_guard lock(mutex_);
  auto found = settings_.find(ordinal);
  return found != settings_.end() ? found->second : others_;
}

void SimKernel::change(int ordinal, const Change& change) {
  std::lock_guard lock(mutex_);
  const auto found = settings_.find(ordinal);
  const KernelSettings changed = change(found != settings_.end() ? found->second : others_);
  settings_[ordinal] = changed;
  if (auto function = functions_[ordinal].lock()) function->set(changed);
}

void SimKernel::set_registers(std::uint32_t registers) {
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

void SimKernel::attach(int ordinal, const std::shared_ptr<SimFunction>& function) {
  std::lock_guard lock(mutex_);
  const auto found = settings_.find(ordinal);
  function->set(found != settings_.end() ? found->second : others_);
  functions_[ordinal] = function;
}

SimFunction::SimFunction(std::shared_ptr<SimKernel> kernel, std::shared_ptr<Context> context,
                         std::shared_ptr<LoadedModule> module, const LoadedKernel* loaded)
    : kernel_(std::move(kernel)),
      context_(std::move(context)),
      module_(std::move(module)),
      loaded_(loaded) {}

KernelSettings SimFunction::settings() const {
  std::lock_guard lock(mutex_);
  return settings_;
}

void SimFunction::set(const KernelSettings& settings) {
  std::lock_guard lock(mutex_);
  settings_ = settings;
}

void SimFunction::change(const SimKernel::Change& change) {
  std::lock_guard lock(mutex_);
  settings_ = change(settings_);
}

std::shared_ptr<SimLibrary> SimLibrary::load(const void* image, const chip::Chip* wanted) {
  auto library = std::make_shared<SimLibrary>();
  std::optional<ImageRefusal> refusal;
  std::shared_ptr<const ptx::ParsedModule> checked;
  for (const Profile& profile : profiles()) {
    const chip::Chip& chip = profile.chip();
    if (library->codes_.contains(chip.architecture)) continue;
    auto code = code_for(image, chip, &checked);
    if (auto* loaded = std::get_if<LibraryCode>(&code)) {
      library->add_kernels(*loaded);
      library->codes_.emplace(chip.architecture, std::move(*loaded));
    } else if (!refusal || &chip == wanted) {
      refusal = std::move(std::get<ImageRefusal>(code));
    }
  }
  const bool serves =
      wanted == nullptr ? !library->codes_.empty() : library->codes_.contains(wanted->architecture);
  if (!serves) throw std::move(*refusal);
  library->set_registers();
  return library;
}

void SimLibrary::set_registers() {
  for (const SimDevice* device : SimDevice::all()) {
    const auto code = codes_.find(device->profile().chip().architecture);
    if (code == codes_.end()) continue;
    for (SimKernel& kernel : kernels_) {
      const auto known = code->second.registers.find(kernel.name());
      if (known == code->second.registers.end()) continue;
      kernel.change(device->ordinal(), [&](KernelSettings settings) {
        settings.registers = known->second;
        return settings;
      });
    }
  }
}

void SimLibrary::add_kernels(const LibraryCode& code) {
  std::unordered_set<std::string_view> known;
  for (const SimKernel& kernel : kernels_) known.insert(kernel.name());
  for (std::string& name : code.facts->kernel_names()) {
    if (known.contains(name)) continue;
    known.insert(kernels_.emplace_back(*this, std::move(name)).name());
  }
}

std::vector<std::shared_ptr<SimKernel>> SimLibrary::kernels() {
  std::vector<std::shared_ptr<SimKernel>> all;
  for (SimKernel& kernel : kernels_) all.emplace_back(shared_from_this(), &kernel);
  return all;
}

const LibraryCode& SimLibrary::on(const chip::Chip& chip) const {
  const auto found = codes_.find(chip.architecture);
  require(found != codes_.end(), CUDA_ERROR_NO_BINARY_FOR_GPU);
  return found->second;
}

const LoadedKernel& SimLibrary::facts(const SimKernel& kernel, const chip::Chip& chip) const {
  const LoadedKernel* found = on(chip).facts->kernel(kernel.name());
  require(found != nullptr, CUDA_ERROR_NOT_FOUND);
  return *found;
}

}  // namespace baton::sim
