#include "core/array.h"

#include <cstring>
#include <string>

#include "base/error.h"
#include "base/text/text.h"
#include "capi/dtype.h"
#include "core/device.h"
#include "core/dlpack.h"
#include "core/given.h"
#include "core/stream.h"
#include "core/subject.h"
#include "core/tensor.h"
#include "core/values.h"
#include "core/wait.h"

namespace baton::python {
namespace {

std::uint64_t count(const std::vector<std::int64_t>& shape) {
  std::uint64_t elements = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(extent), &elements)) {
      throw error(ErrorCode::kOutOfMemory, "the array has more elements than 64 bits can count");
    }
  }
  return elements;
}

// A stream for a copy that waits: the thread's own for this device, otherwise the default one.
Stream copy_stream(const Device& device) {
  return adopted(CallStream().choose(nullptr, device), device);
}

// The host array that `object` is, checked against the array that it is copied to or from.
TensorView host_view(PyObject* object, const ArrayValue& array, bool written) {
  TensorView view;
  const bool is_array =
      with_subject("the array of the host", [&] { return view_tensor(object, view); });
  if (!is_array || !view.on_host()) {
    throw error(ErrorCode::kInvalidInput,
                "copies take an array in host memory, such as NumPy's; {} was given",
                with_article(type_name(object)));
  }
  baton_dtype dtype{};
  std::memcpy(&dtype, &view.tensor.dtype, sizeof(dtype));
  const baton_dtype wanted = capi::to_c(array.dtype);
  const bool raw = dtype.code == kDlOpaque || dtype.code == 1;  // bytes of any meaning
  const bool fits = dtype.bits == wanted.bits && (raw || dtype.code == wanted.code);
  if (!fits) {
    throw error(ErrorCode::kInvalidInput, "{} was given for an array of {}", describe(view),
                to_string(array.dtype));
  }
  const std::uint64_t bytes =
      with_subject("the array of the host", [&] { return contiguous_bytes(view.tensor); });
  if (bytes != array.bytes()) {
    throw error(ErrorCode::kInvalidInput, "{} of {} bytes was given for an array of {} bytes",
                describe(view), bytes, array.bytes());
  }
  if (written && view.read_only) {
    throw error(ErrorCode::kInvalidInput, "{} is read-only", describe(view));
  }
  return view;
}

void* data_of(const TensorView& view) {
  return static_cast<std::byte*>(view.tensor.data) + view.tensor.byte_offset;
}

PyObject* array_copy_from(PyObject* self, PyObject* source) {
  return guarded(
      [&] {
        const ArrayValue& array = value_of<ArrayValue>(self);
        const TensorView view = host_view(source, array, false);
        upload(array, data_of(view), copy_stream(array.device()));
        return Ref::borrow(self);
      },
      Subject::kArguments);
}

PyObject* array_copy_to(PyObject* self, PyObject* target) {
  return guarded(
      [&] {
        const ArrayValue& array = value_of<ArrayValue>(self);
        const TensorView view = host_view(target, array, true);
        download(array, data_of(view), copy_stream(array.device()));
        return Ref::borrow(target);
      },
      Subject::kArguments);
}

PyObject* array_bytes(PyObject* self, PyObject*) {
  return guarded([&] {
    const ArrayValue& array = value_of<ArrayValue>(self);
    Ref bytes =
        Ref::checked(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(array.bytes())));
    download(array, PyBytes_AsString(bytes.get()), copy_stream(array.device()));
    return bytes;
  });
}

// NumPy is imported only here.
PyObject* array_numpy(PyObject* self, PyObject*) {
  return guarded([&] { return call_python("_arrays", "to_numpy", Ref::borrow(self)); });
}

PyObject* array_array(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    const Ref convert = package_attribute("_arrays", "as_array");
    Ref all = Ref::checked(PyTuple_New(PyTuple_Size(args) + 1));
    check(PyTuple_SetItem(all.get(), 0, Ref::borrow(self).release()));
    for (Py_ssize_t i = 0; i < PyTuple_Size(args); ++i) {
      check(PyTuple_SetItem(all.get(), i + 1, Ref::borrow(PyTuple_GetItem(args, i)).release()));
    }
    return Ref::checked(PyObject_Call(convert.get(), all.get(), keywords));
  });
}

PyObject* array_zero(PyObject* self, PyObject*) {
  return guarded([&] {
    const ArrayValue& array = value_of<ArrayValue>(self);
    wait_for_all(array.device());
    const Stream stream = copy_stream(array.device());
    if (array.bytes() != 0) array.memory->fill(0, 1, array.bytes(), array.offset, stream);
    wait_for(stream);
    return Ref::borrow(self);
  });
}

