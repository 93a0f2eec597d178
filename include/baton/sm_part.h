#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "baton/device.h"
#include "baton/forward.h"
#include "baton/native.h"
#include "baton/span.h"

namespace baton {

class GreenPart;

// Part of a device's multiprocessors (SMs). Kernels in a Stream of a part run on its SMs alone. A
// part is a green context of the driver. A cheap value; copies and streams share one part, and the
// last of them waits for its work and ends it. Thread-safe.
class BATON_API SmPart {
 public:
  const Device& device() const;
  // The SMs that were asked for, and those that it has: at least as many.
  std::uint32_t asked() const;
  std::uint32_t sms() const;
  // The context of the part, as nodes of a graph name it.
  NativeContext native() const;

  // For Baton's own sources.
  explicit SmPart(std::shared_ptr<const GreenPart> green) : green_(std::move(green)) {}
  const std::shared_ptr<const GreenPart>& green() const { return green_; }

 private:
  std::shared_ptr<const GreenPart> green_;
};

// A part of the SMs that launches of a program run on.
struct SmPartReport {
  std::uint32_t asked = 0, given = 0;   // SMs
  std::vector<std::uint32_t> launches;  // of the program, by number
};

// The driver divides a device into units: the SMs of a part are a multiple of `unit`, rounded up.
// It is 8 on a GPU of compute capability 9.0.
struct SmUnits {
  std::uint32_t unit = 0;   // SMs
  std::uint32_t count = 0;  // units that parts can have together; some SMs may be in none
};
// Throws kUnsupported, naming what is missing, where the driver has no green contexts (they came
// with CUDA 12.5).
BATON_API SmUnits sm_units(const Device& device);

// Splits a device into disjoint parts of at least `counts` SMs, in their order. The driver divides
// a device for each split anew: parts of two splits may have SMs in common. Throws kInvalidInput
// for a count of 0, kLimit for more SMs than there are, and what `sm_units` throws.
BATON_API std::vector<SmPart> split_sms(const Device& device, Span<const std::uint32_t> counts);
inline std::vector<SmPart> split_sms(const Device& device,
                                     std::initializer_list<std::uint32_t> counts) {
  return split_sms(device, Span<const std::uint32_t>(counts.begin(), counts.size()));
}

}  // namespace baton
