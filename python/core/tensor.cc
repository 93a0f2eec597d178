#include "core/tensor.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text/text.h"
#include "capi/dtype.h"
#include "core/raised.h"
#include "core/torch_tensor.h"

namespace baton::python {
namespace {

// How arrays of one type are viewed.
enum class Way : std::uint8_t { kNone, kExchange, kProtocols };

struct KnownType {
  PyTypeObject* type = nullptr;  // a strong reference: its address names no other type
  Way way = Way::kNone;
  CommonWay common;
};

// The types that were seen, by a hash of their addresses. The interpreter's lock guards them; an
// interpreter without it has them for each thread.
constexpr std::size_t kKnownTypes = 64;
#ifdef Py_GIL_DISABLED
thread_local std::array<KnownType, kKnownTypes> known_types;
#else
std::array<KnownType, kKnownTypes> known_types;
#endif

KnownType& slot_of(PyTypeObject* type) {
  return known_types[(reinterpret_cast<std::uintptr_t>(type) >> 4) % kKnownTypes];
}

// The table of a type, or null. The newest whose major version is known.
const DlExchangeApi* find_exchange(PyTypeObject* type) {
  const Ref capsule = Ref::steal(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__"));
  if (!capsule || PyCapsule_IsValid(capsule.get(), "dlpack_exchange_api") == 0) {
    PyErr_Clear();
    return nullptr;
  }
  const auto* header = static_cast<const DlExchangeHeader*>(
      PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
  while (header != nullptr && header->version.major != kDlMajor) header = header->previous;
  const auto* const api = reinterpret_cast<const DlExchangeApi*>(header);
  return api != nullptr && api->to_view != nullptr ? api : nullptr;
}

const KnownType& known(PyTypeObject* type) {
  KnownType& slot = slot_of(type);
  if (slot.type == type) return slot;
  KnownType fresh{type, Way::kProtocols, {find_exchange(type), nullptr}};
  if (fresh.common.exchange != nullptr) {
    fresh.way = Way::kExchange;
    fresh.common.torch = TorchReader::of(type);
  }
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  Py_XDECREF(reinterpret_cast<PyObject*>(slot.type));
  slot = fresh;
  return slot;
}

// Shape and strides that a view refers to.
class OwnedExtents : public TensorKeeper {
 public:
  void refer(baton_tensor& tensor) {
    tensor.ndim = static_cast<std::int32_t>(shape.size());
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
  }
  std::vector<std::int64_t> shape, strides;
};

class HeldBuffer final : public OwnedExtents {
 public:
  ~HeldBuffer() override {
    require_gil();
    if (held) PyBuffer_Release(&buffer);
  }
  Py_buffer buffer{};
  bool held = false;
};

class HeldObject final : public OwnedExtents {
 public:
  Ref object;
};

class HeldManaged final : public TensorKeeper {
 public:
  ~HeldManaged() override {
    require_gil();
    if (legacy != nullptr && legacy->deleter != nullptr) legacy->deleter(legacy);
    if (versioned != nullptr && versioned->deleter != nullptr) versioned->deleter(versioned);
  }
  DlManagedTensor* legacy = nullptr;
  DlManagedTensorVersioned* versioned = nullptr;
};

// The type of a NumPy type string: "<f4", "|b1", "<V2". "V1" and "V2" are bytes of any meaning.
std::optional<baton_dtype> dtype_of_typestr(std::string_view text) {
  if (text.size() < 3 || (text[0] != '<' && text[0] != '|' && text[0] != '=')) return std::nullopt;
  std::uint32_t bytes = 0;
  for (const char c : text.substr(2)) {
    if (c < '0' || c > '9' || bytes > 255) return std::nullopt;
    bytes = bytes * 10 + static_cast<std::uint32_t>(c - '0');
  }
  std::uint8_t code = 0;
  switch (text[1]) {
    case 'i':
      code = 0;
      break;
    case 'u':
      code = 1;
      break;
    case 'f':
      code = 2;
      break;
    case 'b':
      code = 6;
      break;
    case 'V':
      code = kDlOpaque;
      break;
    case 'c':
      code = kDlComplex;
      break;
    default:
      return std::nullopt;
  }
  if (bytes == 0 || bytes > 16) return std::nullopt;
  return baton_dtype{code, static_cast<std::uint8_t>(8 * bytes), 1};
}

// The type of a format of the struct module, for one native element.
std::optional<baton_dtype> dtype_of_format(std::string_view format, Py_ssize_t size) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<')) {
    format.remove_prefix(1);
  }
  if (size < 1 || size > 8) return std::nullopt;
  const auto bits = static_cast<std::uint8_t>(8 * size);
  if (format.ends_with('x')) return baton_dtype{kDlOpaque, bits, 1};  // "2x": NumPy's V2
  if (format.size() != 1) return std::nullopt;
  switch (format[0]) {
    case '?':
      return baton_dtype{6, bits, 1};
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return baton_dtype{0, bits, 1};
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
    case 'c':
      return baton_dtype{1, bits, 1};
    case 'e':
    case 'f':
    case 'd':
      return baton_dtype{2, bits, 1};
    default:
      return std::nullopt;
  }
}

[[noreturn]] void refuse_type(std::string_view type) {
  throw error(ErrorCode::kInvalidInput,
              "is an array of elements \"{}\", for which Baton has no dtype; pass a view as bytes "
              "or integers",
              printable(type));
}

std::int64_t int_of(PyObject* object) {
  const long long value = PyLong_AsLongLong(object);
  if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
  return value;
}

std::vector<std::int64_t> ints_of(PyObject* sequence) {
  std::vector<std::int64_t> values;
  const Py_ssize_t size = PySequence_Size(sequence);
  check(size < 0 ? -1 : 0);
  for (Py_ssize_t i = 0; i < size; ++i) {
    values.push_back(int_of(Ref::checked(PySequence_GetItem(sequence, i)).get()));
  }
  return values;
}

// Strides in elements of strides in bytes.
std::vector<std::int64_t> element_strides(std::vector<std::int64_t> strides, std::int64_t size) {
  for (std::int64_t& stride : strides) {
    if (stride % size != 0) {
      throw error(ErrorCode::kInvalidInput,
                  "is an array whose stride of {} bytes is not a multiple of its elements' {} "
                  "bytes; copy it",
                  stride, size);
    }
    stride /= size;
  }
  return strides;
}

// The shape and the strides of an interface's dict.
std::unique_ptr<HeldObject> extents_of(PyObject* shape, PyObject* strides, std::uint8_t bits) {
  auto keeper = std::make_unique<HeldObject>();
  keeper->shape = ints_of(shape);
  for (const std::int64_t extent : keeper->shape) {
    if (extent < 0) {
      throw error(ErrorCode::kInvalidInput, "is an array with the extent {} in its shape", extent);
    }
  }
  if (strides == nullptr || strides == Py_None) return keeper;
  keeper->strides = element_strides(ints_of(strides), bits / 8);
  if (keeper->strides.size() != keeper->shape.size()) {
    throw error(ErrorCode::kInvalidInput, "is an array with {} extents and {} strides",
                keeper->shape.size(), keeper->strides.size());
  }
  return keeper;
}

// The stream that `stream` of an interface's dict names.
std::uintptr_t declared_stream(PyObject* stream) {
  const std::int64_t address = int_of(stream);
  if (address > 0) return static_cast<std::uintptr_t>(address);
  throw error(ErrorCode::kInvalidInput,
              "declares the stream {}, which __cuda_array_interface__ does not allow; pass "
              "stream=",
              address);
}

// Reads the dict of an interface, of which a PythonError says that it is malformed.
void read_interface(Ref dict, const char* name, std::int32_t device_type, TensorView& view) {
  const auto item = [&](const char* key) { return PyDict_GetItemString(dict.get(), key); };
  PyObject* const typestr = item("typestr");
  PyObject* const shape = item("shape");
  PyObject* const data = item("data");
  if (typestr == nullptr || shape == nullptr || data == nullptr || !PyTuple_Check(data) ||
      PyTuple_Size(data) != 2) {
    throw error(ErrorCode::kInvalidInput,
                "has an {} without typestr, shape or a data pair of address and read-only flag",
                name);
  }
  if (PyObject* const mask = item("mask"); mask != nullptr && mask != Py_None) {
    throw error(ErrorCode::kInvalidInput, "is a masked array; pass its data");
  }
  const auto dtype = dtype_of_typestr(text_of(typestr));
  if (!dtype) refuse_type(text_of(typestr));
  auto keeper = extents_of(shape, item("strides"), dtype->bits);
  const unsigned long long address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(data, 0));
  if (address == ~0ull && PyErr_Occurred() != nullptr) throw PythonError{};
  view.tensor.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  const int read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1));
  check(read_only);
  view.read_only = read_only == 1;
  static_assert(sizeof(view.tensor.dtype) == sizeof(*dtype));
  view.tensor.dtype = *dtype;
  view.tensor.device = {device_type, 0};
  keeper->refer(view.tensor);
  if (PyObject* const stream = item("stream"); stream != nullptr && stream != Py_None) {
    view.declared_stream = declared_stream(stream);
  }
  keeper->object = std::move(dict);
  view.keeper = std::move(keeper);
}

