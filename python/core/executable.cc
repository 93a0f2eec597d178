#include "baton/executable.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "capi/dtype.h"
#include "core/allocator.h"
#include "core/array.h"
#include "core/bindings.h"
#include "core/device.h"
#include "core/executable.h"
#include "core/executable_value.h"
#include "core/given.h"
#include "core/program.h"
#include "core/run.h"
#include "core/step_call.h"
#include "core/stream.h"
#include "core/values.h"
#include "core/wait.h"

namespace baton::python {
namespace {

// The stream of a call: an address that `choose_stream` gave.
Stream given_stream(const ExecutableValue& value, PyObject* stream) {
  return adopted(CallStream().choose(stream, value->device()), value->device());
}

// The arguments of a bind by name.
constexpr std::array<const char*, 5> kBindNames = {"symbols", "arrays", "seed", "allocator",
                                                   "collectives"};

// Those that need no program.
Bindings settings_of(const Given<kBindNames.size()>& given) {
  Bindings settings;
  settings.symbols = symbols_argument(given.set(0));
  if (given.set(2) != nullptr) {
    settings.seed = unsigned_argument(given[2], "the seed", INT64_MAX);
  }
  if (given.set(3) != nullptr) settings.allocator = python_allocator(given.set(3));
  if (given.set(4) != nullptr) settings.collectives = collectives_argument(given.text(4));
  return settings;
}

PyObject* executable_bind(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* names) {
  return guarded(
      [&] {
        const Given given("bind", kBindNames, 2, 0, args, nargs, names);
        ExecutableValue& value = executable_in(self);
        GivenBindings bindings(value->program(), value->device(), settings_of(given));
        bindings.arrays(given.set(1));
        Bindings taken = bindings.take();
        std::shared_ptr<Allocator> allocator = taken.allocator;
        {
          const WithoutGil released;
          value->bind(std::move(taken));
        }
        value.allocator = std::move(allocator);
        return none();
      },
      Subject::kArguments);
}

// require_settings(symbols, seed, allocator, collectives): raises what a bind would, before the
// arrays for it are there.
PyObject* require_settings(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded(
      [&] {
        settings_of(Given("bind", kBindNames, 1, 0, args, nargs, names));
        return none();
      },
      Subject::kArguments);
}

PyObject* executable_set(PyObject* self, PyObject* symbols) {
  return guarded(
      [&] {
        const auto given = symbols_argument(symbols);
        std::vector<SymbolValue> values;
        for (const auto& [name, value] : given) values.push_back({name, value});
        executable_in(self)->set(values);
        return none();
      },
      Subject::kArguments);
}

PyObject* executable_set_memory(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return guarded(
      [&] {
        require_positional(2, nargs);
        const ExecutableValue& value = executable_in(self);
        const BufferArray array =
            buffer_array(value->program(), value->device(),
                         text_argument(args[0], "the name of a buffer"), args[1]);
        if (array.on_host()) {
          throw error(ErrorCode::kInvalidInput, "the array for the buffer {} is in host memory",
                      array.buffer->name);
        }
        const DeviceArray given = array.memory();
        const DeviceArray bound = value->array(array.buffer->name);
        // Most calls give what is there already.
        if (given.address != bound.address || given.shape != bound.shape) {
          value->set_memory(array.buffer->name, given);
        }
        return none();
      },
      Subject::kArguments);
}

// upload(name, host array, stream)
PyObject* executable_upload(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return guarded(
      [&] {
        require_positional(3, nargs);
        const ExecutableValue& value = executable_in(self);
        const BufferArray array =
            buffer_array(value->program(), value->device(),
                         text_argument(args[0], "the name of a buffer"), args[1]);
        if (array.shape != value->shape(array.buffer->name)) {
          throw error(ErrorCode::kInvalidInput, "the array for the buffer {} has another shape",
                      array.buffer->name);
        }
        const Stream stream = given_stream(value, args[2]);
        const Memory& memory = value->memory(array.buffer->name);
        if (array.bytes != 0) {
          const WithoutGil released;
          memory.upload(array.data(), array.bytes, 0, stream);
        }
        return none();
      },
      Subject::kArguments);
}

template <auto kCall>
PyObject* on_stream(PyObject* self, PyObject* stream) {
  return guarded(
      [&] {
        ExecutableValue& value = executable_in(self);
        kCall(*value.executable, given_stream(value, stream));
        return none();
      },
      Subject::kArguments);
}

PyObject* executable_reset(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&] {
    require_positional(2, nargs);
    executable_in(self)->reset(text_argument(args[0], "the name of a state"),
                               given_stream(executable_in(self), args[1]));
    return none();
  });
}

