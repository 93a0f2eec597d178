#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "baton.h"
#include "baton/device.h"
#include "core/array.h"
#include "core/dlpack.h"
#include "core/python.h"

namespace baton::python {

// Keeps the view of a foreign array valid. Not every kind of array needs one.
class TensorKeeper {
 public:
  virtual ~TensorKeeper() = default;
};

// A view of an array of any library, for the time of a call.
struct TensorView {
  baton_tensor tensor{};
  // The table of the array's type, which knows the framework's current stream.
  const DlExchangeApi* exchange = nullptr;
  const ArrayValue* own = nullptr;  // a baton.Array
  bool read_only = false;
  // The stream that the array's producer declares; 1 is the legacy default stream.
  std::optional<std::uintptr_t> declared_stream;
  std::unique_ptr<TensorKeeper> keeper;

  bool on_host() const { return own == nullptr && tensor.device.device_type == kDlCpu; }
};

// Fills `view` for an object that is an array: baton.Array, DLPack's exchange API,
// __cuda_array_interface__, the buffer protocol, __array_interface__, __dlpack__. Returns false for
// an object that is none. The view is valid until the object is changed. Throws kInvalidInput for
// an array that cannot be viewed, such as a complex, conjugate or sparse one.
bool view_tensor(PyObject* object, TensorView& view);

// What a launch needs of an array.
struct PlainArray {
  std::uint64_t address = 0;
  std::int32_t device_type = 0;  // as DLPack numbers them
  std::int32_t device_id = 0;
  std::uint32_t dtype = 0;  // DLPack's DLDataType as one word
  bool has_c_order = false;
};

class TorchReader;

// How arrays of a type are read in the common case: null where there is no such way.
struct CommonWay {
  const DlExchangeApi* exchange = nullptr;
  TorchReader* torch = nullptr;  // only with an exchange table
};
CommonWay common_way(PyTypeObject* type);

// Throws kInvalidInput for a negative result of an exchange table's `to_view`, with the reason that
// the other library gave.
void check_view(int result, PyObject* object);

// "array of f32 [4, 8]", for messages.
std::string describe(const TensorView& view);
// "f32", or "complex of 64 bits" for a type that Baton does not have.
std::string dtype_text(const baton_dtype& dtype);

// The bytes of the view, which is contiguous. Throws kInvalidInput for one that is not, and for
// more bytes than 64 bits can count.
std::uint64_t contiguous_bytes(const baton_tensor& tensor);

}  // namespace baton::python