// NumPy's __array_interface__ and CUDA's __cuda_array_interface__, version 3.
// https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
bool view_interface(PyObject* object, const char* name, std::int32_t device_type,
                    TensorView& view) {
  Ref dict = optional_attribute(object, name);
  if (!dict || !PyDict_Check(dict.get())) return false;
  try {
    read_interface(std::move(dict), name, device_type, view);
  } catch (const PythonError&) {
    throw error(ErrorCode::kInvalidInput, "has an {} that is malformed: {}", name, taken_text());
  }
  return true;
}

bool view_buffer(PyObject* object, TensorView& view) {
  if (PyObject_CheckBuffer(object) == 0) return false;
  auto keeper = std::make_unique<HeldBuffer>();
  Py_buffer& buffer = keeper->buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return false;  // such as NumPy's arrays of bfloat16
  }
  keeper->held = true;
  const std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  const auto dtype = dtype_of_format(format, buffer.itemsize);
  if (!dtype) refuse_type(format);
  keeper->shape.assign(buffer.shape, buffer.shape + buffer.ndim);
  if (buffer.strides != nullptr) {
    keeper->strides =
        element_strides({buffer.strides, buffer.strides + buffer.ndim}, buffer.itemsize);
  }
  view.tensor.data = buffer.buf;
  view.tensor.dtype = *dtype;
  view.tensor.device = {kDlCpu, 0};
  view.read_only = buffer.readonly != 0;
  keeper->refer(view.tensor);
  view.keeper = std::move(keeper);
  return true;
}

