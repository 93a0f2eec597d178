#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "baton/compile.h"
#include "baton/device.h"
#include "baton/error.h"
#include "baton/image.h"
#include "baton/launch.h"

namespace baton {

class ModuleState;
class KernelState;
class Kernel;

// A loaded image. A cheap, shared value: a kernel keeps its module alive, and the last of them
// unloads it. It serves every device of the driver that it was loaded with and that the image
// suits: the stream of a launch decides which. Thread-safe.
class BATON_API Module {
 public:
  // Loads one image, or the best of several images of the same kernels: machine code that suits the
  // device, else PTX. Throws kInvalidInput naming the image and the device where none suits (a
  // cubin without PTX on the simulated GPU, an architecture that the device is not), with the
  // driver's log where it has one.
  static Module load(const Device& device, const Image& image);
  static Module load(const Device& device, std::span<const Image> images);
  static Module load(const Device& device, const Compiled& compiled);
  // Takes a foreign library, which must stay loaded as long as the Module and its kernels live.
  // What is known of its kernels is what the driver says: parameters have sizes and no types.
  static Module adopt(const Device& device, NativeLibrary library);

  // The kernel that `entry` names, by the rules of `find_kernel` and the compile's name
  // expressions; the only kernel where it is left out. Throws kNotFound with the entries there are.
  Kernel kernel(std::string_view entry = {}) const;

  // The device that it was loaded for.
  const Device& device() const;
  // What all images that it was loaded from say together.
  const ImageFacts& facts() const;

  // Address and bytes of a __device__ or __constant__ variable, of which every device has its own;
  // on the module's device where none is named. Throws kNotFound with the names there are.
  std::pair<DeviceAddress, std::size_t> global(std::string_view name) const;
  std::pair<DeviceAddress, std::size_t> global(std::string_view name, const Device& on) const;
  // The variable as memory that the module owns and keeps alive: for copies to and from it.
  Memory variable(std::string_view name) const;
  Memory variable(std::string_view name, const Device& on) const;

  NativeLibrary native() const;

 private:
  friend class Kernel;
  explicit Module(std::shared_ptr<ModuleState> state) : state_(std::move(state)) {}
  std::shared_ptr<ModuleState> state_;
};

namespace detail {

// Views of host memory of the standard library that copy as bytes.
template <typename T>
inline constexpr bool kIsHostView = std::contiguous_iterator<T>;
template <typename T, std::size_t kExtent>
inline constexpr bool kIsHostView<std::span<T, kExtent>> = true;
template <typename Char, typename Traits>
inline constexpr bool kIsHostView<std::basic_string_view<Char, Traits>> = true;
template <typename T>
inline constexpr bool kIsHostView<std::initializer_list<T>> = true;

// What passes by value: anything that is copied as bytes, but no host address, in whatever guise
// types show, which no kernel can read through.
template <typename T>
concept KernelArgument = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                         !std::is_array_v<T> && !std::is_member_pointer_v<T> && !kIsHostView<T>;

// What stands for an argument while its launch is packed: the value itself, or the device pointer
// that a buffer converts to.
template <KernelArgument T>
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

template <typename T>
concept PassedToKernel = requires(const T& value) {
  detail::stored(value);
};

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

// One entry of a loaded image. A cheap, shared value that keeps its module loaded. Thread-safe:
// many threads may launch the same kernel at once, on any of the driver's devices.
class BATON_API Kernel {
 public:
  // Takes a foreign function, which belongs to `device`, or a foreign kernel, which serves every
  // device; it must outlive the Kernel. What is known of it is what the driver says: its parameters
  // have sizes, no types, and that a grid is counted in clusters (`__block_size__`) nobody says, so
  // such a grid is the caller's to count.
  static Kernel adopt(const Device& device, NativeFunction function);
  static Kernel adopt(const Device& device, NativeKernel kernel);

  const std::string& name() const;
  const KernelFacts& facts() const;
  // How its code wants to be launched; nothing where its image does not say. It waits on or
  // triggers programmatic launches; its blocks meet across the grid (grid.sync(), known from PTX
  // alone); it was compiled for clusters of this shape.
  std::optional<bool> pdl() const;
  std::optional<bool> cooperative() const;
  std::optional<Dim3> cluster() const;
  // Throws kInvalidInput for an adopted function, whose module is not known.
  Module module() const;
  // The device that its module was loaded for: where it runs unless a stream says otherwise.
  const Device& device() const;

