#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "baton/compile.h"
#include "baton/device.h"
#include "baton/error.h"
#include "baton/forward.h"
#include "baton/image.h"
#include "baton/launch.h"
#include "baton/span.h"

namespace baton {

class ModuleState;
class KernelState;
// A loaded image. A cheap, shared value: a kernel keeps its module alive, and the last of them
// unloads it. It serves every device of its driver that accepts the image; a launch's stream
// decides which. Thread-safe.
class BATON_API Module {
 public:
  // Loads one image, or the best of several images of the same kernels: machine code for the
  // device, otherwise PTX. Throws kInvalidInput with the image and the device if none fits, and
  // with the driver's log if there is one. Examples are a cubin without PTX on the simulated GPU,
  // and another architecture.
  static Module load(const Device& device, const Image& image);
  static Module load(const Device& device, Span<const Image> images);
  static Module load(const Device& device, const Compiled& compiled);
  // Uses a foreign library without owning it. It must stay loaded as long as the Module and its
  // kernels. Baton knows its kernels only from the driver: parameters have sizes and no types.
  static Module adopt(const Device& device, NativeLibrary library);

  // Returns the kernel that `entry` names, by the rules of `find_kernel` and the compile's name
  // expressions. An empty entry names the only kernel. Throws kNotFound with the available entries.
  Kernel kernel(std::string_view entry = {}) const;

  // Loads every kernel now. A driver that loads lazily does so at a kernel's first launch, and may
  // wait for the device then: beside a kernel that waits for that launch it would wait for ever.
  // The default is the module's device. Throws the errors of a first launch.
  void load_kernels() const;
  void load_kernels(const Device& on) const;

  // The device for which the module was loaded.
  const Device& device() const;
  // The joined facts of the images from which the module was loaded.
  const ImageFacts& facts() const;

  // Returns the address and the bytes of a __device__ or __constant__ variable, by its symbol or
  // its name in the source ("ns::table"). Every device has
  // its own copy; the default is the module's device. Throws kNotFound with the available names.
  std::pair<DeviceAddress, std::size_t> global(std::string_view name) const;
  std::pair<DeviceAddress, std::size_t> global(std::string_view name, const Device& on) const;
  // Returns the variable as memory, for copies to and from it. The result keeps the module loaded.
  Memory variable(std::string_view name) const;
  Memory variable(std::string_view name, const Device& on) const;

  NativeLibrary native() const;

