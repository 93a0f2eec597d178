#include "core/kernel.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "core/device.h"
#include "core/kernel_writes.h"
#include "core/module.h"
#include "core/values.h"
#include "launch/limits.h"

namespace baton::python {
namespace {

// `k[grid, block]`, which can be called. Its call is a vectorcall: the address of that function is
// a member of the object.
// Small, because each such expression makes one: a LaunchConfig has room for all attributes.
struct LauncherValue {
  vectorcallfunc call = nullptr;
  Ref kernel;
  Dim3 grid, block;
  std::uint32_t shared = 0;
};

// The value of `stream=`, the only keyword of `k[grid, block](...)`; null without it.
[[gnu::noinline]] PyObject* stream_keyword(PyObject* names, PyObject* const* values) {
  PyObject* stream = nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
    PyObject* const name = PyTuple_GetItem(names, i);
    if (text_of(name) != "stream") {
      throw error(ErrorCode::kInvalidInput,
                  "k[grid, block](...) takes stream= only, {}= was given; use k.launch",
                  text_of(name));
    }
    stream = values[i];
  }
  return stream;
}

[[gnu::hot]] PyObject* launcher_call(PyObject* self, PyObject* const* args, std::size_t flags,
                                     PyObject* names) {
  return guarded(
      [&] {
        const LauncherValue& launcher = value_of<LauncherValue>(self);
        const Py_ssize_t count = PyVectorcall_NARGS(flags);
        PyObject* const stream = names == nullptr ? nullptr : stream_keyword(names, args + count);
        LaunchConfig config;
        config.grid = launcher.grid;
        config.block = launcher.block;
        config.shared = launcher.shared;
        launch(value_of<KernelValue>(launcher.kernel.get()), config, args,
               static_cast<std::size_t>(count), stream);
        return none();
      },
      Subject::kArguments);
}

[[gnu::hot]] void launcher_destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  clear_weak_references<LauncherValue>(self);
  LauncherValue& value = value_of<LauncherValue>(self);
  // The kernel may go with it, and then frees the memory that it keeps.
  const Ref kernel = std::move(value.kernel);
  value.~LauncherValue();
  if (!value_of<KernelValue>(kernel.get()).launcher.put(self)) PyObject_Free(self);
  Py_DECREF(type);
}

Ref make_launcher(PyObject* kernel, const Dim3& grid, const Dim3& block, std::uint32_t shared) {
  return value_of<KernelValue>(kernel).launcher.make<LauncherValue>(
      launcher_call, Ref::borrow(kernel), grid, block, shared);
}

[[gnu::noinline]] Ref kernel_item_in_full(PyObject* self, PyObject* key) {
  const Py_ssize_t size = PyTuple_Check(key) ? PyTuple_Size(key) : 1;
  if (size < 2 || size > 3) {
    throw error(ErrorCode::kInvalidInput,
                "k[...] takes grid and block, and perhaps the bytes of dynamic shared "
                "memory: k[grid, block] or k[grid, block, shared]");
  }
  const Dim3 grid = extents_argument(PyTuple_GetItem(key, 0), "the grid");
  const Dim3 block = extents_argument(PyTuple_GetItem(key, 1), "the block");
  const std::uint32_t shared = size == 3 ? shared_argument(PyTuple_GetItem(key, 2)) : 0;
  return make_launcher(self, grid, block, shared);
}

// Two plain ints take the short way.
[[gnu::hot]] PyObject* kernel_item(PyObject* self, PyObject* key) {
  return guarded(
      [&] {
        std::uint32_t grid = 0, block = 0;
        if (PyTuple_Check(key) && PyTuple_Size(key) == 2 &&
            is_plain_int(PyTuple_GetItem(key, 0), grid) &&
            is_plain_int(PyTuple_GetItem(key, 1), block)) [[likely]] {
          return make_launcher(self, Dim3(grid), Dim3(block), 0);
        }
        return kernel_item_in_full(self, key);
      },
      Subject::kArguments);
}

// A kernel is callable so that this mistake has an answer.
PyObject* kernel_call(PyObject* self, PyObject*, PyObject*) {
  return guarded(
      [&]() -> Ref {
        throw error(ErrorCode::kInvalidInput,
                    "kernel {} is called without its grid and block; write k[grid, block](...), "
                    "or k.launch(..., grid=g, block=b)",
                    printable(value_of<KernelValue>(self).kernel.facts().demangled));
      },
      Subject::kArguments);
}

// The keywords of a call of `launch` or `plan`.
LaunchKeywords keywords_of(const Kernel& kernel, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* names) {
  LaunchKeywords keywords(kernel);
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    keywords.take(PyTuple_GetItem(names, i), args[nargs + i]);
  }
  return keywords;
}

