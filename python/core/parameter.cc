#include "core/parameter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "base/array/float_convert.h"
#include "base/error.h"
#include "base/text/text.h"
#include "capi/dtype.h"
#include "core/device.h"
#include "core/inner_array.h"
#include "core/kernel.h"
#include "core/kernel_writes.h"
#include "core/raised.h"
#include "core/values.h"
#include "program/scalar.h"

namespace baton::python {
namespace {

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw error(ErrorCode::kInvalidInput, format, std::forward<Args>(args)...);
}

std::uint32_t word_of(const baton_dtype& dtype) {
  std::uint32_t word = 0;
  static_assert(sizeof(dtype) == sizeof(word));
  std::memcpy(&word, &dtype, sizeof(word));
  return word;
}

// "raw" elements of NumPy stand for bf16 and fp8, which it lacks.
bool accepts_element(const Parameter& parameter, const baton_tensor& tensor) {
  if (parameter.common.element == 0 || dtype_word(tensor) == parameter.common.element) return true;
  baton_dtype given{};
  std::memcpy(&given, &tensor.dtype, sizeof(given));
  return given.code == kDlOpaque && parameter.dtype &&
         given.bits == 8 * size_of(*parameter.dtype) && given.lanes == 1;
}

// What gives integers the type whose bits they are; empty where that is not the matter.
std::string view_hint(const Parameter& parameter, const baton_tensor& tensor) {
  struct Raw {
    DType dtype;
    const char *numpy, *torch;
  };
  static constexpr Raw kRaw[] = {{DType::kBF16, "V2", "bfloat16"},
                                 {DType::kF8E4M3, "V1", "float8_e4m3fn"},
                                 {DType::kF8E5M2, "V1", "float8_e5m2"}};
  baton_dtype given{};
  std::memcpy(&given, &tensor.dtype, sizeof(given));
  constexpr std::uint8_t kDlInt = 0, kDlUnsigned = 1;
  if ((given.code != kDlInt && given.code != kDlUnsigned) || given.lanes != 1) return {};
  for (const Raw& raw : kRaw) {
    if (parameter.dtype != raw.dtype || given.bits != 8 * size_of(raw.dtype)) continue;
    return fmt::format(
        "; if these are the bits of {}, pass x.view(\"{}\") of a NumPy array, or "
        "x.view(torch.{}) of a tensor",
        to_string(raw.dtype), raw.numpy, raw.torch);
  }
  return {};
}

void require_element(const Parameter& parameter, const TensorView& view) {
  if (accepts_element(parameter, view.tensor)) return;
  refuse("is {}{}", describe(view), view_hint(parameter, view.tensor));
}

void require_aligned(const baton_tensor& tensor, std::uint64_t address) {
  const std::uint32_t bytes = (std::uint32_t{tensor.dtype.bits} * tensor.dtype.lanes + 7) / 8;
  if (bytes > 1 && address % bytes != 0) {
    refuse("is at the address {:#x}, which is not a multiple of its elements' {} bytes", address,
           bytes);
  }
}

// An array without memory is not a null pointer: torch's storage may be gone, and a fake tensor has
// none.
void require_memory(std::uint64_t address, std::uint64_t bytes) {
  if (address != 0 || bytes == 0) return;
  refuse("has {} bytes, and no memory: its storage was freed, or it is a fake tensor", bytes);
}

// The address of an array in memory of a GPU.
std::uint64_t gpu_address(const Parameter& parameter, const TensorView& view, CallState& state) {
  const baton_tensor& tensor = view.tensor;
  if (view.exchange != nullptr) {
    state.stream.note(view.exchange, tensor.device.device_id);
  } else {
    state.stream.note_declared(view.declared_stream);
  }
  require_element(parameter, view);
  const std::uint64_t bytes = contiguous_bytes(tensor);
  const std::uint64_t address = address_in(tensor);
  require_memory(address, bytes);
  require_aligned(tensor, address);
  return address;
}

void require_writable(const Parameter& parameter, const TensorView& view, std::size_t index,
                      const CallState& state) {
  if (!view.read_only || parameter.read_only) return;
  // The type tells nothing, such as that of an extern "C" kernel; the PTX may.
  const std::optional<std::vector<bool>>& written = may_write(state.kernel);
  if (written && !(*written)[index]) return;
  refuse("is read-only, and the kernel may write through the parameter");
}

// A tensor of torch may have bits that say that its values are the negatives of its bytes. The
// exchange API does not tell.
void require_plain_values(PyObject* value) {
  const Ref method = Ref::steal(PyObject_GetAttrString(value, "is_neg"));
  if (!method) return PyErr_Clear();
  const Ref negative = Ref::checked(PyObject_CallObject(method.get(), nullptr));
  if (negative.get() == Py_True) {
    refuse(
        "is a tensor with the negative bit, whose bytes are not its values; pass x.resolve_neg()");
  }
}

void pack_host_array(const Parameter& parameter, TensorView view, std::size_t index,
                     CallState& state) {
  require_element(parameter, view);
  const std::uint64_t bytes = contiguous_bytes(view.tensor);
  const std::uint64_t address = address_in(view.tensor);
  require_memory(address, bytes);
  require_aligned(view.tensor, address);
  if (bytes != 0) {
    state.hosts.push_back(
        {index, reinterpret_cast<std::byte*>(address), bytes, !parameter.read_only});
  }
  state.kept.push_back(std::move(view));
}

// A number of NumPy, which has the protocols of arrays.
bool is_numpy_scalar(PyObject* value) {
  const Ref bases =
      Ref::checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(value)), "__mro__"));
  for (Py_ssize_t i = 0; i < PyTuple_Size(bases.get()); ++i) {
    const Ref name =
        Ref::steal(PyObject_GetAttrString(PyTuple_GetItem(bases.get(), i), "__name__"));
    if (!name) PyErr_Clear();
    if (name && PyUnicode_Check(name.get()) && text_of(name.get()) == "generic") return true;
  }
  return false;
}