// The first number of what `__dlpack_device__` gives.
std::int64_t dlpack_device_type(PyObject* object) {
  const Ref where = Ref::checked(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
  if (PyTuple_Check(where.get()) && PyTuple_Size(where.get()) == 2) {
    const Ref type = Ref::steal(PyNumber_Index(PyTuple_GetItem(where.get(), 0)));
    const long long value = type ? PyLong_AsLongLong(type.get()) : -1;
    if (PyErr_Occurred() == nullptr) return value;
    PyErr_Clear();
  }
  throw error(ErrorCode::kInvalidInput,
              "gives {} by __dlpack_device__, in place of DLPack's pair of device type and id",
              printable(text_of(Ref::checked(PyObject_Repr(where.get())).get()), 100));
}

// `__dlpack__`, versioned where the producer has it. stream=-1 asks for no synchronisation.
bool view_dlpack(PyObject* object, TensorView& view) {
  const Ref method = optional_attribute(object, "__dlpack__");
  if (!method) return false;
  const bool on_host = dlpack_device_type(object) == kDlCpu;
  const Ref nothing = Ref::checked(PyTuple_New(0));
  const auto ask = [&](bool versioned) {
    const Ref keywords = Ref::checked(PyDict_New());
    if (!on_host) {
      check(PyDict_SetItemString(keywords.get(), "stream", to_python(std::int32_t{-1}).get()));
    }
    if (versioned) {
      const Ref version = Ref::checked(Py_BuildValue("(ii)", 1, 0));
      check(PyDict_SetItemString(keywords.get(), "max_version", version.get()));
    }
    return Ref::steal(PyObject_Call(method.get(), nothing.get(), keywords.get()));
  };
  Ref capsule = ask(true);
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear();
    capsule = ask(false);
  }
  if (!capsule) throw PythonError{};
  auto keeper = std::make_unique<HeldManaged>();
  if (PyCapsule_IsValid(capsule.get(), "dltensor_versioned") != 0) {
    auto* const managed = static_cast<DlManagedTensorVersioned*>(
        PyCapsule_GetPointer(capsule.get(), "dltensor_versioned"));
    if (managed->version.major != kDlMajor) {
      throw error(ErrorCode::kInvalidInput, "gives a tensor of DLPack {}.{}, Baton reads {}.x",
                  managed->version.major, managed->version.minor, kDlMajor);
    }
    check(PyCapsule_SetName(capsule.get(), "used_dltensor_versioned"));
    keeper->versioned = managed;
    view.tensor = managed->tensor;
    view.read_only = (managed->flags & kDlReadOnly) != 0;
  } else if (PyCapsule_IsValid(capsule.get(), "dltensor") != 0) {
    auto* const managed =
        static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
    check(PyCapsule_SetName(capsule.get(), "used_dltensor"));
    keeper->legacy = managed;
    view.tensor = managed->tensor;
  } else {
    throw error(ErrorCode::kInvalidInput, "gives no capsule of DLPack by __dlpack__");
  }
  view.keeper = std::move(keeper);
  return true;
}