PyObject* kernel_launch(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded(
      [&] {
        const KernelValue& kernel = value_of<KernelValue>(self);
        LaunchKeywords keywords = keywords_of(kernel.kernel, args, nargs, names);
        launch(kernel, keywords.config(), args, static_cast<std::size_t>(nargs), keywords.stream());
        return none();
      },
      Subject::kArguments);
}

PyObject* kernel_plan(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded(
      [&] {
        LaunchKeywords keywords =
            keywords_of(value_of<KernelValue>(self).kernel, args, nargs, names);
        return make_plan(self, keywords.config(), args, static_cast<std::size_t>(nargs),
                         keywords.stream());
      },
      Subject::kArguments);
}

// The largest cooperative grid, and the blocks of one multiprocessor, for a block and shared
// memory.
PyObject* kernel_occupancy(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* names) {
  return guarded(
      [&] {
        if (nargs != 0) {
          throw error(ErrorCode::kInvalidInput,
                      "occupancy() takes keywords only: block=, shared=, "
                      "cluster=");
        }
        const Kernel& kernel = value_of<KernelValue>(self).kernel;
        LaunchKeywords keywords = keywords_of(kernel, args, nargs, names);
        const Ref one = to_python(std::int32_t{1});
        keywords.grid(one.get());
        const LaunchConfig& config = keywords.config();
        return call_python("_values", "Occupancy",
                           to_python(kernel.blocks_per_multiprocessor(config)),
                           to_python(kernel.max_cooperative_blocks(config)));
      },
      Subject::kArguments);
}

PyObject* kernel_repr(PyObject* self) {
  return guarded([&] {
    const KernelValue& kernel = value_of<KernelValue>(self);
    return to_python(fmt::format("<baton.Kernel {} on {}>",
                                 printable(kernel.kernel.facts().demangled),
                                 kernel.kernel.device().spec()));
  });
}

PyObject* launcher_repr(PyObject* self) {
  return guarded([&] {
    const LauncherValue& launcher = value_of<LauncherValue>(self);
    const KernelValue& kernel = value_of<KernelValue>(launcher.kernel.get());
    return to_python(
        fmt::format("<baton.Kernel {}[{}, {}]>", printable(kernel.kernel.facts().demangled),
                    launch::to_string(launcher.grid), launch::to_string(launcher.block)));
  });
}

PyObject* kernel_html(PyObject* self, PyObject*) {
  return guarded([&] { return call_python("_tables", "kernel_html", Ref::borrow(self)); });
}

PyMethodDef kernel_methods[] = {
    {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(kernel_launch)),
     METH_FASTCALL | METH_KEYWORDS,
     "launch(*arguments, grid, block=None, cluster=None, shared=0, cooperative=False, pdl=False, "
     "stream=None, **attributes): checks and enqueues one launch. Extents are an int or a tuple of "
     "up to three; grid in blocks, block in threads, cluster in blocks, shared in bytes. Other "
     "launch attributes go by their names. Arrays must live until the kernel has completed."},
    {"plan", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(kernel_plan)),
     METH_FASTCALL | METH_KEYWORDS,
     "plan(*arguments, grid, ...): a launch that is checked and packed once. Takes the arguments "
     "of launch, and keeps them."},
    {"occupancy", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(kernel_occupancy)),
     METH_FASTCALL | METH_KEYWORDS,
     "occupancy(*, block, shared=0): the blocks that a multiprocessor holds at once, and the "
     "blocks of the largest cooperative grid."},
    {"_repr_html_", kernel_html, METH_NOARGS, "The facts as tables, for notebooks."},
    {nullptr, nullptr, 0, nullptr}};

template <auto kRead>
PyObject* fact(PyObject* self, void*) {
  return guarded([&] { return kRead(value_of<KernelValue>(self).kernel); });
}

Ref writes_of(const KernelValue& value) {
  const std::optional<std::vector<bool>>& written = may_write(value);
  if (!written) return none();
  Ref result = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(written->size())));
  for (std::size_t k = 0; k < written->size(); ++k) {
    check(PyTuple_SetItem(result.get(), static_cast<Py_ssize_t>(k),
                          to_python(static_cast<bool>((*written)[k])).release()));
  }
  return result;
}