// Everything that a pointer parameter takes but arrays of types with the exchange API.
std::uint64_t pack_address(const Parameter& parameter, PyObject* value, std::size_t index,
                           CallState& state) {
  if (value == Py_None) return 0;
  if (const PointerValue* const pointer = try_value<PointerValue>(value)) return pointer->address;
  if (PyLong_Check(value) || PyFloat_Check(value)) {
    refuse("is the {} {}, for a pointer; pass an array, baton.Pointer(address), or None for null",
           type_name(value), text_of(Ref::checked(PyObject_Str(value)).get()));
  }
  TensorView view;
  if (!view_tensor(value, view)) {
    refuse("is {}, which is not an array; pass an array, baton.Pointer(address), or None",
           with_article(type_name(value)));
  }
  if (view.tensor.ndim == 0 && view.read_only && is_numpy_scalar(value)) {
    refuse("is the number {}, for a pointer; pass an array",
           printable(text_of(Ref::checked(PyObject_Str(value)).get())));
  }
  require_writable(parameter, view, index, state);
  require_reachable(view, state.device, "the kernel");
  if (view.own != nullptr) {
    require_element(parameter, view);
    return view.own->address();
  }
  if (view.on_host()) {
    if (view.exchange != nullptr) require_plain_values(value);
    pack_host_array(parameter, std::move(view), index, state);
    return 0;  // known when the memory is made
  }
  const std::uint64_t address = gpu_address(parameter, view, state);
  if (view.keeper != nullptr) state.kept.push_back(std::move(view));
  return address;
}

// The number that an object of another library holds: NumPy's scalars, for which int and float
// work. Arrays are refused: to take the value of one would wait for its work.
Ref scalar_item(PyObject* value) {
  if (PyIndex_Check(value) != 0) {
    const Ref index = Ref::steal(PyNumber_Index(value));
    if (index) return index;
    // Such as an array of NumPy. What the object itself raised comes out.
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError{};
    PyErr_Clear();
  }
  const Ref item = Ref::steal(PyObject_GetAttrString(value, "item"));
  const Ref shape = Ref::steal(PyObject_GetAttrString(value, "shape"));
  PyErr_Clear();
  const bool is_scalar = item && shape && PyTuple_Check(shape.get()) &&
                         PyTuple_Size(shape.get()) == 0 &&
                         common_way(Py_TYPE(value)).exchange == nullptr;
  if (is_scalar) return Ref::checked(PyObject_CallObject(item.get(), nullptr));
  refuse("is {}, for a number", with_article(type_name(value)));
}