// The exchange API passes tensors whose conjugate bit is set, so that their bytes are not their
// values. Only complex tensors have it, and no kernel parameter is complex.
void refuse_complex(const baton_tensor& tensor) {
  if (tensor.dtype.code == kDlComplex) {
    throw error(ErrorCode::kInvalidInput,
                "is an array of complex elements of {} bits, for which Baton has no dtype; pass a "
                "view as floats, such as torch.view_as_real of a tensor that is not conjugate",
                tensor.dtype.bits);
  }
}

void view_own(const ArrayValue& array, TensorView& view) {
  view.own = &array;
  view.tensor.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(array.address()));
  const baton_dtype dtype = capi::to_c(array.dtype);
  view.tensor.dtype = dtype;
  view.tensor.device = {kDlCuda, 0};
  view.tensor.ndim = static_cast<std::int32_t>(array.shape.size());
  view.tensor.shape = const_cast<std::int64_t*>(array.shape.data());
}

}  // namespace

[[gnu::hot]] CommonWay common_way(PyTypeObject* type) {
  const KnownType& slot = slot_of(type);
  return slot.type == type ? slot.common : known(type).common;
}

void check_view(int result, PyObject* object) {
  if (result >= 0) return;
  const std::string why = taken_text();
  throw error(ErrorCode::kInvalidInput, "is {} that gives no view of its memory: {}",
              with_article(type_name(object)), printable(why, 300));
}

bool view_tensor(PyObject* object, TensorView& view) {
  if (const ArrayValue* const own = try_value<ArrayValue>(object)) {
    view_own(*own, view);
    return true;
  }
  if (PyType_Check(object)) return false;  // its protocols are those of its objects
  const KnownType& type = known(Py_TYPE(object));
  if (type.way == Way::kExchange) {
    view.exchange = type.common.exchange;
    check_view(view.exchange->to_view(object, &view.tensor), object);
    refuse_complex(view.tensor);
    return true;
  }
  const bool found = view_interface(object, "__cuda_array_interface__", kDlCuda, view) ||
                     view_buffer(object, view) ||
                     view_interface(object, "__array_interface__", kDlCpu, view) ||
                     view_dlpack(object, view);
  if (found) refuse_complex(view.tensor);
  return found;
}

std::string dtype_text(const baton_dtype& dtype) {
  if (const auto known = capi::dtype_of(dtype)) return std::string(to_string(*known));
  if (dtype.code == kDlOpaque) return fmt::format("raw elements of {} bits", dtype.bits);
  return fmt::format("DLPack's type code {} with {} bits and {} lanes", dtype.code, dtype.bits,
                     dtype.lanes);
}

std::string describe(const TensorView& view) {
  baton_dtype dtype{};
  std::memcpy(&dtype, &view.tensor.dtype, sizeof(dtype));
  return fmt::format("an array of {} [{}]", dtype_text(dtype),
                     fmt::join(view.tensor.shape, view.tensor.shape + view.tensor.ndim, ", "));
}

std::uint64_t contiguous_bytes(const baton_tensor& tensor) {
  std::uint64_t elements = 1;
  for (std::int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return 0;
    if (tensor.shape[i] < 0 ||
        __builtin_mul_overflow(elements, static_cast<std::uint64_t>(tensor.shape[i]), &elements)) {
      throw error(ErrorCode::kInvalidInput, "has the extent {} along axis {}", tensor.shape[i], i);
    }
  }
  if (tensor.strides != nullptr) {
    std::int64_t expected = 1;
    for (std::int32_t i = tensor.ndim; i-- > 0;) {
      if (tensor.shape[i] != 1 && tensor.strides[i] != expected) {
        throw error(ErrorCode::kInvalidInput,
                    "is not contiguous: axis {} has the stride {} in elements, C order has {}; "
                    "copy it",
                    i, tensor.strides[i], expected);
      }
      expected *= tensor.shape[i];
    }
  }
  const std::uint64_t bits = std::uint64_t{tensor.dtype.bits} * tensor.dtype.lanes;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements, (bits + 7) / 8, &bytes)) {
    throw error(ErrorCode::kInvalidInput, "has more bytes than 64 bits can count");
  }
  return bytes;
}

}  // namespace baton::python