  // Launches with typed arguments, in the kernel's own order: anything trivially copyable passes by
  // value, a Buffer, Memory or DevicePointer passes its address. Their count, sizes and kinds are
  // held against the kernel's parameters, the config against the limits of kernel and device.
  // Throws kInvalidInput for arguments that do not fit, kLimit with both numbers for a config
  // beyond a limit, kUnsupported for an attribute that device or driver lacks; messages count
  // arguments from 0. A warm launch takes
  // no lock, allocates nothing and looks nothing up.
  template <detail::PassedToKernel... Args>
  LaunchResult launch(const LaunchConfig& config, const Args&... args) const {
    return launch_stored(config, detail::stored(args)...);
  }

  // The same with arguments as bytes. Up to 64 of them take no heap memory.
  LaunchResult launch_arguments(const LaunchConfig& config,
                                std::span<const Argument> arguments) const;

  // The same with one pointer to each argument's bytes, as the driver takes them.
  LaunchResult launch_packed(const LaunchConfig& config, void* const* arguments,
                             std::span<const ArgumentType> types) const;

  // The raw path: the driver's call with Baton's config, at its price. Nothing is checked before
  // the driver does, but for the opt-ins (shared memory, large clusters), which are raised where
  // they have to be. `arguments` holds one pointer for each parameter; `more` joins the config's
  // attributes by the rules of `LaunchAttributes::set`, values and ids that Baton does not know as
  // they are. Gives the driver's result, never throws: `diagnose` says what is wrong. The handle of
  // a device-updatable node is written to `result` where that is not null.
  NativeResult launch_raw(const LaunchConfig& config, void* const* arguments,
                          std::span<const LaunchAttribute> more = {},
                          LaunchResult* result = nullptr) const noexcept;

  // The same with the driver's own config (baton/cuda.h; baton/cuda_runtime.h makes one of a
  // cudaLaunchConfig_t), which is handed over as it is. The handles that the driver writes are in
  // its attributes. `on` is the device of its stream; left out, the kernel's own.
  NativeResult launch_raw(const NativeLaunchConfig& config, void* const* arguments) const noexcept;
  NativeResult launch_raw(const NativeLaunchConfig& config, void* const* arguments,
                          const Device& on) const noexcept;

  // Why the driver refused a launch with this config: which limit broke, with both numbers.
  Error diagnose(const LaunchConfig& config, NativeResult result) const;
  // The same for the driver's own config; `on` as in `launch_raw`.
  Error diagnose(const NativeLaunchConfig& config, NativeResult result) const;
  Error diagnose(const NativeLaunchConfig& config, NativeResult result, const Device& on) const;

  // Throw what a launch would throw for this config, or for arguments of these types, and launch
  // nothing. The config is held against everything, also what a launch leaves to the driver: how
  // many clusters, or blocks of a cooperative grid, fit on the device at once.
  void check(const LaunchConfig& config) const;
  void check(std::span<const ArgumentType> types) const;

  // Resolves what the first launch would resolve, and raises the opt-ins to what a launch with this
  // config needs: after it, such launches change no state but their stream's, and are safe while a
  // stream is captured.
  void prepare(const LaunchConfig& config = {}) const;

  // Blocks of this shape that one multiprocessor holds at once.
  std::uint32_t blocks_per_multiprocessor(const LaunchConfig& config) const;
  // Clusters of the config's shape that the device holds at once.
  std::uint32_t max_active_clusters(const LaunchConfig& config) const;
  // Blocks of the largest cluster that the config could have.
  std::uint32_t max_cluster_size(const LaunchConfig& config) const;
  // Blocks of the largest cooperative grid with the config's block and shared memory.
  std::uint64_t max_cooperative_blocks(const LaunchConfig& config) const;

  // Threads that one block of this kernel can have at the most, by its registers and launch bounds.
  std::uint32_t max_threads() const;
  std::uint32_t max_threads(const Device& on) const;
  // Bytes of dynamic shared memory that one block can have at the most: the device's opt-in limit
  // less the kernel's static shared memory.
  std::uint32_t max_dynamic_shared() const;
  std::uint32_t max_dynamic_shared(const Device& on) const;

  // Any CUfunction_attribute by its number, on the kernel's own device or another. A value that is
  // set stays until a launch needs more.
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
    // As long as the list is: a compiler fills one that is longer with zeros first, which takes as
    // long as all the rest.
    void* const arguments[sizeof...(Stored) != 0 ? sizeof...(Stored) : 1] = {
        const_cast<void*>(static_cast<const void*>(std::addressof(values)))...};
    static constexpr std::uint64_t kFingerprint = fingerprint(kTypes);
    return launch_known(config, arguments, kTypes, kFingerprint);
  }
  // Types that the kernel has accepted once are known by their fingerprint from then on.
  LaunchResult launch_known(const LaunchConfig& config, void* const* arguments,
                            std::span<const ArgumentType> types, std::uint64_t fingerprint) const;

  std::shared_ptr<const KernelState> state_;
};

}  // namespace baton
