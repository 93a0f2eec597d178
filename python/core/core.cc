// The extension baton._core: what is called often. The package's own modules are plain Python over
// it.

#include "base/error.h"
#include "baton/schedule.h"
#include "baton/tvm_library.h"
#include "bundle/index.h"
#include "capi/dtype.h"
#include "compile/compiler_call.h"
#include "compile/nvrtc/search_places.h"
#include "core/array.h"
#include "core/device.h"
#include "core/extension_module.h"
#include "core/given.h"
#include "core/inner_array.h"
#include "core/kernel.h"
#include "core/library.h"
#include "core/module.h"
#include "core/object.h"
#include "core/observer.h"
#include "core/parameter.h"
#include "core/program.h"
#include "core/python.h"
#include "core/stream.h"
#include "core/subject.h"
#include "core/tensor_map.h"
#include "core/values.h"
#include "core/wait.h"
#include "image/names/readable_names.h"

namespace baton::python {
namespace {

// The bytes of a contiguous array in host memory, and its view. Errors begin with what it is of.
std::uint64_t view_source(PyObject* source, TensorView& view) {
  const bool is_array =
      with_subject("the array to copy", [&] { return view_tensor(source, view); });
  if (!is_array || !view.on_host()) {
    throw error(ErrorCode::kInvalidInput,
                "array() takes an array in host memory, such as NumPy's; {} was given",
                with_article(type_name(source)));
  }
  return with_subject("the array to copy", [&] { return contiguous_bytes(view.tensor); });
}

// The type of a host array's elements, where the caller names none.
DType dtype_of(const TensorView& view) {
  const auto& given = view.tensor.dtype;
  const baton_dtype type{given.code, given.bits, given.lanes};
  if (const auto known = capi::dtype_of(type)) return *known;
  throw error(ErrorCode::kInvalidInput,
              "the elements of {} are of no type that Baton has; name theirs, such as "
              "dtype=\"bf16\", or convert the array",
              describe(view));
}

// array(source, device, dtype): a device array with the contents of a host array.
PyObject* array_of(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded(
      [&] {
        static constexpr std::array<const char*, 3> kNames = {"source", "device", "dtype"};
        const Given given("array", kNames, 2, 1, args, nargs, names);
        TensorView view;
        const std::uint64_t bytes = view_source(given[0], view);
        const DType dtype = given.set(2) != nullptr ? dtype_argument(given[2]) : dtype_of(view);
        if (8 * size_of(dtype) != view.tensor.dtype.bits) {
          throw error(ErrorCode::kInvalidInput, "{} was given as {}, which has {} bits",
                      describe(view), to_string(dtype), 8 * size_of(dtype));
        }
        const Device device = device_argument(given.set(1));
        ArrayValue array =
            new_array(device, dtype, {view.tensor.shape, view.tensor.shape + view.tensor.ndim});
        if (bytes != 0) {
          const Stream stream = adopted(CallStream().choose(nullptr, device), device);
          upload(array, static_cast<std::byte*>(view.tensor.data) + view.tensor.byte_offset,
                 stream);
        }
        return make_object(std::move(array));
      },
      Subject::kArguments);
}

// devices(): the names of all devices, GPUs first.
PyObject* devices(PyObject*, PyObject*) {
  return guarded([&] {
    return tuple_of(list_devices(),
                    [](const DeviceSummary& device) { return to_python(device.spec); });
  });
}

// open_device(name): the device of that name; for None that of `baton.on`, else the default.
PyObject* open_device(PyObject*, PyObject* name) {
  return guarded([&] { return make_object(device_argument(name)); });
}

PyObject* is_bundle(PyObject*, PyObject* path) {
  return guarded([&] { return to_python(Bundle::is_bundle(path_argument(path))); });
}

// holds_bundle(bytes): the same of bytes in memory.
PyObject* holds_bundle(PyObject*, PyObject* bytes) {
  return guarded([&] { return to_python(bundle::is_bundle(bytes_argument(bytes))); });
}

// readable_names(text): the text with mangled names as the source writes them.
PyObject* readable_names(PyObject*, PyObject* text) {
  return guarded([&] { return to_python(image::with_readable_names(text_of(text))); });
}

// sign_bundle(bundle, key, output): paths. Returns the key's id.
PyObject* sign_bundle_file(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 3> kNames = {"bundle", "key", "output"};
    const Given given("sign_bundle", kNames, 3, 3, args, nargs, names);
    const SigningKey key = SigningKey::from_file(path_argument(given[1]));
    const std::string bundle = path_argument(given[0]);
    const std::string output = path_argument(given[2]);
    {
      const WithoutGil released;
      sign_bundle(bundle, key, output);
    }
    return to_python(key.public_key().id());
  });
}

// write_tvm_library(bundle, library): paths.
PyObject* write_tvm_library_file(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 2> kNames = {"bundle", "library"};
    const Given given("write_tvm_library", kNames, 2, 2, args, nargs, names);
    const std::string bundle = path_argument(given[0]);
    const std::string library = path_argument(given[1]);
    {
      const WithoutGil released;
      write_tvm_library(bundle, library);
    }
    return none();
  });
}