PyObject* array_set_name(PyObject* self, PyObject* name) {
  return guarded([&] {
    value_of<ArrayValue>(self).memory->set_name(text_argument(name, "the name of an array"));
    return none();
  });
}

PyObject* array_reshape(PyObject* self, PyObject* shape) {
  return guarded(
      [&] {
        ArrayValue array = value_of<ArrayValue>(self);
        const std::uint64_t before = array.elements();
        array.shape = shape_argument(shape);
        if (array.elements() != before) {
          throw error(ErrorCode::kInvalidInput, "the shape has {} elements, the array {}",
                      array.elements(), before);
        }
        return make_object(std::move(array));
      },
      Subject::kArguments);
}

Py_ssize_t array_length(PyObject* self) {
  const ArrayValue& array = value_of<ArrayValue>(self);
  if (array.shape.empty()) {
    PyErr_SetString(PyExc_TypeError, "an array without dimensions has no length");
    return -1;
  }
  return static_cast<Py_ssize_t>(array.shape[0]);
}

// a[i] and a[i:j]: rows along the first axis, in the same memory.
PyObject* array_item(PyObject* self, PyObject* key) {
  return guarded([&]() -> Ref {
    ArrayValue array = value_of<ArrayValue>(self);
    const Py_ssize_t length = array_length(self);
    check(length < 0 ? -1 : 0);
    const std::uint64_t row = length == 0 ? 0 : array.bytes() / static_cast<std::uint64_t>(length);
    Py_ssize_t first = 0, last = 0, step = 1;
    if (PySlice_Check(key)) {
      check(PySlice_Unpack(key, &first, &last, &step));
      const Py_ssize_t rows = PySlice_AdjustIndices(length, &first, &last, step);
      if (step != 1) {
        PyErr_SetString(PyExc_IndexError, "a slice of a baton.Array takes the step 1");
        throw PythonError{};
      }
      array.shape[0] = rows;
    } else {
      first = PyNumber_AsSsize_t(key, PyExc_IndexError);
      if (first == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
      if (first < 0) first += length;
      if (first < 0 || first >= length) {
        PyErr_Format(PyExc_IndexError, "the index is out of range: the array has %zd rows", length);
        throw PythonError{};
      }
      array.shape.erase(array.shape.begin());
    }
    array.offset += static_cast<std::uint64_t>(first) * row;
    return make_object(std::move(array));
  });
}

PyObject* array_repr(PyObject* self) {
  return guarded([&] {
    const ArrayValue& array = value_of<ArrayValue>(self);
    const Ref shape = Ref::checked(PyObject_Repr(shape_tuple(array.shape).get()));
    return to_python(fmt::format("<baton.Array {} {} on {}>", to_string(array.dtype),
                                 text_of(shape.get()), array.device().spec()));
  });
}

// The memory that a capsule of DLPack keeps alive.
struct Exported {
  DlManagedTensorVersioned versioned{};
  DlManagedTensor legacy{};
  ArrayValue array;
};

void fill(baton_tensor& tensor, ArrayValue& array) {
  tensor.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(array.address()));
  tensor.device = {kDlCuda, ordinal_of(array.device())};
  tensor.ndim = static_cast<std::int32_t>(array.shape.size());
  tensor.dtype = capi::to_c(array.dtype);
  tensor.shape = array.shape.data();
}

