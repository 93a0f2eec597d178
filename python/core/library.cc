#include "core/library.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text/text.h"
#include "baton/compile.h"
#include "baton/metadata.h"
#include "core/device.h"
#include "core/given.h"
#include "core/kernel.h"
#include "core/module.h"
#include "core/values.h"

namespace baton::python {
namespace {

// baton.LibraryFunction: a kernel, and how it is called by its launch metadata.
struct LibraryFunctionValue {
  FunctionMetadata metadata;
  Ref kernel;

  const KernelValue& of() const { return value_of<KernelValue>(kernel.get()); }
};

Operand operand_of(std::string_view name, PyObject* value) {
  if (PyBool_Check(value)) return Operand(value == Py_True);
  if (PyFloat_Check(value)) return Operand(PyFloat_AsDouble(value));
  const Ref number = Ref::steal(PyIndex_Check(value) != 0 ? PyNumber_Index(value) : nullptr);
  if (!number) {
    PyErr_Clear();
    throw error(ErrorCode::kInvalidInput, "the launch value {} is {}, it takes an int", name,
                with_article(type_name(value)));
  }
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow != 0) {
    throw error(ErrorCode::kInvalidInput, "the launch value {} is beyond 64 bits", name);
  }
  return Operand(integer);
}

// The config of a packed call: its launch values follow the kernel's arguments, which are packed
// elsewhere, so that zeros serve for them here.
LaunchConfig config_of(const LibraryFunctionValue& function, PyObject* const* values,
                       std::size_t count) {
  const FunctionMetadata& metadata = function.metadata;
  std::vector<Operand> operands;
  for (const FunctionMetadata::Parameter& parameter : metadata.parameters()) {
    alignas(64) static constexpr std::byte kNoMap[128] = {};
    if (parameter.tensor_map) {
      operands.emplace_back(static_cast<const void*>(kNoMap));
    } else if (parameter.type.code == MetadataType::Code::kHandle) {
      operands.emplace_back(nullptr);
    } else {
      operands.emplace_back(0);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    operands.push_back(operand_of(metadata.operands()[i], values[i]));
  }
  const PackedLaunch packed = metadata.pack(operands);
  const Device& device = function.of().kernel.device();
  return metadata.config(packed.values(), device, device);
}

PyObject* function_call(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded(
      [&] {
        const LibraryFunctionValue& function = value_of<LibraryFunctionValue>(self);
        PyObject* stream = nullptr;
        if (keywords != nullptr) {
          stream = PyDict_GetItemString(keywords, "stream");
          if (PyDict_Size(keywords) != (stream == nullptr ? 0 : 1)) {
            throw error(ErrorCode::kInvalidInput, "a packed call takes stream= only by keyword");
          }
        }
        std::vector<PyObject*> values;
        for (Py_ssize_t i = 0; i < PyTuple_Size(args); ++i) {
          values.push_back(PyTuple_GetItem(args, i));
        }
        const std::size_t own = function.metadata.parameters().size();
        const std::size_t all = own + function.metadata.operands().size();
        if (values.size() != all) {
          throw error(ErrorCode::kInvalidInput,
                      "{} takes {} arguments and then {} launch values ({}), {} values were given",
                      printable(function.metadata.symbol()), own, all - own,
                      fmt::join(function.metadata.operands(), ", "), values.size());
        }
        LaunchConfig config = config_of(function, values.data() + own, all - own);
        launch(function.of(), config, values.data(), own, stream);
        return none();
      },
      Subject::kArguments);
}

PyObject* function_repr(PyObject* self) {
  return guarded([&] {
    const LibraryFunctionValue& function = value_of<LibraryFunctionValue>(self);
    return to_python(fmt::format("<baton.LibraryFunction {} on {}>",
                                 printable(function.metadata.symbol()),
                                 function.of().kernel.device().spec()));
  });
}

PyGetSetDef properties[] = {
    {"kernel",
     get_property<LibraryFunctionValue,
                  [](const LibraryFunctionValue& function) { return function.kernel; }>,
     nullptr, "The baton.Kernel.", nullptr},
    {"launch_values",
     get_property<LibraryFunctionValue,
                  [](const LibraryFunctionValue& function) {
                    return tuple_of(function.metadata.operands(),
                                    [](std::string_view name) { return to_python(name); });
                  }>,
     nullptr, "The names of what a call passes after the kernel's arguments: \"grid.x\".", nullptr},
    {"flags",
     get_property<LibraryFunctionValue,
                  [](const LibraryFunctionValue& function) {
                    return tuple_of(function.metadata.flags(),
                                    [](std::string_view name) { return to_python(name); });
                  }>,
     nullptr, "What every launch has: \"programmatic_stream_serialization\".", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// How a library's CUDA source is compiled.
struct SourceSettings {
  std::vector<std::filesystem::path> include;
  std::vector<std::string> options;
};

struct LoadedModule {
  Module module;
  KernelImages images;
};

// The module of the metadata: its image, otherwise its source, compiled. Empty without either.
std::optional<LoadedModule> load_module(const ModuleMetadata& metadata, const Device& device,
                                        const SourceSettings& settings) {
  const WithoutGil released;
  if (metadata.image()) {
    return LoadedModule{Module::load(device, *metadata.image()),
                        images_of(std::vector<Image>{*metadata.image()})};
  }
  const auto source = metadata.sources().find("cuda");
  if (source == metadata.sources().end()) return std::nullopt;
  Source text = Source::from_text(source->second, metadata.name());
  text.include = settings.include;
  text.options = settings.options;
  CompileOptions options;
  options.arch = device.compile_arch();
  const Compiled compiled = compile(text, options);
  return LoadedModule{Module::load(device, compiled), images_of(compiled)};
}

// The kernel of a function. Its image may not tell the type of a number; the metadata does.
Ref kernel_of(const LoadedModule& loaded, const FunctionMetadata& function) {
  Ref kernel = make_kernel(loaded.module.kernel(function.symbol()), loaded.images);
  std::vector<Parameter>& parameters = value_of<KernelValue>(kernel.get()).parameters;
  const std::span<const FunctionMetadata::Parameter> declared = function.parameters();
  if (declared.size() != parameters.size()) {
    throw error(ErrorCode::kInvalidInput,
                "the metadata of {} has {} arguments, the kernel in its image {}",
                printable(function.symbol()), declared.size(), parameters.size());
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Parameter& parameter = parameters[i];
    const std::optional<DType> dtype = declared[i].type.dtype();
    if (parameter.kind != ParamKind::kUnknown || !dtype || size_of(*dtype) != parameter.size) {
      continue;
    }
    parameter.kind = ParamKind::kScalar;
    parameter.dtype = dtype;
    parameter.type = to_string(*dtype);
  }
  return kernel;
}

// load_library(path_or_bytes, device, name, include, options): a dict of functions by symbol.
PyObject* load_library(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 5> kNames = {"library", "device", "name", "include",
                                                          "options"};
    const Given given("load_library", kNames, 3, 1, args, nargs, names);
    const Device device = device_argument(given.set(1));
    SourceSettings settings;
    for (const std::string& folder : texts_argument(given.set(3), "include")) {
      settings.include.emplace_back(folder);
    }
    settings.options = texts_argument(given.set(4), "options");
    const FoundMetadata found = [&] {
      if (!PyBytes_Check(given[0])) return read_metadata(path_argument(given[0]));
      const std::string name(given.set(2) == nullptr ? "<bytes>" : given.text(2));
      return read_metadata(bytes_argument(given[0]), name);
    }();
    Ref functions = Ref::checked(PyDict_New());
    for (const ModuleMetadata& metadata : found.modules) {
      const std::optional<LoadedModule> module = load_module(metadata, device, settings);
      if (!module) {
        throw error(ErrorCode::kInvalidInput,
                    "{} has launch metadata and neither an image nor a CUDA source; its compiler "
                    "has to compile for the device when it exports (enable_device_compile=True of "
                    "TileLang)",
                    metadata.name());
      }
      for (const FunctionMetadata& function : metadata.functions()) {
        const Ref made = make_object(LibraryFunctionValue{function, kernel_of(*module, function)});
        check(PyDict_SetItem(functions.get(), to_python(function.symbol()).get(), made.get()));
      }
    }
    return functions;
  });
}

PyMethodDef functions[] = {
    {"load_library", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(load_library)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_library_type(PyObject* module) {
  static PyType_Slot slots[] = {
      slot(Py_tp_dealloc, destroy_object<LibraryFunctionValue>),
      slot(Py_tp_repr, function_repr),
      slot(Py_tp_call, function_call),
      {Py_tp_getset, properties},
      {Py_tp_doc,
       const_cast<char*>("A kernel with launch metadata. A call passes the kernel's arguments, and "
                         "then the values of `launch_values`, in order. Any thread may use it.")},
      {0, nullptr}};
  add_type<LibraryFunctionValue>(module, "baton._core.LibraryFunction", slots, false);
  check(PyModule_AddFunctions(module, functions));
}

}  // namespace baton::python