// view(array): whether it is in host memory, and its shape.
PyObject* view(PyObject*, PyObject* object) {
  return guarded(
      [&] {
        TensorView seen;
        if (!view_tensor(object, seen)) {
          throw error(ErrorCode::kInvalidInput, "{} was given, which is not an array",
                      with_article(type_name(object)));
        }
        const Ref on_host = to_python(seen.on_host());
        const Ref shape = shape_tuple({seen.tensor.shape, seen.tensor.shape + seen.tensor.ndim});
        return Ref::checked(PyTuple_Pack(2, on_host.get(), shape.get()));
      },
      Subject::kArguments);
}

PyObject* element_size(PyObject*, PyObject* dtype) {
  return guarded([&] { return to_python(std::uint64_t{size_of(dtype_argument(dtype))}); },
                 Subject::kArguments);
}

// schedule(text): the normal form of a schedule's name.
PyObject* schedule(PyObject*, PyObject* text) {
  return guarded([&] { return to_python(to_string(parse_schedule(text_of(text)))); },
                 Subject::kArguments);
}

// search_packages(folders): the folders of Python packages whose NVIDIA wheels are searched.
PyObject* search_packages(PyObject*, PyObject* folders) {
  return guarded([&] {
    std::vector<std::filesystem::path> paths;
    const Ref sequence = Ref::checked(PySequence_Tuple(folders));
    const Py_ssize_t count = PyTuple_Size(sequence.get());
    for (Py_ssize_t i = 0; i < count; ++i) {
      paths.push_back(path_argument(PyTuple_GetItem(sequence.get(), i)));
    }
    compiler::set_site_packages(std::move(paths));
    return none();
  });
}

// note_end(): the interpreter is about to end.
PyObject* note_end(PyObject*, PyObject*) {
  ending_thread = PyThread_get_thread_ident();
  Py_RETURN_NONE;
}

// await_compilers(): for the end of the process, which must not come while one runs.
PyObject* await_compilers(PyObject*, PyObject*) {
  const WithoutGil released;
  compiler::await_compilers();
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"array", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(array_of)),
     METH_FASTCALL | METH_KEYWORDS,
     "array(source, device=None, *, dtype=None): a baton.Array with a copy of a contiguous array "
     "in host memory, such as "
     "NumPy's. dtype names the type of raw elements (\"bf16\"). Waits for the copy. Any thread may "
     "call it. Raises "
     "ArgumentError for what is no such array, and OutOfMemoryError."},
    {"devices", devices, METH_NOARGS,
     "devices(): the names of all devices, GPUs first: (\"cuda:0\", \"sim:h200\", ...). Any thread "
     "may call it."},
    {"open_device", open_device, METH_O, nullptr},
    {"is_bundle", is_bundle, METH_O, nullptr},
    {"holds_bundle", holds_bundle, METH_O, nullptr},
    {"readable_names", readable_names, METH_O, nullptr},
    {"sign_bundle", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(sign_bundle_file)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"write_tvm_library",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(write_tvm_library_file)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"note_end", note_end, METH_NOARGS, nullptr},
    {"await_compilers", await_compilers, METH_NOARGS, nullptr},
    {"view", view, METH_O, nullptr},
    {"element_size", element_size, METH_O, nullptr},
    {"schedule", schedule, METH_O, nullptr},
    {"search_packages", search_packages, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

int execute(PyObject* module) {
  return guarded_status([&] {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
      PyErr_SetString(PyExc_ImportError,
                      "baton works in the main interpreter of a process, and this is another one: "
                      "import it there, and use threads or processes");
      throw PythonError{};
    }
    if (type_of<Device> != nullptr) {
      PyErr_SetString(PyExc_ImportError,
                      "baton._core can be loaded once in a process, and it was removed from "
                      "sys.modules: keep the module that was imported first");
      throw PythonError{};
    }
    install_waits();
    add_device_type(module);
    add_stream_types(module);
    add_array_type(module);
    add_pointer_type(module);
    add_module_type(module);
    add_kernel_types(module);
    add_plan_type(module);
    add_library_type(module);
    add_observer(module);
    add_tensor_map(module);
    add_inner_arrays(module);
    add_program_types(module);
    add_executable_type(module);
    check(PyModule_AddFunctions(module, functions));
    check(PyModule_AddStringConstant(module, "__version__", BATON_VERSION));
  });
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(execute)},
#ifdef Py_GIL_DISABLED
                            {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                            {0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "baton._core", nullptr, 0, nullptr, slots, nullptr, nullptr, nullptr};

}  // namespace

PyObject* extension_module() {
#if defined(BATON_PYTHON_OPTIONAL)
  if (&PyModuleDef_Init == nullptr) return nullptr;
#endif
  return PyModuleDef_Init(&definition);
}

}  // namespace baton::python