// Deletes what a capsule holds that no consumer took.
template <typename Managed>
void drop_capsule(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

void require_gpu(const ArrayValue& array) {
  if (!is_simulated(array.device())) return;
  PyErr_Format(PyExc_BufferError,
               "the array is in memory of the simulated GPU, which only Baton's kernels can read; "
               "copy it with numpy()");
  throw PythonError{};
}

// `dl_device=`: the array is never copied to another device.
void require_own_device(PyObject* asked, const ArrayValue& array) {
  if (asked == nullptr || asked == Py_None) return;
  int type = 0, id = 0;
  if (!PyTuple_Check(asked) || PyArg_ParseTuple(asked, "ii:dl_device", &type, &id) == 0) {
    if (PyErr_Occurred() == nullptr) {
      PyErr_SetString(PyExc_TypeError, "dl_device is a pair of DLPack's device type and id");
    }
    throw PythonError{};
  }
  if (type == kDlCuda && id == ordinal_of(array.device())) return;
  PyErr_Format(PyExc_BufferError,
               "the array is on DLPack's device (%d, %d) and does not copy itself to (%d, %d)",
               kDlCuda, ordinal_of(array.device()), type, id);
  throw PythonError{};
}

// `stream=`: the consumer's stream as an address, or -1 for none.
long long consumer_stream(PyObject* given) {
  constexpr long long kLegacy = 1;
  if (given == nullptr || given == Py_None) return kLegacy;
  const long long consumer = PyLong_AsLongLong(given);
  if (consumer == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
  if (consumer < -1 || consumer == 0) {
    PyErr_Format(PyExc_ValueError,
                 "stream=%lld is no stream of CUDA for DLPack; 1 is the legacy default stream",
                 consumer);
    throw PythonError{};
  }
  return consumer;
}

// The owner of the exported memory may be the last one of a Python object: the interpreter's lock
// is needed.
void delete_exported(Exported* exported) {
  const WithGil held;
  delete exported;
}

PyObject* array_dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
    PyObject *stream = nullptr, *version = nullptr, *device = nullptr, *copy = nullptr;
    const Ref nothing = Ref::checked(PyTuple_New(0));
    if (PyTuple_Size(args) != 0 ||
        PyArg_ParseTupleAndKeywords(nothing.get(), keywords, "|OOOO:__dlpack__",
                                    const_cast<char**>(names), &stream, &version, &device,
                                    &copy) == 0) {
      if (PyErr_Occurred() == nullptr) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__() takes keyword arguments only");
      }
      throw PythonError{};
    }
    const ArrayValue& array = value_of<ArrayValue>(self);
    require_gpu(array);
    if (copy != nullptr && copy == Py_True) {
      PyErr_SetString(PyExc_BufferError, "a baton.Array does not copy itself for DLPack");
      throw PythonError{};
    }
    require_own_device(device, array);
    // A consumer's stream waits for the work of this thread's stream: the array was written there.
    // None is the legacy default stream, -1 no stream.
    const long long consumer = consumer_stream(stream);
    if (consumer != -1) {
      const NativeStream producer = CallStream().choose(nullptr, array.device());
      if (reinterpret_cast<std::intptr_t>(producer) != consumer) {
        Event event(array.device(), false);
        event.record(adopted(producer, array.device()));
        adopted(reinterpret_cast<NativeStream>(static_cast<std::intptr_t>(consumer)),
                array.device())
            .wait(event);
      }
    }
    auto exported = std::make_unique<Exported>();
    exported->array = array;
    const bool versioned =
        version != nullptr && PyTuple_Check(version) && PyTuple_Size(version) == 2 &&
        PyLong_AsLong(PyTuple_GetItem(version, 0)) >= static_cast<long>(kDlMajor);
    if (versioned) {
      DlManagedTensorVersioned& managed = exported->versioned;
      managed.version = {kDlMajor, 1};
      fill(managed.tensor, exported->array);
      managed.context = exported.get();
      managed.deleter = [](DlManagedTensorVersioned* dropped) {
        delete_exported(static_cast<Exported*>(dropped->context));
      };
      Ref capsule =
          Ref::checked(PyCapsule_New(&managed, "dltensor_versioned", [](PyObject* dropped) {
            drop_capsule<DlManagedTensorVersioned>(dropped, "dltensor_versioned");
          }));
      exported.release();
      return capsule;
    }
    DlManagedTensor& managed = exported->legacy;
    fill(managed.tensor, exported->array);
    managed.context = exported.get();
    managed.deleter = [](DlManagedTensor* dropped) {
      delete_exported(static_cast<Exported*>(dropped->context));
    };
    Ref capsule = Ref::checked(PyCapsule_New(&managed, "dltensor", [](PyObject* dropped) {
      drop_capsule<DlManagedTensor>(dropped, "dltensor");
    }));
    exported.release();
    return capsule;
  });
}

PyObject* array_dlpack_device(PyObject* self, PyObject*) {
  return guarded([&] {
    const ArrayValue& array = value_of<ArrayValue>(self);
    require_gpu(array);
    return Ref::checked(Py_BuildValue("(ii)", kDlCuda, ordinal_of(array.device())));
  });
}

