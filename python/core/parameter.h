#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/image.h"
#include "baton/module.h"
#include "core/common_argument.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/tensor.h"

namespace baton::python {

// One parameter of a kernel, as packing needs it.
struct Parameter {
  ParamKind kind = ParamKind::kUnknown;
  std::uint32_t size = 0;  // bytes
  std::optional<DType> dtype;
  CommonParameter common;
  bool read_only = false;
  std::string type;  // for messages
  std::string name;  // in the source; empty if not known
};

// The parameters of a kernel. Throws kInvalidInput where the image does not tell them.
std::vector<Parameter> parameters_of(const Kernel& kernel);

// A host array that serves as memory of the simulated GPU while a call lasts.
struct HostArgument {
  std::size_t index = 0;  // of the parameter
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  bool written = false;  // the kernel may write it
};

struct KernelValue;

// The state of one call while its values are packed.
struct CallState {
  const KernelValue& kernel;
  const Device& device;
  bool simulated;
  CallStream stream{};
  std::vector<HostArgument> hosts{};
  // Views that must live until the launch was made, or, with host arrays, has completed.
  std::vector<TensorView> kept{};
  std::vector<Py_buffer> buffers{};

  explicit CallState(const KernelValue& of);
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;
  ~CallState() {
    if (!buffers.empty()) require_gil();
    for (Py_buffer& buffer : buffers) PyBuffer_Release(&buffer);
  }
};

// Converts one value for its parameter. `slot` receives its bits. Returns the address of the
// argument's bytes: the slot, or a buffer in `state`. Throws kInvalidInput, with a predicate about
// the argument as message: "is a float, for a pointer".
void* pack_argument(const Parameter& parameter, PyObject* value, std::size_t index,
                    std::uint64_t& slot, CallState& state);

// Names kernel, argument and both types in a message of `pack_argument`.
Error argument_error(const Kernel& kernel, const Parameter& parameter, std::size_t index,
                     const Error& failure);

// An address that the caller guarantees: baton.Pointer.
struct PointerValue {
  std::uint64_t address = 0;
};
void add_pointer_type(PyObject* module);

}  // namespace baton::python
