#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "baton/image.h"
#include "baton/launch_plan.h"
#include "baton/module.h"
#include "core/object.h"
#include "core/parameter.h"

namespace baton::python {

// The images that a module was loaded from, which a capture of its launches writes to files. Null
// if the extension did not load them.
using KernelImages = std::shared_ptr<const std::vector<Image>>;

// What `may_write` found, at its first call.
struct KernelWrites {
  std::once_flag read;
  std::optional<std::vector<bool>> written;
};

// baton.Kernel.
struct KernelValue {
  Kernel kernel;
  std::vector<Parameter> parameters;
  // Of all parameters side by side, as the common launch reads them.
  std::vector<CommonParameter> common;
  bool simulated = false;
  KernelImages images;
  std::int32_t ordinal = 0;  // DLPack's id of its device
  SpareObject launcher{};    // of the last `kernel[grid, block]`
  std::shared_ptr<KernelWrites> writes = std::make_shared<KernelWrites>();
};

Ref make_kernel(Kernel kernel, KernelImages images);

// The settings of a launch from `grid=`, `block=`, `cluster=` … by name.
class LaunchKeywords {
 public:
  explicit LaunchKeywords(const Kernel& kernel) : kernel_(kernel) {}

  // Takes one keyword argument.
  void take(PyObject* name, PyObject* value);
  void grid(PyObject* value);
  void block(PyObject* value);
  // The config; the block of the image where none was given. Throws kInvalidInput where grid or
  // block is missing, and for `pdl` of a kernel that never waits.
  LaunchConfig& config();
  // `stream=`, or null.
  PyObject* stream() const { return stream_; }

 private:
  const Kernel& kernel_;
  LaunchConfig config_;
  bool has_grid_ = false, has_block_ = false;
  PyObject* stream_ = nullptr;
};

// Bytes of dynamic shared memory.
std::uint32_t shared_argument(PyObject* value);

// Packs the values and launches; sets the config's stream. Host arrays on the simulated GPU are
// copied there and back, and then the call waits. Throws kInvalidInput, kLimit, kFault as a launch
// of C++ does.
void launch(const KernelValue& kernel, LaunchConfig& config, PyObject* const* values,
            std::size_t count, PyObject* stream);

// Throws kInvalidInput, with both numbers, for another number of values than of parameters.
void require_count(const KernelValue& kernel, std::size_t count);

// Converts the values of a launch: one address for each parameter.
class PackedValues {
 public:
  // `values` must live as long as this object. Throws kInvalidInput.
  PackedValues(const KernelValue& kernel, PyObject* const* values, std::size_t count,
               CallState& state);
  PackedValues(const PackedValues&) = delete;
  PackedValues& operator=(const PackedValues&) = delete;

  void* const* pointers() const { return pointers_; }
  // Replaces the bits of one argument.
  void set(std::size_t index, std::uint64_t bits) { slots_[index] = bits; }

 private:
  static constexpr std::size_t kFew = 32;

  // Not initialised: only as many as there are arguments are used.
  std::uint64_t few_slots_[kFew];
  void* few_pointers_[kFew];
  std::vector<std::uint64_t> more_slots_;
  std::vector<void*> more_pointers_;
  std::uint64_t* slots_ = few_slots_;
  void** pointers_ = few_pointers_;
};

void add_kernel_types(PyObject* module);
void add_plan_type(PyObject* module);

// baton.Plan for these values.
Ref make_plan(PyObject* kernel, const LaunchConfig& config, PyObject* const* values,
              std::size_t count, PyObject* stream);

}  // namespace baton::python
