#include "core/torch_tensor.h"

#include <cstring>
#include <string>

#include "base/log.h"
#include "base/system/dynamic_library.h"

namespace baton::python {
namespace {

// Whether `type` is torch.Tensor or torch.nn.Parameter: their subclasses may have a meaning of
// their own. Torch is imported where a tensor exists.
bool is_type_of_torch(PyTypeObject* type) {
  PyObject* const modules = PyImport_GetModuleDict();  // borrowed
  PyObject* const torch = modules == nullptr ? nullptr : PyDict_GetItemString(modules, "torch");
  if (torch == nullptr) return false;
  auto* const object = reinterpret_cast<PyObject*>(type);
  const Ref tensor = Ref::steal(PyObject_GetAttrString(torch, "Tensor"));
  const Ref nn = Ref::steal(PyObject_GetAttrString(torch, "nn"));
  const Ref parameter = Ref::steal(nn ? PyObject_GetAttrString(nn.get(), "Parameter") : nullptr);
  PyErr_Clear();
  return (tensor && tensor.get() == object) || (parameter && parameter.get() == object);
}

}  // namespace

TorchReader* TorchReader::of(PyTypeObject* type) {
#ifdef Py_GIL_DISABLED
  constexpr bool kHasGlobalLock = false;
#else
  constexpr bool kHasGlobalLock = true;
#endif
  if (!kHasGlobalLock || !is_type_of_torch(type)) return nullptr;
  static TorchReader* const reader = load();
  return reader;
}

TorchReader* TorchReader::load() {
  const auto library = DynamicLibrary::loaded("libtorch_cpu.so");
  if (!library) return nullptr;
  bool complete = true;
  const auto find = [&](const char* name, auto& function) {
    void* const symbol = library->symbol(name);
    complete = complete && symbol != nullptr;
    std::memcpy(&function, &symbol, sizeof(function));
  };
  Functions functions{};
  find("aoti_torch_get_device_type", functions.device_type);
  find("aoti_torch_get_device_index", functions.device_index);
  find("aoti_torch_get_dtype", functions.dtype);
  find("aoti_torch_get_layout", functions.layout);
  find("aoti_torch_is_contiguous", functions.is_contiguous);
  find("aoti_torch_get_data_ptr", functions.data_ptr);
  find("torch_tensor_from_pyobject", functions.from_object);
  find("aoti_torch_delete_tensor_object", functions.release);
  std::int32_t (*strided)() = nullptr, (*cpu)() = nullptr, (*cuda)() = nullptr;
  find("aoti_torch_layout_strided", strided);
  find("aoti_torch_device_type_cpu", cpu);
  find("aoti_torch_device_type_cuda", cuda);
  if (!complete) return nullptr;
  auto* const reader = new TorchReader;
  reader->functions_ = functions;
  reader->strided_ = strided();
  reader->cpu_ = cpu();
  reader->cuda_ = cuda();
  return reader;
}

[[gnu::hot]] bool TorchReader::read_any(Handle tensor, PlainArray& array) const {
  std::int32_t type = 0, dtype = 0, layout = 0;
  void* data = nullptr;
  // A layout other than strided has no strides to ask for.
  if (functions_.layout(tensor, &layout) != 0 || layout != strided_ ||
      functions_.dtype(tensor, &dtype) != 0 || static_cast<std::uint32_t>(dtype) >= kDtypes ||
      functions_.device_type(tensor, &type) != 0 || (type != cuda_ && type != cpu_) ||
      functions_.device_index(tensor, &array.device_id) != 0 ||
      functions_.is_contiguous(tensor, &array.has_c_order) != 0 ||
      functions_.data_ptr(tensor, &data) != 0) {
    return false;
  }
  array.device_type = type == cuda_ ? kDlCuda : kDlCpu;
  array.dtype = dtypes_[static_cast<std::size_t>(dtype)];
  array.address = reinterpret_cast<std::uintptr_t>(data);
  return array.dtype != 0;
}

// Whether the word behind the object's head is that of a handle to the same tensor.
bool TorchReader::holds_handle(PyObject* tensor) const {
  Handle own = nullptr;
  if (functions_.from_object(tensor, &own) != 0 || own == nullptr) return false;
  const bool same = std::memcmp(own, handle_in(tensor), sizeof(void*)) == 0;
  functions_.release(own);
  return same;
}

void TorchReader::refuse(const char* why) {
  refused_ = true;
  agreed_ = 0;
  log(LogLevel::kDebug, "torch's tensors are read by its exchange API alone: {}", why);
}

void TorchReader::learn(PyObject* tensor, const PlainArray& seen, bool is_empty) {
  // Once the layout of objects is proven, only a new dtype brings tensors of a GPU here.
  if (refused_ || (agreed_ >= kEnough && seen.device_type != kDlCuda)) return;
  if (!holds_handle(tensor)) return refuse("an object of Python has its tensor elsewhere");
  std::int32_t dtype = 0;
  if (functions_.dtype(handle_in(tensor), &dtype) != 0 ||
      static_cast<std::uint32_t>(dtype) >= kDtypes) {
    return refuse("its C interface tells no dtype");
  }
  dtypes_[static_cast<std::size_t>(dtype)] = seen.dtype;
  PlainArray read;
  if (!read_any(handle_in(tensor), read)) return;  // such as a tensor of a third kind of device
  const bool agrees = read.address == seen.address && read.device_type == seen.device_type &&
                      (read.device_type == kDlCpu || read.device_id == seen.device_id) &&
                      read.dtype == seen.dtype &&
                      (is_empty || read.has_c_order == seen.has_c_order);
  if (!agrees) return refuse("its C interface tells something else of a tensor");
  if (agreed_ < kEnough) ++agreed_;
}

}  // namespace baton::python
