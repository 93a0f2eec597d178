#include "core/module.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "compile/param_names.h"
#include "core/array.h"
#include "core/device.h"
#include "core/given.h"
#include "core/kernel.h"
#include "core/values.h"

namespace baton::python {
namespace {

PyObject* module_item(PyObject* self, PyObject* name) {
  return guarded(
      [&] {
        if (!PyUnicode_Check(name)) {
          throw error(ErrorCode::kInvalidInput,
                      "a module is indexed by the name of a kernel, not by {}",
                      with_article(type_name(name)));
        }
        const ModuleValue& value = value_of<ModuleValue>(self);
        return make_kernel(value.module.kernel(text_of(name)), value.images);
      },
      Subject::kArguments);
}

Py_ssize_t module_length(PyObject* self) {
  return static_cast<Py_ssize_t>(value_of<ModuleValue>(self).module.facts().kernels.size());
}

Ref names_of(const ModuleValue& value) {
  return tuple_of(value.module.facts().kernels,
                  [](const KernelFacts& facts) { return to_python(facts.name); });
}

PyObject* module_iterate(PyObject* self) {
  return guarded(
      [&] { return Ref::checked(PyObject_GetIter(names_of(value_of<ModuleValue>(self)).get())); });
}

PyObject* module_kernel(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 1> kNames = {"name"};
    const Given given("kernel", kNames, 1, 0, args, nargs, names);
    const std::string_view name = given.set(0) == nullptr ? "" : given.text(0);
    const ModuleValue& value = value_of<ModuleValue>(self);
    return make_kernel(value.module.kernel(name), value.images);
  });
}

PyObject* module_variable(PyObject* self, PyObject* name) {
  return guarded([&] {
    const Module& module = value_of<ModuleValue>(self).module;
    Memory memory = module.variable(text_argument(name, "the name of a variable"));
    const auto bytes = static_cast<std::int64_t>(memory.bytes());
    return make_object(
        ArrayValue{std::make_shared<Memory>(std::move(memory)), 0, DType::kU8, {bytes}, Ref()});
  });
}

PyObject* module_load_kernels(PyObject* self, PyObject*) {
  return guarded([&] {
    value_of<ModuleValue>(self).module.load_kernels();
    return none();
  });
}

PyObject* module_repr(PyObject* self) {
  return guarded([&] {
    const ModuleValue& value = value_of<ModuleValue>(self);
    const Ref names = Ref::checked(PyObject_Repr(names_of(value).get()));
    return to_python(
        fmt::format("<baton.Module {} on {}>", text_of(names.get()), value.module.device().spec()));
  });
}

// The kind and the bytes of what it was loaded from, or None. PTX comes first: verdicts need it,
// and the simulated GPU executes it.
Ref image_property(const ModuleValue& value) {
  if (value.images == nullptr) return none();
  const Image* chosen = &value.images->front();
  for (const Image& image : *value.images) {
    if (image.kind() == ImageKind::kPtx) chosen = &image;
  }
  const std::string_view bytes = chosen->bytes();
  const Ref kind = to_python(to_string(chosen->kind()));
  const Ref content =
      Ref::checked(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
  return Ref::checked(PyTuple_Pack(2, kind.get(), content.get()));
}

PyMethodDef module_methods[] = {
    {"kernel", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(module_kernel)),
     METH_FASTCALL | METH_KEYWORDS,
     "kernel(name=None): the kernel with that symbol, demangled name or plain name; without a name "
     "the only one."},
    {"load_kernels", module_load_kernels, METH_NOARGS,
     "Loads every kernel now, not at its first launch."},
    {"variable", module_variable, METH_O,
     "variable(name): a __device__ or __constant__ variable as a baton.Array of bytes."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef module_properties[] = {
    {"kernels", get_property<ModuleValue, names_of>, nullptr, "The symbols of its kernels.",
     nullptr},
    {"arch",
     get_property<ModuleValue,
                  [](const ModuleValue& value) { return to_python(value.module.facts().arch); }>,
     nullptr, "\"sm_90a\"; empty if unknown.", nullptr},
    {"producer",
     get_property<ModuleValue, [](const ModuleValue&
                                      value) { return to_python(value.module.facts().producer); }>,
     nullptr, "\"NVIDIA ptxas 13.0\", if known.", nullptr},
    {"log",
     get_property<ModuleValue, [](const ModuleValue& value) { return to_python(value.log); }>,
     nullptr, "The compiler's warnings, or \"\".", nullptr},
    {"device",
     get_property<ModuleValue,
                  [](const ModuleValue& value) { return make_object(value.module.device()); }>,
     nullptr, "The baton.Device.", nullptr},
    {"image", get_property<ModuleValue, image_property>, nullptr,
     "What it was loaded from: \"ptx\", \"cubin\" or \"fatbin\", and the bytes. PTX, where it came "
     "with machine code. None for a module of a bundle.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// compile(path, text, name, directory, device, arch, entries, include, options, prelude, cache)
PyObject* compile_source(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    enum {
      kPath,
      kText,
      kName,
      kDirectory,
      kDevice,
      kArch,
      kEntries,
      kInclude,
      kOptions,
      kPrelude,
      kCache,
      kParamNames,
      kCount
    };
    static constexpr std::array<const char*, kCount> kNames = {
        "path",    "text",    "name",    "directory", "device", "arch",
        "entries", "include", "options", "prelude",   "cache",  "param_names"};
    const Given given("compile", kNames, 1, 0, args, nargs, names);
    if ((given.set(kPath) == nullptr) == (given.set(kText) == nullptr)) {
      throw error(ErrorCode::kInvalidInput,
                  "compile() takes the path of a source or text=, and one of them only");
    }
    Source source = given.set(kPath) != nullptr ? Source::from_file(path_argument(given[kPath]))
                                                : Source::from_text(std::string(given.text(kText)));
    if (given.set(kName) != nullptr) source.name = given.text(kName);
    if (given.set(kDirectory) != nullptr) source.directory = path_argument(given[kDirectory]);
    if (given.set(kPrelude) != nullptr) source.prelude = given.text(kPrelude);
    for (const std::string& folder : texts_argument(given.set(kInclude), "include")) {
      source.include.emplace_back(folder);
    }
    source.options = texts_argument(given.set(kOptions), "options");
    const Device device = device_argument(given.set(kDevice));
    CompileOptions options;
    if (given.set(kArch) != nullptr) options.arch = given.text(kArch);
    if (options.arch.empty()) options.arch = device.compile_arch();
    options.entries = texts_argument(given.set(kEntries), "entries");
    options.use_cache = given.truth(kCache, true);
    options.param_names = given.truth(kParamNames, false);
    const bool needs_types = given.set(kParamNames) == nullptr;
    std::optional<Compiled> compiled;
    std::optional<Module> module;
    {
      const WithoutGil released;
      compiled = needs_types ? compiler::compile_described(
                                   source, options, compiler::DescribedKernels::kWithoutTypes)
                             : compile(source, options);
      module = Module::load(device, *compiled);
    }
    return make_module(std::move(*module), images_of(*compiled), compiled->log);
  });
}

// load_image(path_or_bytes, device, name, also): `also` is a second image of the same kernels.
PyObject* load_image(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 4> kNames = {"image", "device", "name", "also"};
    const Given given("load", kNames, 3, 1, args, nargs, names);
    const Device device = device_argument(given.set(1));
    const std::string name(given.set(2) == nullptr ? "<bytes>" : given.text(2));
    const auto read = [&](PyObject* image) {
      if (!PyBytes_Check(image)) return Image::from_file(path_argument(image));
      return Image::from_bytes(bytes_argument(image), name);
    };
    std::vector<Image> images = {read(given[0])};
    if (given.set(3) != nullptr) images.push_back(read(given[3]));
    std::optional<Module> module;
    {
      const WithoutGil released;
      module = Module::load(device, images);
    }
    return make_module(std::move(*module), images_of(std::move(images)));
  });
}

