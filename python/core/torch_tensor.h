#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/python.h"
#include "core/tensor.h"

namespace baton::python {

// Reads torch's tensors by its C interface (torch/csrc/inductor/aoti_torch/c/shim.h), which takes
// no reference to a tensor. For each reference to a tensor that only Python refers to, torch's
// exchange API takes the interpreter's lock twice, which is most of what a launch costs.
//
// The C interface takes a handle, which is the address of an at::Tensor. An object of Python has
// one behind its head (THPVariable of torch/csrc/autograd/python_variable.h). Torch promises
// neither. So the first tensors of a process are read in both ways, and only torch whose answers
// agree is read so. The interpreter's lock guards it.
class TorchReader {
 public:
  // The reader of torch's own types of tensors, or null: for another type, for torch before 2.14,
  // and in an interpreter without a global lock. Never destroyed.
  static TorchReader* of(PyTypeObject* type);

  // Returns false for a tensor that the exchange API must read: before the proof, and a tensor that
  // is not dense memory of a GPU.
  [[gnu::always_inline]] bool read(PyObject* tensor, PlainArray& array) const {
    if (agreed_ < kEnough) [[unlikely]]
      return false;
    return read_any(handle_in(tensor), array) && array.device_type == kDlCuda;
  }

  // Compares with the view that the exchange API gave.
  void learn(PyObject* tensor, const PlainArray& seen, bool is_empty);

 private:
  using Handle = void*;
  using Get = std::int32_t (*)(Handle tensor, std::int32_t* result);
  struct Functions {
    Get device_type, device_index, dtype, layout;
    std::int32_t (*is_contiguous)(Handle tensor, bool* result);
    std::int32_t (*data_ptr)(Handle tensor, void** result);
    // A handle of its own, that `release` ends.
    std::int32_t (*from_object)(void* object, Handle* result);
    std::int32_t (*release)(Handle tensor);
  };

  static constexpr int kEnough = 8;
  static constexpr std::size_t kDtypes = 128;

  static TorchReader* load();
  static Handle handle_in(PyObject* tensor) {
    return reinterpret_cast<std::byte*>(tensor) + sizeof(PyObject);
  }
  bool read_any(Handle tensor, PlainArray& array) const;
  bool holds_handle(PyObject* tensor) const;
  void refuse(const char* why);

  Functions functions_{};
  std::int32_t strided_ = 0;                     // torch's number of the layout
  std::int32_t cpu_ = 0, cuda_ = 0;              // torch's numbers of devices' types
  std::array<std::uint32_t, kDtypes> dtypes_{};  // DLPack's words by torch's numbers; 0: not seen
  int agreed_ = 0;
  bool refused_ = false;
};

}  // namespace baton::python
