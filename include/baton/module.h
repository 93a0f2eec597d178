#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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
  // The variable as memory that the module owns and keeps alive: for copies to and from it.
  Memory variable(std::string_view name) const;

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
inline DevicePointer<std::byte> stored(const Memory& value) {
  return {value.address()};
}
inline DevicePointer<std::byte> stored(std::nullptr_t) {
  return {};
}

template <typename T>
inline constexpr bool kIsPointer = false;
template <typename T>
inline constexpr bool kIsPointer<DevicePointer<T>> = true;

template <typename T>
constexpr std::optional<DType> dtype_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return DType::kBool;
  } else if constexpr (std::is_same_v<T, float>) {
    return DType::kF32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::kF64;
  } else if constexpr (std::is_enum_v<T>) {
    return dtype_of<std::underlying_type_t<T>>();
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
    constexpr DType kSigned[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};
    constexpr DType kUnsigned[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
    constexpr int kLog2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kLog2] : kUnsigned[kLog2];
  } else {
    return std::nullopt;
  }
}

template <typename T>
constexpr ArgumentType argument_type() {
  return {sizeof(T), kIsPointer<T>, dtype_of<T>()};
}

}  // namespace detail

// One entry of a loaded image. A cheap, shared value. Thread-safe: many threads may launch the same
// kernel at once.
class BATON_API Kernel {
 public:
  const std::string& name() const;
  const KernelFacts& facts() const;
  Module module() const;

  // Launches with typed arguments, in the kernel's own order: anything trivially copyable passes by
  // value, a Buffer, Memory or DevicePointer passes its address. Their count, sizes and kinds are
  // held against the kernel's parameters, the config against the limits of kernel and device.
  // Throws kInvalidInput for arguments that do not fit, kLimit with both numbers for a config
  // beyond a limit. A warm launch takes no lock, allocates nothing and looks nothing up.
  template <typename... Args>
  void launch(const LaunchConfig& config, const Args&... args) const {
    launch_stored(config, detail::stored(args)...);
  }

  // The same with arguments as bytes. Up to 64 of them take no heap memory.
  void launch_arguments(const LaunchConfig& config, std::span<const Argument> arguments) const;

  // The same with one pointer to each argument's bytes, as the driver takes them.
  void launch_packed(const LaunchConfig& config, void* const* arguments,
                     std::span<const ArgumentType> types) const;

  // Throw what a launch would throw for this config, or for arguments of these types, and launch
  // nothing.
  void check(const LaunchConfig& config) const;
  void check(std::span<const ArgumentType> types) const;

  // Resolves what the first launch would resolve, and raises the shared-memory opt-in to what a
  // launch with `shared` bytes of dynamic shared memory needs: after it, such launches change no
  // state but their stream's.
  void prepare(std::uint32_t shared = 0) const;

  // Threads that one block of this kernel can have at the most, by its registers and launch bounds.
  std::uint32_t max_threads() const;

  NativeKernel native() const;
  NativeFunction native_function() const;

  // Bytes of dynamic shared memory that one block can have at the most on this device: the opt-in
  // limit less the kernel's static shared memory.
  std::uint32_t max_dynamic_shared() const;

 private:
  friend class Module;
  Kernel(std::shared_ptr<ModuleState> module, KernelState* state)
      : module_(std::move(module)), state_(state) {}

  template <typename... Stored>
  void launch_stored(const LaunchConfig& config, const Stored&... values) const {
    static constexpr std::array<ArgumentType, sizeof...(Stored)> kTypes = {
        detail::argument_type<Stored>()...};
    // The null makes an array of no arguments legal.
    void* const arguments[] = {
        const_cast<void*>(static_cast<const void*>(std::addressof(values)))..., nullptr};
    launch_packed(config, arguments, kTypes);
  }

  std::shared_ptr<ModuleState> module_;
  KernelState* state_;  // owned by the module's state
};

}  // namespace baton
