#include "baton/module.h"

#include <utility>

#include "base/error.h"
#include "base/text/suggest.h"
#include "baton/link.h"
#include "image/find_variable.h"
#include "runtime/context.h"
#include "runtime/module_state.h"

namespace baton {

Module Module::load(const Device& device, const Image& image) {
  return load(device, Span(&image, 1));
}

Module Module::load(const Device& device, Span<const Image> images) {
  return Module(std::make_shared<ModuleState>(device, images,
                                              std::vector<std::pair<std::string, std::string>>{}));
}

Module Module::load(const Device& device, const Compiled& compiled) {
  std::vector<Image> images;
  if (compiled.cubin) images.push_back(*compiled.cubin);
  images.push_back(compiled.ptx);
  return Module(std::make_shared<ModuleState>(device, images, compiled.symbols));
}

Module compile(const Device& device, const Source& source, const CompileOptions& options) {
  CompileOptions for_device = options;
  if (for_device.arch.empty()) for_device.arch = device.compile_arch();
  return Module::load(device, compile(source, for_device));
}

Module link(const Device& device, const std::vector<LinkInput>& inputs,
            const CompileOptions& options) {
  CompileOptions for_device = options;
  if (for_device.arch.empty()) for_device.arch = device.compile_arch();
  Linked linked = link(inputs, for_device);
  if (!linked.ptx) return Module::load(device, *linked.cubin);
  return Module::load(device, Compiled{*linked.ptx, linked.cubin, linked.symbols, {}, linked.log});
}

Module Module::adopt(const Device& device, NativeLibrary library) {
  return Module(std::make_shared<ModuleState>(device, DriverLibrary::adopt(device, library)));
}

Kernel Module::kernel(std::string_view entry) const {
  return Kernel(std::shared_ptr<const KernelState>(state_, &state_->kernel(entry)));
}

void Module::load_kernels() const {
  load_kernels(device());
}

void Module::load_kernels(const Device& on) const {
  for (const KernelFacts& kernel : facts().kernels) state_->kernel(kernel.name).on(on);
}

const Device& Module::device() const {
  return state_->device();
}
const ImageFacts& Module::facts() const {
  return state_->facts();
}
NativeLibrary Module::native() const {
  return state_->library().handle();
}

std::pair<DeviceAddress, std::size_t> Module::global(std::string_view name) const {
  return global(name, device());
}

std::pair<DeviceAddress, std::size_t> Module::global(std::string_view name,
                                                     const Device& on) const {
  const driver::Driver& driver = on.driver();
  ContextGuard guard(on);
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  const std::string symbol(image::find_variable(facts(), name));
  const CUresult result =
      driver.cuLibraryGetGlobal(&address, &bytes, state_->library().handle(), symbol.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) {
    std::vector<std::string> known;
    for (const VariableFacts& variable : facts().variables) {
      known.push_back(image::source_name(variable));
    }
    throw error(ErrorCode::kNotFound, "{} has no variable \"{}\"{}", state_->name(), name,
                suggestion(name, known));
  }
  driver::check(driver, result, "cuLibraryGetGlobal");
  return {address, bytes};
}

Memory Module::variable(std::string_view name) const {
  return variable(name, device());
}

Memory Module::variable(std::string_view name, const Device& on) const {
  const auto [address, bytes] = global(name, on);
  return Memory::adopt(on, address, bytes, state_);
}

}  // namespace baton