// wait(stream, timeout): as for a Stream; a failure names the program's launch.
PyObject* executable_wait(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&] {
    require_positional(2, nargs);
    ExecutableValue& value = executable_in(self);
    const Stream stream = given_stream(value, args[0]);
    const std::optional<double> timeout = seconds_argument(args[1]);
    std::optional<Error> failure;
    bool in_time = true;
    try {
      in_time = wait_until([&] { return stream.done(); }, stream.device(), timeout);
    } catch (const Error&) {
      // Executable::wait throws it again, and names the launch.
    }
    {
      WaitOptions options;
      if (!in_time) options.timeout = std::chrono::duration<double>(0);
      const WithoutGil released;
      try {
        value->wait(stream, options);
      } catch (const Error& caught) {
        failure = caught;
      }
    }
    report_findings(value->device(), failure ? &*failure : nullptr);
    return none();
  });
}

const ProgramBuffer& named_buffer(const ExecutableValue& value, PyObject* name) {
  const std::string_view wanted = text_argument(name, "the name of a buffer");
  if (const ProgramBuffer* const buffer = value->program().buffer(wanted)) return *buffer;
  std::vector<std::string_view> names;
  for (const ProgramBuffer& buffer : value->program().buffers()) names.push_back(buffer.name);
  throw error(ErrorCode::kNotFound, "the program {} has no buffer \"{}\"{}",
              value->program().name(), printable(wanted), suggestion(wanted, names));
}

// array(name): the memory of a buffer, which stays valid until the next bind.
PyObject* executable_array(PyObject* self, PyObject* name) {
  return guarded([&] {
    const ExecutableValue& value = executable_in(self);
    const ProgramBuffer& buffer = named_buffer(value, name);
    const DeviceArray array = value->array(buffer.name);
    const std::size_t bytes = value->memory(buffer.name).bytes();
    return make_object(
        ArrayValue{std::make_shared<Memory>(Memory::adopt(value->device(), array.address, bytes)),
                   0, array.dtype, array.shape, Ref::borrow(self)});
  });
}

ArrayValue new_output(const ExecutableValue& value, const ProgramBuffer& buffer) {
  return new_array(value->device(), buffer.dtype, value->shape(buffer.name), value.allocator);
}

// new_output(name): an array for the buffer, from the allocator of the last bind.
PyObject* executable_new_output(PyObject* self, PyObject* name) {
  return guarded([&] {
    const ExecutableValue& value = executable_in(self);
    return make_object(new_output(value, named_buffer(value, name)));
  });
}

// copy_out(name, stream): the buffer's contents, in memory of their own.
PyObject* executable_copy_out(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&] {
    require_positional(2, nargs);
    const ExecutableValue& value = executable_in(self);
    const ProgramBuffer& buffer = named_buffer(value, args[0]);
    const Stream stream = given_stream(value, args[1]);
    ArrayValue copy = new_output(value, buffer);
    if (copy.bytes() != 0) {
      copy.memory->copy_from(value->memory(buffer.name), copy.bytes(), 0, 0, stream);
    }
    return make_object(std::move(copy));
  });
}

// result(name): what the last `run` downloaded, as (dtype, shape, bytes).
PyObject* executable_result(PyObject* self, PyObject* name) {
  return guarded([&] {
    return array_parts(executable_in(self)->output(named_buffer(executable_in(self), name).name));
  });
}

PyObject* executable_shape(PyObject* self, PyObject* name) {
  return guarded([&] {
    return shape_tuple(executable_in(self)->shape(named_buffer(executable_in(self), name).name));
  });
}

// A method that one thread may be in at a time.
template <auto kMethod>
PyCFunction exclusive() {
  return reinterpret_cast<PyCFunction>(
      reinterpret_cast<void*>(OneThreadMethod<ExecutableValue, kMethod>::call));
}