PyMethodDef functions[] = {
    {"compile", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(compile_source)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"load_image", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(load_image)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::string path_argument(PyObject* object) {
  const Ref path = Ref::checked(PyOS_FSPath(object));
  const Ref bytes = PyBytes_Check(path.get()) ? Ref::borrow(path.get())
                                              : Ref::checked(PyUnicode_EncodeFSDefault(path.get()));
  std::string name(PyBytes_AsString(bytes.get()),
                   static_cast<std::size_t>(PyBytes_Size(bytes.get())));
  if (const std::size_t nul = name.find('\0'); nul != std::string::npos) {
    throw error(ErrorCode::kInvalidInput,
                "the path \"{}\" has a NUL at byte {}, where the system would end it",
                printable(name), nul);
  }
  return name;
}

std::string_view bytes_argument(PyObject* object) {
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  check(PyBytes_AsStringAndSize(object, &bytes, &size));
  return {bytes, static_cast<std::size_t>(size)};
}

std::vector<std::string> texts_argument(PyObject* object, const char* what) {
  std::vector<std::string> texts;
  if (object == nullptr) return texts;
  const auto is_text = [](PyObject* item) {
    return PyUnicode_Check(item) || PyObject_HasAttrString(item, "__fspath__") == 1;
  };
  if (!PyTuple_Check(object) && !PyList_Check(object)) {
    if (!is_text(object)) {
      throw error(ErrorCode::kInvalidInput, "{} is {}, it takes texts", what,
                  with_article(type_name(object)));
    }
    texts.push_back(path_argument(object));
    return texts;
  }
  for (Py_ssize_t i = 0; i < PySequence_Size(object); ++i) {
    const Ref item = Ref::checked(PySequence_GetItem(object, i));
    if (!is_text(item.get())) {
      throw error(ErrorCode::kInvalidInput, "{}[{}] is {}, it takes texts", what, i,
                  with_article(type_name(item.get())));
    }
    texts.push_back(path_argument(item.get()));
  }
  return texts;
}

Ref make_module(Module module, KernelImages images, std::string log) {
  return make_object(ModuleValue{std::move(module), std::move(log), std::move(images)});
}

KernelImages images_of(std::vector<Image> images) {
  return std::make_shared<const std::vector<Image>>(std::move(images));
}

KernelImages images_of(const Compiled& compiled) {
  std::vector<Image> images;
  if (compiled.cubin) images.push_back(*compiled.cubin);
  images.push_back(compiled.ptx);
  return images_of(std::move(images));
}

void add_module_type(PyObject* module) {
  static PyType_Slot slots[] = {
      slot(Py_tp_dealloc, destroy_object<ModuleValue>),
      slot(Py_tp_repr, module_repr),
      slot(Py_tp_iter, module_iterate),
      slot(Py_mp_subscript, module_item),
      slot(Py_mp_length, module_length),
      {Py_tp_methods, module_methods},
      {Py_tp_getset, module_properties},
      {Py_tp_doc, const_cast<char*>("A loaded image: module[\"saxpy\"] is a baton.Kernel, which "
                                    "keeps it loaded. Any thread may use it.")},
      {0, nullptr}};
  add_type<ModuleValue>(module, "baton._core.Module", slots, false);
  check(PyModule_AddFunctions(module, functions));
}

}  // namespace baton::python