std::uint64_t pack_integer(const Parameter& parameter, PyObject* value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (number == -1 && overflow == 0 && PyErr_Occurred() != nullptr) throw PythonError{};
  const auto out_of_range = [&](std::string_view bounds) {
    refuse("is {}, which {}", number_text(value), bounds);
  };
  const bool takes_unsigned = !parameter.dtype || *parameter.dtype == DType::kU64;
  if (overflow > 0 && takes_unsigned && parameter.size == 8) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(value);
    if (large != ~0ull || PyErr_Occurred() == nullptr) return large;
    PyErr_Clear();
  }
  if (overflow != 0) out_of_range("64 bits do not hold");
  if (parameter.dtype) {
    const auto bits = encode_exact(*parameter.dtype, std::int64_t{number});
    if (bits) return *bits;
    if (is_float(*parameter.dtype)) {
      out_of_range(fmt::format("{} does not hold exactly", to_string(*parameter.dtype)));
    }
    out_of_range(fmt::format("{} does not hold: {} to {}", to_string(*parameter.dtype),
                             least(*parameter.dtype), greatest(*parameter.dtype)));
  }
  if (parameter.size < 8) {
    // The signedness is unknown: whatever one of the two holds.
    const std::int64_t bound = std::int64_t{1} << (8 * parameter.size);
    if (number < -bound / 2 || number >= bound) {
      out_of_range(
          fmt::format("{} bytes do not hold: {} to {}", parameter.size, -bound / 2, bound - 1));
    }
  }
  return static_cast<std::uint64_t>(number);
}

std::uint64_t pack_float(const Parameter& parameter, double value) {
  if (parameter.kind == ParamKind::kScalar && parameter.dtype && is_float(*parameter.dtype)) {
    const auto bits = encode_in_range(*parameter.dtype, value);
    if (!bits) refuse("is {}, which is beyond the range of {}", value, to_string(*parameter.dtype));
    return *bits;
  }
  refuse("is the float {}, for an integer; pass an int", value);
}

// The bits of a number, as bytes: struct.pack("<f", x).
std::uint64_t pack_number_bytes(const Parameter& parameter, PyObject* value) {
  const Py_ssize_t size = PyBytes_Size(value);
  if (size != static_cast<Py_ssize_t>(parameter.size) || parameter.size > sizeof(std::uint64_t)) {
    refuse("has {} bytes, the parameter {}", size, parameter.size);
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, PyBytes_AsString(value), parameter.size);
  return bits;
}

std::uint64_t pack_number(const Parameter& parameter, PyObject* value) {
  if (PyFloat_Check(value)) return pack_float(parameter, PyFloat_AsDouble(value));
  if (PyLong_Check(value)) return pack_integer(parameter, value);
  if (PyBytes_Check(value)) return pack_number_bytes(parameter, value);
  const Ref number = scalar_item(value);
  if (PyFloat_Check(number.get())) return pack_float(parameter, PyFloat_AsDouble(number.get()));
  if (PyLong_Check(number.get())) return pack_integer(parameter, number.get());
  refuse("is {}, for a number", with_article(type_name(value)));
}

void* pack_bytes(const Parameter& parameter, PyObject* value, CallState& state) {
  if (PyObject_CheckBuffer(value) == 0) {
    refuse("is {}, for {} bytes by value; pass bytes or a ctypes struct of that size",
           with_article(type_name(value)), parameter.size);
  }
  Py_buffer buffer{};
  if (PyObject_GetBuffer(value, &buffer, PyBUF_SIMPLE) != 0) {
    refuse("is {} that does not give its bytes: {}", with_article(type_name(value)), taken_text());
  }
  state.buffers.push_back(buffer);
  if (buffer.len != static_cast<Py_ssize_t>(parameter.size)) {
    refuse("has {} bytes, the parameter {}", buffer.len, parameter.size);
  }
  return buffer.buf;
}

// The format of the module struct for a number of so many bytes.
const char* struct_format(std::uint32_t bytes, bool is_float) {
  switch (bytes) {
    case 1:
      return "b";
    case 2:
      return is_float ? "e" : "h";
    case 8:
      return is_float ? "d" : "q";
    default:
      return is_float ? "f" : "i";
  }
}

// The image tells only the size.
void* pack_unknown(const Parameter& parameter, PyObject* value, std::size_t index,
                   std::uint64_t& slot, CallState& state) {
  if (PyBytes_Check(value) || PyByteArray_Check(value)) return pack_bytes(parameter, value, state);
  if (PyLong_Check(value) || PyFloat_Check(value)) {
    refuse(
        "is {}, and the image does not tell the parameter's type; pass its bytes, such as "
        "struct.pack(\"<{}\", {})",
        with_article(type_name(value)), struct_format(parameter.size, PyFloat_Check(value) != 0),
        text_of(Ref::checked(PyObject_Str(value)).get()));
  }
  if (parameter.size != sizeof(slot)) return pack_bytes(parameter, value, state);
  slot = pack_address(parameter, value, index, state);
  return &slot;
}

CommonKind common_kind(const ParamFacts& facts) {
  if (facts.kind == ParamKind::kPointer) return CommonKind::kPointer;
  if (facts.kind != ParamKind::kScalar || !facts.dtype) return CommonKind::kNone;
  switch (*facts.dtype) {
    case DType::kI32:
      return CommonKind::kI32;
    case DType::kU32:
      return CommonKind::kU32;
    case DType::kI64:
      return CommonKind::kI64;
    case DType::kF32:
      return CommonKind::kF32;
    default:
      return CommonKind::kNone;  // takes the general way
  }
}