 private:
  friend class Kernel;
  explicit Module(std::shared_ptr<ModuleState> state) : state_(std::move(state)) {}
  std::shared_ptr<ModuleState> state_;
};

namespace detail {

// Views of host memory in the standard library that copy as bytes.
template <typename T, typename = void>
inline constexpr bool kIsHostView = false;
template <typename T>
inline constexpr bool kIsHostView<
    T, std::enable_if_t<std::is_base_of_v<std::random_access_iterator_tag,
                                          typename std::iterator_traits<T>::iterator_category>>> =
    true;
template <typename T>
inline constexpr bool kIsHostView<Span<T>> = true;
#if defined(__cpp_lib_span)
template <typename T, std::size_t kExtent>
inline constexpr bool kIsHostView<std::span<T, kExtent>> = true;
#endif
template <typename Char, typename Traits>
inline constexpr bool kIsHostView<std::basic_string_view<Char, Traits>> = true;
template <typename T>
inline constexpr bool kIsHostView<std::initializer_list<T>> = true;

// The types that pass by value: everything that is copied as bytes, except host addresses and types
// that contain only one. A kernel cannot read through a host address.
template <typename T>
inline constexpr bool kIsKernelArgument =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T> &&
    !std::is_member_pointer_v<T> && !kIsHostView<T>;

// Returns the stored form of an argument while its launch is packed: the value itself, or the
// device pointer of a buffer.
template <typename T, typename = std::enable_if_t<kIsKernelArgument<T>>>
const T& stored(const T& value) {
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

template <typename T, typename = void>
inline constexpr bool kPassesToKernel = false;
template <typename T>
inline constexpr bool
    kPassesToKernel<T, std::void_t<decltype(detail::stored(std::declval<const T&>()))>> = true;

template <typename T>
constexpr std::optional<DType> dtype_of() {
  if constexpr (std::is_void_v<T> || std::is_same_v<T, std::byte>) {
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, bool>) {
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
struct ArgumentTypeOf {
  static constexpr ArgumentType kValue{sizeof(T), false, dtype_of<T>()};
};
template <typename T>
struct ArgumentTypeOf<DevicePointer<T>> {
  static constexpr ArgumentType kValue{sizeof(DevicePointer<T>), true,
                                       dtype_of<std::remove_cv_t<T>>()};
};

template <typename T>
constexpr ArgumentType argument_type() {
  return ArgumentTypeOf<T>::kValue;
}

}  // namespace detail

// One entry of a loaded image. A cheap, shared value that keeps its module loaded. Thread-safe:
// several threads may launch the same kernel at once, on any of the driver's devices.
class BATON_API Kernel {
 public:
  // Uses a foreign function, which belongs to `device`, or a foreign kernel, which serves every
  // device. It must outlive the Kernel. Baton knows it only from the driver: its parameters have
  // sizes and no types. The driver does not report whether a grid is counted in clusters
  // (`__block_size__`), so the caller must count such a grid in clusters.
  static Kernel adopt(const Device& device, NativeFunction function);
  static Kernel adopt(const Device& device, NativeKernel kernel);

  const std::string& name() const;
  const KernelFacts& facts() const;
  // The launch that the code requires; empty if its image does not say. `pdl`: it waits on or
  // triggers programmatic launches. `cooperative`: its blocks synchronise across the grid
  // (grid.sync(), known only from PTX). `cluster`: it was compiled for clusters of this shape.
  std::optional<bool> pdl() const;
  std::optional<bool> cooperative() const;
  std::optional<Dim3> cluster() const;
  // Throws kInvalidInput for an adopted function: its module is unknown.
  Module module() const;
  // The device for which its module was loaded. Launches run there unless a stream says otherwise.
  const Device& device() const;

  // Launches with typed arguments in the kernel's parameter order. A trivially copyable value
  // passes by value; a Buffer, Memory or DevicePointer passes its address. The arguments' memory
  // must stay allocated until the kernel has completed.
  //
  // Checks count, sizes and kinds of the arguments against the kernel's parameters, and the config
  // against the limits of kernel and device. Throws kInvalidInput for arguments that do not fit,
  // kLimit with both numbers for a config above a limit, and kUnsupported for an attribute that the
  // device or driver lacks. Messages count arguments from 0. A launch after the first takes no
  // lock, allocates nothing and looks nothing up.
  template <typename... Args, std::enable_if_t<(detail::kPassesToKernel<Args> && ...), int> = 0>
  LaunchResult launch(const LaunchConfig& config, const Args&... args) const {
    return launch_stored(config, detail::stored(args)...);
  }
  // A raw pointer may be a host's: pass device_pointer(p), or DevicePointer<float>{address}.
  template <typename... Args, std::enable_if_t<(std::is_pointer_v<Args> || ...), int> = 0>
  LaunchResult launch(const LaunchConfig& config,
                      const Args&... pass_device_pointer_of_p) const = delete;

  // The same with arguments as bytes. Up to 64 arguments need no heap memory.
  LaunchResult launch_arguments(const LaunchConfig& config, Span<const Argument> arguments) const;

  // The same with one pointer to each argument's bytes, as for the driver.
  LaunchResult launch_packed(const LaunchConfig& config, void* const* arguments,
                             Span<const ArgumentType> types) const;

  // The raw path: the driver's call with Baton's config, at the driver's cost. Baton checks
  // nothing; it only raises the opt-ins (shared memory, large clusters) if necessary. `arguments`
  // has one pointer for each parameter. `more` joins the config's attributes by the rules of
  // `LaunchAttributes::set`; ids and values that Baton does not know pass unchanged. Returns the
  // driver's result and never throws; `diagnose` explains the result. If `result` is not null, it
  // receives the handle of a device-updatable node.
  NativeResult launch_raw(const LaunchConfig& config, void* const* arguments,
                          Span<const LaunchAttribute> more = {},
                          LaunchResult* result = nullptr) const noexcept;

  // The same with the driver's own config (baton/cuda.h; baton/cuda_runtime.h makes one from a
  // cudaLaunchConfig_t), which passes unchanged. The driver writes handles into its attributes.
  // `on` is the device of its stream; the default is the kernel's own.
  NativeResult launch_raw(const NativeLaunchConfig& config, void* const* arguments) const noexcept;
  NativeResult launch_raw(const NativeLaunchConfig& config, void* const* arguments,
                          const Device& on) const noexcept;

  // Returns the error for a launch with this config that the driver rejected: the limit that was
  // exceeded, with both numbers.
  Error diagnose(const LaunchConfig& config, NativeResult result) const;
  // The same for the driver's own config; `on` as for `launch_raw`.
  Error diagnose(const NativeLaunchConfig& config, NativeResult result) const;
  Error diagnose(const NativeLaunchConfig& config, NativeResult result, const Device& on) const;

  // Throw the errors of a launch with this config, or with arguments of these types, without
  // launching. They also check what a launch leaves to the driver: the number of clusters, or of
  // blocks of a cooperative grid, that fit on the device at once.
  void check(const LaunchConfig& config) const;
  void check(Span<const ArgumentType> types) const;

  // Resolves what the first launch would resolve, and raises the opt-ins for a launch with this
  // config. After that, such launches change no state except their stream's, and are safe while a
  // stream is captured.
  void prepare(const LaunchConfig& config = {}) const;

  // The blocks of this shape that one multiprocessor holds at once.
  std::uint32_t blocks_per_multiprocessor(const LaunchConfig& config) const;
  // The clusters of the config's shape that the device holds at once.
  std::uint32_t max_active_clusters(const LaunchConfig& config) const;
  // The blocks of the largest cluster that the config allows.
  std::uint32_t max_cluster_size(const LaunchConfig& config) const;
  // The blocks of the largest cooperative grid with the config's block and shared memory.
  std::uint64_t max_cooperative_blocks(const LaunchConfig& config) const;

  // The most threads in a block of this kernel, by its registers and launch bounds.
  std::uint32_t max_threads() const;
  std::uint32_t max_threads(const Device& on) const;
  // The most dynamic shared memory of a block, in bytes: the device's opt-in limit less the
  // kernel's static shared memory.
  std::uint32_t max_dynamic_shared() const;
  std::uint32_t max_dynamic_shared(const Device& on) const;

  // Any CUfunction_attribute by its number, on the kernel's own device or on another one. A set
  // value stays until a launch needs more.
  int attribute(int id) const;
  int attribute(int id, const Device& on) const;
  void set_attribute(int id, int value) const;
  void set_attribute(int id, int value, const Device& on) const;

  // Null for an adopted function.
  NativeKernel native() const;
  NativeFunction native_function() const;
  NativeFunction native_function(const Device& on) const;

 private:
  friend class Module;
  friend class LaunchPlan;
  explicit Kernel(std::shared_ptr<const KernelState> state) : state_(std::move(state)) {}

  template <typename... Stored>
  LaunchResult launch_stored(const LaunchConfig& config, const Stored&... values) const {
    static constexpr std::array<ArgumentType, sizeof...(Stored)> kTypes = {
        detail::argument_type<Stored>()...};
    // Exactly as long as the list: a compiler fills a longer array with zeros first, which costs as
    // much as the rest.
    void* const arguments[sizeof...(Stored) != 0 ? sizeof...(Stored) : 1] = {
        const_cast<void*>(static_cast<const void*>(std::addressof(values)))...};
    static constexpr std::uint64_t kFingerprint = fingerprint(kTypes);
    return launch_known(config, arguments, kTypes, kFingerprint);
  }
  // For a device on which the kernel was not resolved yet.
  NativeResult launch_raw_first(const NativeLaunchConfig& config, void* const* arguments,
                                const Device& on) const noexcept;
  // Launches with types that have this fingerprint. The kernel recognises types that it has
  // accepted before by the fingerprint.
  LaunchResult launch_known(const LaunchConfig& config, void* const* arguments,
                            Span<const ArgumentType> types, std::uint64_t fingerprint) const;

  std::shared_ptr<const KernelState> state_;
};

}  // namespace baton
