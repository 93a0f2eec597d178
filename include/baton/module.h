#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "baton/compile.h"
#include "baton/device.h"
#include "baton/image.h"
#include "baton/launch.h"

namespace baton {

class ModuleState;
struct KernelState;
class Kernel;

// A loaded image. A cheap, shared value: a kernel keeps its module alive, and the last of them
// unloads it. Thread-safe.
class BATON_API Module {
 public:
  // Loads one image, or the best of several images of the same kernels: machine code that suits the
  // device, else PTX. Throws kInvalidInput naming the image and the device where none suits (a
  // cubin without PTX on the simulated GPU, an architecture that the device is not), with the
  // driver's log where it has one.
  static Module load(const Device& device, const Image& image);
  static Module load(const Device& device, std::span<const Image> images);
  static Module load(const Device& device, const Compiled& compiled);

  // The kernel that `entry` names, by the rules of `find_kernel` and the compile's name
  // expressions; the only kernel where it is left out. Throws kNotFound with the entries there are.
  Kernel kernel(std::string_view entry = {}) const;

  const Device& device() const;
  // What all images that it was loaded from say together.
  const ImageFacts& facts() const;

  // Address and bytes of a __device__ or __constant__ variable on the module's device. Throws
  // kNotFound with the names there are.
  std::pair<DeviceAddress, std::size_t> global(std::string_view name) const;

  NativeLibrary native() const;

 private:
  friend class Kernel;
  explicit Module(std::shared_ptr<ModuleState> state) : state_(std::move(state)) {}
  std::shared_ptr<ModuleState> state_;
};

namespace detail {

// What stands for an argument while its launch is packed: the value itself, or the device pointer
// that a buffer converts to.
template <typename T>
const T& stored(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>,
                "a kernel argument is copied as bytes: it must be trivially copyable");
  static_assert(!std::is_pointer_v<T>,
                "a host pointer is no kernel argument: pass a Buffer or a DevicePointer");
  return value;
}
template <typename T>
DevicePointer<T> stored(const Buffer<T>& value) {
  return value.data();
}

template <typename T>
inline constexpr bool kIsPointer = false;
template <typename T>
inline constexpr bool kIsPointer<DevicePointer<T>> = true;

template <typename T>
Argument argument(const T& value) {
  return {&value, sizeof(T), kIsPointer<T>};
}

}  // namespace detail

// One entry of a loaded image. A cheap, shared value. Thread-safe: many threads may launch the same
// kernel at once.
class BATON_API Kernel {
 public:
  const std::string& name() const;
  const KernelFacts& facts() const;
  Module module() const;

  // Launches with typed arguments, in the kernel's own order. Their count and sizes are held
  // against the kernel's parameters, the config against the device's limits. Throws kInvalidInput
  // for arguments that do not fit, kLimit with both numbers for a config beyond a limit. A warm
  // launch takes no lock, allocates nothing and looks nothing up.
  template <typename... Args>
  void launch(const LaunchConfig& config, const Args&... args) const {
    if constexpr (sizeof...(Args) == 0) {
      launch_arguments(config, {});
    } else {
      const std::tuple<decltype(detail::stored(args))...> values(detail::stored(args)...);
      const auto arguments = std::apply(
          [](const auto&... value) {
            return std::array<Argument, sizeof...(Args)>{detail::argument(value)...};
          },
          values);
      launch_arguments(config, arguments);
    }
  }

  // The same with arguments as bytes.
  void launch_arguments(const LaunchConfig& config, std::span<const Argument> arguments) const;

  NativeKernel native() const;
  NativeFunction native_function() const;

  // Bytes of dynamic shared memory that one block can have at the most on this device: the opt-in
  // limit less the kernel's static shared memory.
  std::uint32_t max_dynamic_shared() const;

 private:
  friend class Module;
  Kernel(std::shared_ptr<ModuleState> module, KernelState* state)
      : module_(std::move(module)), state_(state) {}
  std::shared_ptr<ModuleState> module_;
  KernelState* state_;  // owned by the module's state
};

}  // namespace baton
