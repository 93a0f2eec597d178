#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "baton/allocator.h"
#include "baton/bindings.h"
#include "baton/buffer.h"
#include "baton/dtype.h"
#include "core/object.h"

namespace baton::python {

struct StreamValue;

// baton.Array: a contiguous array in device memory. Slices share its memory.
struct ArrayValue {
  std::shared_ptr<const Memory> memory;
  std::uint64_t offset = 0;  // in bytes
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  Ref owner;  // a Python object that owns the memory, if `memory` does not

  const Device& device() const { return memory->device(); }
  std::uint64_t address() const { return memory->address() + offset; }
  std::uint64_t elements() const;
  std::uint64_t bytes() const { return elements() * size_of(dtype); }
  DeviceArray view() const { return {dtype, shape, address()}; }
};

void add_array_type(PyObject* module);

// Allocates, from the driver if `allocator` is null. Throws kOutOfMemory, and what the allocator
// throws.
ArrayValue new_array(const Device& device, DType dtype, std::vector<std::int64_t> shape,
                     std::shared_ptr<Allocator> allocator = nullptr);
// The same, allocated and freed in the order of a stream.
ArrayValue new_array_in_order(const StreamValue& stream, DType dtype,
                              std::vector<std::int64_t> shape);

// Copy between an array and host memory of its size. They wait for all work on the device first,
// and for the copy on `stream`.
void upload(const ArrayValue& array, const void* from, const Stream& stream);
void download(const ArrayValue& array, void* to, const Stream& stream);

}  // namespace baton::python