PyGetSetDef kernel_properties[] = {
    {"name", fact<[](const Kernel& kernel) { return to_python(kernel.name()); }>, nullptr,
     "The symbol.", nullptr},
    {"demangled", fact<[](const Kernel& kernel) { return to_python(kernel.facts().demangled); }>,
     nullptr, "\"rmsnorm<float>(float const*, ...)\", or the plain name.", nullptr},
    {"params",
     fact<[](const Kernel& kernel) { return tuple_of(*kernel.facts().params, parameter_of); }>,
     nullptr, "A tuple of baton.Parameter, in order.", nullptr},
    {"registers", fact<[](const Kernel& kernel) { return optional_of(kernel.facts().registers); }>,
     nullptr, "Of a thread; None if the image does not say.", nullptr},
    {"shared", fact<[](const Kernel& kernel) { return optional_of(kernel.facts().static_shared); }>,
     nullptr, "Static shared memory of a block in bytes; None if the image does not say.", nullptr},
    {"local_bytes",
     fact<[](const Kernel& kernel) { return optional_of(kernel.facts().local_bytes); }>, nullptr,
     "Local memory of a thread in bytes; None if the image does not say.", nullptr},
    {"waits", fact<[](const Kernel& kernel) { return optional_of(kernel.facts().waits); }>, nullptr,
     "Whether it has griddepcontrol.wait; None if the image does not say.", nullptr},
    {"triggers", fact<[](const Kernel& kernel) { return optional_of(kernel.facts().triggers); }>,
     nullptr, "Whether it has griddepcontrol.launch_dependents; None if the image does not say.",
     nullptr},
    {"writes", get_property<KernelValue, writes_of>, nullptr,
     "By parameter, whether the kernel may write memory that it points to; None if its PTX does "
     "not "
     "tell. Parses the PTX.",
     nullptr},
    {"grid_sync", fact<[](const Kernel& kernel) { return optional_of(kernel.facts().grid_sync); }>,
     nullptr, "Whether its blocks synchronise across the grid; None if the image does not say.",
     nullptr},
    {"polls", fact<[](const Kernel& kernel) { return optional_of(kernel.facts().polls); }>, nullptr,
     "Whether it has a loop that waits for a value in memory; None if the image does not say.",
     nullptr},
    {"required_block",
     fact<[](const Kernel& kernel) { return extents_of(kernel.facts().required_block); }>, nullptr,
     "The only block that it may be launched with, or None.", nullptr},
    {"required_cluster",
     fact<[](const Kernel& kernel) { return extents_of(kernel.facts().required_cluster); }>,
     nullptr, "The cluster that it was compiled for, or None.", nullptr},
    {"arch", fact<[](const Kernel& kernel) { return to_python(kernel.facts().arch); }>, nullptr,
     "\"sm_90a\"; empty if unknown.", nullptr},
    {"max_threads", fact<[](const Kernel& kernel) { return to_python(kernel.max_threads()); }>,
     nullptr, "Of a block, by its registers and launch bounds.", nullptr},
    {"max_dynamic_shared",
     fact<[](const Kernel& kernel) { return to_python(kernel.max_dynamic_shared()); }>, nullptr,
     "Bytes of a block, with the opt-in.", nullptr},
    {"module",
     get_property<KernelValue,
                  [](const KernelValue& value) {
                    return make_module(value.kernel.module(), value.images);
                  }>,
     nullptr, "The baton.Module.", nullptr},
    {"device", fact<[](const Kernel& kernel) { return make_object(kernel.device()); }>, nullptr,
     "The baton.Device.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

Ref make_kernel(Kernel kernel, KernelImages images) {
  std::vector<Parameter> parameters = parameters_of(kernel);
  std::vector<CommonParameter> common;
  for (const Parameter& parameter : parameters) common.push_back(parameter.common);
  const bool simulated = is_simulated(kernel.device());
  const int ordinal = ordinal_of(kernel.device());
  return make_object(KernelValue{std::move(kernel), std::move(parameters), std::move(common),
                                 simulated, std::move(images), ordinal});
}

void add_kernel_types(PyObject* module) {
  static PyType_Slot kernel_slots[] = {
      slot(Py_tp_dealloc, destroy_object<KernelValue>),
      slot(Py_tp_repr, kernel_repr),
      slot(Py_tp_call, kernel_call),
      slot(Py_mp_subscript, kernel_item),
      {Py_tp_methods, kernel_methods},
      {Py_tp_getset, kernel_properties},
      {Py_tp_doc,
       const_cast<char*>("One kernel of a loaded image. k[grid, block](*arguments) checks and "
                         "enqueues a launch on the current stream of the arrays' library. Any "
                         "thread may use it.")},
      {0, nullptr}};
  add_type<KernelValue>(module, "baton._core.Kernel", kernel_slots, false);

  static PyType_Slot launcher_slots[] = {
      slot(Py_tp_dealloc, launcher_destroy),
      slot(Py_tp_call, PyVectorcall_Call),
      slot(Py_tp_repr, launcher_repr),
      {Py_tp_doc, const_cast<char*>("kernel[grid, block]: launches when it is called with the "
                                    "kernel's arguments, and stream=. Any thread may use it.")},
      {0, nullptr}};
  add_type<LauncherValue>(module, "baton._core.Launcher", launcher_slots, false, 0,
                          offsetof(Object<LauncherValue>, value) + offsetof(LauncherValue, call));
}

}  // namespace baton::python