PyMethodDef array_methods[] = {
    {"copy_from", array_copy_from, METH_O,
     "copy_from(array): waits for all work on the device, and uploads a host array of the same "
     "type and size. Returns self. Raises ArgumentError for another array."},
    {"copy_to", array_copy_to, METH_O,
     "copy_to(array): waits for all work on the device, and downloads into a host array of the "
     "same type and size. Returns that array. Raises ArgumentError for another array."},
    {"tobytes", array_bytes, METH_NOARGS,
     "Waits for all work on the device, and downloads the bytes."},
    {"numpy", array_numpy, METH_NOARGS,
     "Waits for all work on the device, and returns a copy as a NumPy array. bf16 and fp8 need "
     "ml_dtypes, otherwise they are raw elements."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(array_array)),
     METH_VARARGS | METH_KEYWORDS, "A copy for NumPy."},
    {"zero", array_zero, METH_NOARGS,
     "Waits for all work on the device, and sets zeros. Returns self."},
    {"set_name", array_set_name, METH_O, "set_name(text): the name of its memory in findings."},
    {"reshape", array_reshape, METH_O,
     "reshape(shape): the same memory with another shape of as many elements. Raises ArgumentError "
     "for another count."},
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(array_dlpack)),
     METH_VARARGS | METH_KEYWORDS, "DLPack 1.x, for memory of a GPU."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, "DLPack's device type and id."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef array_properties[] = {
    {"shape",
     get_property<ArrayValue, [](const ArrayValue& array) { return shape_tuple(array.shape); }>,
     nullptr, "A tuple of extents.", nullptr},
    {"dtype",
     get_property<ArrayValue,
                  [](const ArrayValue& array) { return to_python(to_string(array.dtype)); }>,
     nullptr, "\"f32\": the element type.", nullptr},
    {"nbytes",
     get_property<ArrayValue, [](const ArrayValue& array) { return to_python(array.bytes()); }>,
     nullptr, "Bytes.", nullptr},
    {"size",
     get_property<ArrayValue, [](const ArrayValue& array) { return to_python(array.elements()); }>,
     nullptr, "Elements.", nullptr},
    {"address",
     get_property<ArrayValue, [](const ArrayValue& array) { return to_python(array.address()); }>,
     nullptr, "The address in device memory.", nullptr},
    {"references",
     get_property<ArrayValue,
                  [](const ArrayValue& array) {
                    return to_python(static_cast<std::int64_t>(array.memory.use_count()));
                  }>,
     nullptr, "How many arrays, slices and exported tensors share the memory.", nullptr},
    {"device",
     get_property<ArrayValue, [](const ArrayValue& array) { return make_object(array.device()); }>,
     nullptr, "The baton.Device.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

std::uint64_t ArrayValue::elements() const {
  return count(shape);
}

ArrayValue new_array(const Device& device, DType dtype, std::vector<std::int64_t> shape,
                     std::shared_ptr<Allocator> allocator) {
  const std::size_t bytes = detail::array_bytes(count(shape), size_of(dtype));
  auto memory = std::make_shared<Memory>(device, bytes, std::move(allocator));
  return {std::move(memory), 0, dtype, std::move(shape), {}};
}

ArrayValue new_array_in_order(const StreamValue& stream, DType dtype,
                              std::vector<std::int64_t> shape) {
  const std::size_t bytes = detail::array_bytes(count(shape), size_of(dtype));
  // The stream frees the memory, and must exist until then.
  struct InOrder {
    std::shared_ptr<const Stream> stream;
    Memory memory;
  };
  auto kept =
      std::make_shared<InOrder>(InOrder{stream.stream, Memory::in_order(*stream.stream, bytes)});
  return {std::shared_ptr<Memory>(kept, &kept->memory), 0, dtype, std::move(shape), {}};
}

// The driver's copies wait for work that another thread enqueued after the waits here, so they go
// without the interpreter's lock.
void upload(const ArrayValue& array, const void* from, const Stream& stream) {
  wait_for_all(array.device());
  if (array.bytes() != 0) {
    const WithoutGil released;
    array.memory->upload(from, array.bytes(), array.offset, stream);
  }
  wait_for(stream);
}

void download(const ArrayValue& array, void* to, const Stream& stream) {
  wait_for_all(array.device());
  if (array.bytes() != 0) {
    const WithoutGil released;
    array.memory->download(to, array.bytes(), array.offset, stream);
  }
  wait_for(stream);
}

void add_array_type(PyObject* module) {
  static PyType_Slot slots[] = {
      slot(Py_tp_dealloc, destroy_object<ArrayValue>),
      slot(Py_tp_repr, array_repr),
      slot(Py_mp_length, array_length),
      slot(Py_mp_subscript, array_item),
      {Py_tp_methods, array_methods},
      {Py_tp_getset, array_properties},
      {Py_tp_doc,
       const_cast<char*>(
           "An array in memory of one device, in C order: baton.array, baton.empty and "
           "baton.zeros make it. a[i] and a[i:j] are rows in the same memory, which lives "
           "as long as one of them. Any thread may use it; the order of work is that of "
           "its streams.")},
      {0, nullptr}};
  add_type<ArrayValue>(module, "baton._core.Array", slots, false, Py_TPFLAGS_BASETYPE);
}

}  // namespace baton::python
