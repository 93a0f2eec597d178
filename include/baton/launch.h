#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "baton/attributes.h"
#include "baton/buffer.h"
#include "baton/dim3.h"
#include "baton/dtype.h"
#include "baton/error.h"
#include "baton/span.h"
#include "baton/stream.h"

namespace baton {

// The configuration of one launch. A plain value: cheap to copy, without heap memory. It refers to
// no object of the caller. It keeps the native handle of its stream, which must be valid when the
// launch is made; the Stream itself may have been moved.
struct LaunchConfig {
  Dim3 grid{};               // in blocks
  Dim3 block{};              // in threads
  std::uint32_t shared = 0;  // dynamic shared memory, in bytes a block
  // The place of the launch, which also decides its device: a Stream, or a Device for its legacy
  // default stream. The default is the legacy default stream of the kernel's own device.
  struct StreamRef {
    NativeStream native = nullptr;
    const DeviceIdentity* device = nullptr;
    NativeContext part = nullptr;  // as Stream::part
    std::uint32_t part_sms = 0;    // as Stream::part_sms
    StreamRef() = default;
    StreamRef(const Stream& stream)  // NOLINT: implicit by design
        : native(stream.native()),
          device(stream.device().identity()),
          part(stream.part()),
          part_sms(stream.part_sms()) {}
    StreamRef(const Device& on) : device(on.identity()) {}  // NOLINT: implicit by design
    // A foreign stream of `on`. Baton does not check that it belongs to `on`.
    StreamRef(NativeStream stream, const Device& on) : native(stream), device(on.identity()) {}
  } stream{};
  LaunchAttributes attributes{};  // {cluster(2), pdl()}
  // Accepts pdl() for a kernel that never waits. The caller answers for it that the kernel needs
  // nothing of the launches before it.
  bool force_pdl = false;

  bool pdl() const { return attributes.pdl(); }
  bool cooperative() const { return attributes.cooperative(); }
  std::optional<Dim3> cluster() const { return attributes.cluster(); }
};

// Dynamic shared memory as a LaunchConfig holds it. Throws kLimit for more than 32 bits can name.
inline std::uint32_t dynamic_shared_bytes(std::uint64_t bytes) {
  if (bytes > UINT32_MAX) {
    throw Error(ErrorCode::kLimit, std::to_string(bytes) +
                                       " bytes of dynamic shared memory were asked for; a launch "
                                       "takes less than 4 GiB");
  }
  return static_cast<std::uint32_t>(bytes);
}

// The result of a launch.
struct LaunchResult {
  // The node's handle, for device_updatable_node() in a captured launch. The graph owns it.
  NativeDeviceNode device_node = nullptr;
};

// The type of an argument, as far as the launch knows it. A launch checks it against the kernel's
// parameter.
struct ArgumentType {
  std::uint32_t size = 0;  // in bytes
  bool pointer = false;    // a device address
  // For a number of one of these types, or the address of such numbers.
  std::optional<DType> dtype;
};

// Returns the 64-bit FNV-1a hash of the argument types. Collisions are negligible.
//
// http://www.isthe.com/chongo/tech/comp/fnv/
template <std::size_t kCount>
constexpr std::uint64_t fingerprint(const std::array<ArgumentType, kCount>& types) {
  std::uint64_t hash = 0xCBF29CE484222325;
  const auto add = [&](std::uint64_t part) { hash = (hash ^ part) * 0x100000001B3; };
  for (const ArgumentType& type : types) {
    for (int shift = 0; shift < 32; shift += 8) add(type.size >> shift & 0xFF);
    add(type.pointer ? 1 : 0);
    add(type.dtype ? static_cast<std::uint64_t>(*type.dtype) + 1 : 0);
  }
  return hash;
}

// One argument as bytes. Refers to the bytes and does not own them.
struct Argument {
  const void* data = nullptr;
  std::uint32_t size = 0;
  bool pointer = false;
  std::optional<DType> dtype;

  ArgumentType type() const { return {size, pointer, dtype}; }
};

}  // namespace baton