PyMethodDef methods[] = {
    {"bind", exclusive<executable_bind>(), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"set", exclusive<executable_set>(), METH_O, nullptr},
    {"set_memory", exclusive<executable_set_memory>(), METH_FASTCALL, nullptr},
    {"upload", exclusive<executable_upload>(), METH_FASTCALL, nullptr},
    {"enqueue", exclusive<on_stream<[](Executable& executable, const Stream& stream) {
       executable.enqueue(stream);
     }>>(),
     METH_O, nullptr},
    {"prepare", exclusive<on_stream<[](Executable& executable, const Stream& stream) {
       executable.prepare(stream);
     }>>(),
     METH_O, nullptr},
    {"initialise", exclusive<on_stream<[](Executable& executable, const Stream& stream) {
       executable.initialise(stream);
     }>>(),
     METH_O, nullptr},
    {"reset", exclusive<executable_reset>(), METH_FASTCALL, nullptr},
    {"wait", exclusive<executable_wait>(), METH_FASTCALL, nullptr},
    {"run", exclusive<executable_run>(), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"compare_expected", exclusive<executable_compare_expected>(), METH_NOARGS, nullptr},
    {"compare_schedules", exclusive<executable_compare_schedules>(), METH_FASTCALL | METH_KEYWORDS,
     nullptr},
    {"array", exclusive<executable_array>(), METH_O, nullptr},
    {"copy_out", exclusive<executable_copy_out>(), METH_FASTCALL, nullptr},
    {"new_output", exclusive<executable_new_output>(), METH_O, nullptr},
    {"result", exclusive<executable_result>(), METH_O, nullptr},
    {"shape", exclusive<executable_shape>(), METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"symbols",
     get_property<ExecutableValue,
                  [](const ExecutableValue& value) {
                    Ref dict = Ref::checked(PyDict_New());
                    for (const BoundSymbol& symbol : value->symbols()) {
                      check(PyDict_SetItem(dict.get(), to_python(symbol.name).get(),
                                           to_python(symbol.value).get()));
                    }
                    return dict;
                  }>,
     nullptr, nullptr, nullptr},
    {"device",
     get_property<ExecutableValue,
                  [](const ExecutableValue& value) { return make_object(value->device()); }>,
     nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef functions[] = {
    {"require_settings", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(require_settings)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

CollectiveExecutor collectives_argument(std::string_view given) {
  static constexpr std::pair<std::string_view, CollectiveExecutor> kExecutors[] = {
      {"auto", CollectiveExecutor::kAuto},
      {"nccl", CollectiveExecutor::kNccl},
      {"peer", CollectiveExecutor::kPeer},
      {"host", CollectiveExecutor::kHost}};
  std::vector<std::string_view> names;
  for (const auto& [name, executor] : kExecutors) {
    if (name == given) return executor;
    names.push_back(name);
  }
  throw error(ErrorCode::kInvalidInput, "the executor of collectives is \"{}\"{}", printable(given),
              suggestion(given, names));
}

Ref make_executable(const LoadedProgram& loaded, std::string_view executor) {
  static constexpr std::pair<std::string_view, ExecutorKind> kExecutors[] = {
      {"stream", ExecutorKind::kStream}, {"graph", ExecutorKind::kGraph}};
  std::vector<std::string_view> names;
  for (const auto& [name, kind] : kExecutors) {
    if (name == executor) {
      return make_object(ExecutableValue{std::make_unique<Executable>(loaded, kind)});
    }
    names.push_back(name);
  }
  throw error(ErrorCode::kInvalidInput, "the executor is \"{}\"{}", printable(executor),
              suggestion(executor, names));
}

void add_executable_type(PyObject* module) {
  static PyType_Slot slots[] = {slot(Py_tp_dealloc, destroy_object<ExecutableValue>),
                                {Py_tp_methods, methods},
                                {Py_tp_getset, properties},
                                {0, nullptr}};
  add_type<ExecutableValue>(module, "baton._core.Executable", slots, false);
  check(PyModule_AddFunctions(module, functions));
}

}  // namespace baton::python