CommonParameter common_parameter(const ParamFacts& facts) {
  CommonParameter common;
  common.kind = common_kind(facts);
  if (facts.kind != ParamKind::kPointer || !facts.dtype) return common;
  common.element = word_of(capi::to_c(facts.dtype));
  const std::size_t bytes = size_of(*facts.dtype);
  common.misaligned = static_cast<std::uint8_t>(bytes - 1);
  // Only sizes that are powers of two have such a mask.
  if (!std::has_single_bit(bytes) || bytes > 256) common.kind = CommonKind::kNone;
  return common;
}

PyObject* pointer_new(PyTypeObject*, PyObject* args, PyObject*) {
  return guarded(
      [&] {
        PyObject* address = nullptr;
        if (PyArg_ParseTuple(args, "O:Pointer", &address) == 0) throw PythonError{};
        if (PyIndex_Check(address) == 0) {
          throw error(ErrorCode::kInvalidInput, "the address of a pointer is {}, it takes an int",
                      with_article(type_name(address)));
        }
        const Ref number = Ref::checked(PyNumber_Index(address));
        const unsigned long long value = PyLong_AsUnsignedLongLong(number.get());
        if (value == ~0ull && PyErr_Occurred() != nullptr) {
          PyErr_Clear();
          throw error(ErrorCode::kInvalidInput,
                      "the address of a pointer is {}, which 64 bits do not hold",
                      number_text(number.get()));
        }
        return make_object(PointerValue{value});
      },
      Subject::kArguments);
}

PyObject* pointer_repr(PyObject* self) {
  return guarded([&] {
    return to_python(fmt::format("baton.Pointer({:#x})", value_of<PointerValue>(self).address));
  });
}

}  // namespace

CallState::CallState(const KernelValue& of)
    : kernel(of), device(of.kernel.device()), simulated(of.simulated) {}

std::vector<Parameter> parameters_of(const Kernel& kernel) {
  const auto& params = kernel.facts().params;
  if (!params) {
    throw error(ErrorCode::kInvalidInput, "the image does not tell the parameters of kernel {}",
                printable(kernel.name()));
  }
  std::vector<Parameter> parameters;
  for (const ParamFacts& facts : *params) {
    Parameter& parameter = parameters.emplace_back();
    parameter.kind = facts.kind;
    parameter.size = facts.size;
    parameter.dtype = facts.dtype;
    parameter.read_only = facts.read_only;
    parameter.type = facts.type;
    parameter.name = facts.name;
    parameter.common = common_parameter(facts);
  }
  return parameters;
}

void* pack_argument(const Parameter& parameter, PyObject* value, std::size_t index,
                    std::uint64_t& slot, CallState& state) {
  switch (parameter.kind) {
    case ParamKind::kPointer:
      slot = pack_address(parameter, value, index, state);
      return &slot;
    case ParamKind::kScalar:
    case ParamKind::kInteger:
      slot = pack_number(parameter, value);
      return &slot;
    case ParamKind::kBytes:
      return pack_bytes(parameter, value, state);
    case ParamKind::kUnknown:
      return pack_unknown(parameter, value, index, slot, state);
  }
  refuse("has a parameter of an unknown kind");
}

Error argument_error(const Kernel& kernel, const Parameter& parameter, std::size_t index,
                     const Error& failure) {
  std::string type =
      parameter.type.empty() ? fmt::format("{} bytes", parameter.size) : printable(parameter.type);
  if (!parameter.name.empty()) type += fmt::format(" {}", printable(parameter.name));
  // Advice comes last.
  const std::string& what = failure.message();
  const std::size_t end = std::min(what.find("; "), what.size());
  return error(failure.code(), "kernel {}: argument {} {}; the parameter is {}{}",
               printable(kernel.facts().demangled), index, what.substr(0, end), type,
               what.substr(end));
}

void add_pointer_type(PyObject* module) {
  static PyType_Slot slots[] = {
      slot(Py_tp_new, pointer_new),
      slot(Py_tp_dealloc, destroy_object<PointerValue>),
      slot(Py_tp_repr, pointer_repr),
      {Py_tp_doc, const_cast<char*>("Pointer(address): an address in device memory, as it is. The "
                                    "caller vouches for it.")},
      {0, nullptr}};
  add_type<PointerValue>(module, "baton._core.Pointer", slots, true);
}

}  // namespace baton::python
