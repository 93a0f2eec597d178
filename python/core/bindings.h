#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/bindings.h"
#include "baton/program.h"
#include "core/stream.h"
#include "core/tensor.h"

namespace baton::python {

// An array for a buffer of a program, checked against its type. `contents` for host memory,
// `memory` for the device's.
struct BufferArray {
  const ProgramBuffer* buffer = nullptr;
  TensorView view;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;

  bool on_host() const { return view.on_host(); }
  const void* data() const {
    return static_cast<const std::byte*>(view.tensor.data) + view.tensor.byte_offset;
  }
  // A copy of host contents.
  Array contents() const;
  DeviceArray memory() const;
};

// Throws kNotFound for an unknown buffer; kInvalidInput, with the buffer's name, for another dtype,
// another number of dimensions, an array that is not contiguous, and memory of another device.
BufferArray buffer_array(const Program& program, const Device& device, std::string_view name,
                         PyObject* object);

// The values of a dict that maps symbols to ints; null is empty. Throws kInvalidInput, with the
// symbol's name, for a value that is not an int, or that 64 bits do not hold.
std::vector<std::pair<std::string, std::int64_t>> symbols_argument(PyObject* dict);

// Bindings from Python's dicts.
class GivenBindings {
 public:
  // `settings`: what needs no program.
  GivenBindings(const Program& program, const Device& device, Bindings settings)
      : program_(program), device_(device), bindings_(std::move(settings)) {}
  // `dict` maps buffers to arrays. Arrays in device memory become the buffers' memory.
  void arrays(PyObject* dict);
  Bindings take() { return std::move(bindings_); }

 private:
  const Program& program_;
  const Device& device_;
  Bindings bindings_;
};

}  // namespace baton::python
