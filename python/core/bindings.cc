#include "core/bindings.h"

#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "capi/dtype.h"
#include "core/device.h"
#include "core/given.h"
#include "core/inner_array.h"
#include "core/values.h"

namespace baton::python {
namespace {

const ProgramBuffer& find_buffer(const Program& program, std::string_view name) {
  if (const ProgramBuffer* const found = program.buffer(name)) return *found;
  std::vector<std::string_view> names;
  for (const ProgramBuffer& buffer : program.buffers()) names.push_back(buffer.name);
  for (const ProgramSymbol& symbol : program.symbols()) names.push_back(symbol.name);
  throw error(ErrorCode::kNotFound, "the program {} has no buffer or symbol \"{}\"{}",
              program.name(), printable(name), suggestion(name, names));
}

// Raw elements of NumPy, and unsigned integers of the size, stand for bf16 and fp8.
bool fits(DType dtype, const baton_dtype& given) {
  const baton_dtype wanted = capi::to_c(dtype);
  if (given.lanes != 1 || given.bits != wanted.bits) return false;
  if (given.code == wanted.code || given.code == kDlOpaque) return true;
  const bool has_no_numpy_type =
      dtype == DType::kBF16 || dtype == DType::kF8E4M3 || dtype == DType::kF8E5M2;
  return has_no_numpy_type && given.code == 1;
}

void check_array(BufferArray& array, const Device& device, std::size_t dimensions) {
  const baton_tensor& tensor = array.view.tensor;
  baton_dtype dtype{};
  std::memcpy(&dtype, &tensor.dtype, sizeof(dtype));
  if (!fits(array.buffer->dtype, dtype)) {
    throw error(ErrorCode::kInvalidInput, "is {}, the buffer is of {}", describe(array.view),
                to_string(array.buffer->dtype));
  }
  if (static_cast<std::size_t>(tensor.ndim) != dimensions) {
    throw error(ErrorCode::kInvalidInput, "has {} dimensions, the buffer has {}", tensor.ndim,
                dimensions);
  }
  array.bytes = contiguous_bytes(tensor);
  // Host arrays are copied, on a GPU too.
  if (!array.on_host()) require_reachable(array.view, device, "the program");
}

// An int for a symbol.
std::int64_t symbol_value(std::string_view name, PyObject* object) {
  const Ref number = Ref::steal(PyIndex_Check(object) != 0 ? PyNumber_Index(object) : nullptr);
  if (!number) {
    PyErr_Clear();
    throw error(ErrorCode::kInvalidInput, "the symbol {} is given a {}, it takes an int",
                printable(name), type_name(object));
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow != 0) {
    throw error(ErrorCode::kInvalidInput, "the symbol {} is given {}, which 64 bits do not hold",
                printable(name), number_text(number.get()));
  }
  return value;
}

// Calls `body` with each name and value of a dict.
template <typename Body>
void for_each(PyObject* dict, const char* what, const Body& body) {
  if (dict == nullptr || dict == Py_None) return;
  if (!PyDict_Check(dict)) {
    throw error(ErrorCode::kInvalidInput, "{} are a {}, they are a dict by name", what,
                type_name(dict));
  }
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict, &position, &key, &value) != 0) {
    if (!PyUnicode_Check(key)) {
      throw_argument_error(fmt::format("the names of {} are of the type str, and one is {}", what,
                                       with_article(type_name(key))));
    }
    body(text_of(key), value);
  }
}

}  // namespace

Array BufferArray::contents() const {
  Array array{buffer->dtype, shape, {}};
  array.bytes.assign(static_cast<const char*>(data()), bytes);
  return array;
}

DeviceArray BufferArray::memory() const {
  return {buffer->dtype, shape, reinterpret_cast<std::uintptr_t>(data())};
}

BufferArray buffer_array(const Program& program, const Device& device, std::string_view name,
                         PyObject* object) {
  BufferArray array;
  array.buffer = &find_buffer(program, name);
  try {
    if (!view_tensor(object, array.view)) {
      throw error(ErrorCode::kInvalidInput, "is {}, which is not an array",
                  with_article(type_name(object)));
    }
    check_array(array, device, array.buffer->shape.size());
  } catch (const Error& failure) {
    throw error_at(array.buffer->where, failure.code(), "the array for the buffer {} {}", name,
                   failure.message());
  }
  array.shape.assign(array.view.tensor.shape, array.view.tensor.shape + array.view.tensor.ndim);
  return array;
}

std::vector<std::pair<std::string, std::int64_t>> symbols_argument(PyObject* dict) {
  std::vector<std::pair<std::string, std::int64_t>> values;
  for_each(dict, "symbols", [&](std::string_view name, PyObject* value) {
    values.emplace_back(std::string(name), symbol_value(name, value));
  });
  return values;
}

void GivenBindings::arrays(PyObject* dict) {
  for_each(dict, "arrays", [&](std::string_view name, PyObject* value) {
    const BufferArray array = buffer_array(program_, device_, name, value);
    if (array.on_host()) {
      bindings_.inputs.emplace_back(std::string(name), array.contents());
    } else {
      bindings_.memory.emplace_back(std::string(name), array.memory());
    }
  });
}

}  // namespace baton::python
