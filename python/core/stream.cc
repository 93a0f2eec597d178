#include "core/stream.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "core/device.h"
#include "core/given.h"
#include "core/values.h"
#include "core/wait.h"

namespace baton::python {
namespace {

// `with baton.stream(s)`: the streams of this thread, innermost last.
thread_local std::vector<std::pair<Device, NativeStream>> current_streams;
// How many there are in all threads: most calls find none, without a look at the thread's own.
std::atomic<std::uint32_t> entered_streams = 0;

std::optional<std::uintptr_t> address_of(PyObject* object) {
  if (!PyLong_Check(object)) return std::nullopt;
  const unsigned long long address = PyLong_AsUnsignedLongLong(object);
  if (address == ~0ull && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw error(ErrorCode::kInvalidInput, "the stream is {}, which is no address of a CUstream",
                number_text(object));
  }
  return static_cast<std::uintptr_t>(address);
}

// The address that `__cuda_stream__`, or a framework's own attribute, gives.
std::optional<std::uintptr_t> foreign_stream(PyObject* object) {
  const Ref protocol = optional_attribute(object, "__cuda_stream__");
  if (protocol) {
    Ref pair = protocol;
    if (PyCallable_Check(protocol.get()) != 0) {
      pair = Ref::checked(PyObject_CallObject(protocol.get(), nullptr));
    }
    if (!PyTuple_Check(pair.get()) || PyTuple_Size(pair.get()) != 2) {
      throw error(ErrorCode::kInvalidInput,
                  "the __cuda_stream__ of a {} gives no pair of version and address",
                  type_name(object));
    }
    const auto version = address_of(PyTuple_GetItem(pair.get(), 0));
    if (version != std::uintptr_t{0}) {
      throw error(ErrorCode::kInvalidInput,
                  "the __cuda_stream__ of a {} has another version than 0", type_name(object));
    }
    return address_of(PyTuple_GetItem(pair.get(), 1));
  }
  for (const char* const name : {"cuda_stream", "ptr"}) {
    const Ref address = optional_attribute(object, name);
    if (address) return address_of(address.get());
  }
  return std::nullopt;
}

NativeStream to_native(std::uintptr_t address) {
  return reinterpret_cast<NativeStream>(address);
}

// The driver takes the nearest one that it has.
int priority_argument(PyObject* object) {
  if (object == nullptr) return 0;
  if (PyIndex_Check(object) == 0) {
    throw error(ErrorCode::kInvalidInput, "the priority of a stream is {}, it takes an int",
                with_article(type_name(object)));
  }
  const Ref number = Ref::checked(PyNumber_Index(object));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow != 0) return overflow < 0 ? INT_MIN : INT_MAX;
  return static_cast<int>(std::clamp<long long>(value, INT_MIN, INT_MAX));
}

PyObject* stream_new(PyTypeObject*, PyObject* args, PyObject* keywords) {
  return guarded(
      [&] {
        static const char* names[] = {"device", "priority", nullptr};
        PyObject* device = nullptr;
        PyObject* priority = nullptr;
        if (PyArg_ParseTupleAndKeywords(args, keywords, "|OO:Stream", const_cast<char**>(names),
                                        &device, &priority) == 0) {
          throw PythonError{};
        }
        const int asked = priority_argument(priority);
        return make_object(
            StreamValue{std::make_shared<Stream>(device_argument(device), asked), {}});
      },
      Subject::kArguments);
}

PyObject* stream_adopt(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* keywords) {
  return guarded(
      [&] {
        static constexpr std::array<const char*, 2> kNames = {"stream", "device"};
        const Given given("adopt", kNames, 2, 1, args, nargs, keywords);
        const Device device = device_argument(given[1]);
        const NativeStream native = stream_argument(given[0], device);
        return make_object(StreamValue{std::make_shared<Stream>(Stream::adopt(device, native)),
                                       Ref::borrow(given[0])});
      },
      Subject::kArguments);
}

PyObject* stream_synchronize(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* keywords) {
  return guarded([&] {
    static constexpr std::array<const char*, 1> kNames = {"timeout"};
    const Given given("synchronize", kNames, 1, 0, args, nargs, keywords);
    wait_for(*value_of<StreamValue>(self).stream, seconds_argument(given[0]));
    return none();
  });
}

PyObject* stream_wait(PyObject* self, PyObject* event) {
  return guarded(
      [&] {
        const EventValue* const given = try_value<EventValue>(event);
        if (given == nullptr) {
          throw error(ErrorCode::kInvalidInput, "wait() takes a baton.Event, {} was given",
                      type_name(event));
        }
        value_of<StreamValue>(self).stream->wait(*given->event);
        return none();
      },
      Subject::kArguments);
}

PyObject* stream_record(PyObject* self, PyObject*) {
  return guarded([&] {
    const Stream& stream = *value_of<StreamValue>(self).stream;
    EventValue event{std::make_shared<Event>(stream)};
    event.event->record(stream);
    return make_object(std::move(event));
  });
}

PyObject* stream_enter(PyObject* self, PyObject*) {
  return guarded([&] {
    const Stream& stream = *value_of<StreamValue>(self).stream;
    current_streams.emplace_back(stream.device(), stream.native());
    entered_streams.fetch_add(1, std::memory_order_relaxed);
    return Ref::borrow(self);
  });
}

PyObject* stream_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  return guarded([&] {
    const NativeStream native = value_of<StreamValue>(self).stream->native();
    if (current_streams.empty() || current_streams.back().second != native) {
      throw error(ErrorCode::kInvalidInput,
                  "the stream is left in another thread or order than it was entered");
    }
    current_streams.pop_back();
    entered_streams.fetch_sub(1, std::memory_order_relaxed);
    return to_python(false);
  });
}

PyObject* stream_repr(PyObject* self) {
  return guarded([&] {
    const Stream& stream = *value_of<StreamValue>(self).stream;
    return to_python(fmt::format("<baton.Stream {:#x} on {}>",
                                 reinterpret_cast<std::uintptr_t>(stream.native()),
                                 stream.device().spec()));
  });
}

Ref native_of(const StreamValue& value) {
  return to_python(std::uint64_t{reinterpret_cast<std::uintptr_t>(value.stream->native())});
}

PyMethodDef stream_methods[] = {
    {"adopt", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(stream_adopt)),
     METH_FASTCALL | METH_KEYWORDS | METH_STATIC,
     "adopt(stream, device=None): uses a stream of another library, which must outlive its work. "
     "Raises ArgumentError for what is no stream."},
    {"synchronize", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(stream_synchronize)),
     METH_FASTCALL | METH_KEYWORDS,
     "synchronize(timeout=None): waits for the work enqueued so far, at most `timeout` seconds. "
     "Raises TimeoutError, after which the work goes on, and FaultError or FindingError for what "
     "the work did."},
    {"wait", stream_wait, METH_O, "wait(event): later work starts after the event was reached."},
    {"record", stream_record, METH_NOARGS, "Returns a baton.Event at this point of the stream."},
    {"__cuda_stream__",
     plain_method<StreamValue,
                  [](const StreamValue& value) {
                    const Ref address = native_of(value);
                    return Ref::checked(Py_BuildValue("(iO)", 0, address.get()));
                  }>,
     METH_NOARGS, "Version 0 and the address of the CUstream."},
    {"__enter__", stream_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(stream_exit)), METH_FASTCALL,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef stream_properties[] = {
    {"device",
     get_property<StreamValue,
                  [](const StreamValue& value) { return make_object(value.stream->device()); }>,
     nullptr, "The baton.Device.", nullptr},
    {"native", get_property<StreamValue, native_of>, nullptr, "The address of the CUstream.",
     nullptr},
    {"part_sms",
     get_property<StreamValue,
                  [](const StreamValue& value) { return to_python(value.stream->part_sms()); }>,
     nullptr, "The SMs of its part of the device; 0: all of the device.", nullptr},
    {"done",
     get_property<StreamValue,
                  [](const StreamValue& value) { return to_python(value.stream->done()); }>,
     nullptr, "Whether all work enqueued so far has completed.", nullptr},
    {"is_capturing",
     get_property<StreamValue,
                  [](const StreamValue& value) { return to_python(value.stream->is_capturing()); }>,
     nullptr, "Whether a CUDA graph is being captured from it.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* event_synchronize(PyObject* self, PyObject*) {
  return guarded([&] {
    const Event& event = *value_of<EventValue>(self).event;
    std::optional<Error> failure;
    try {
      wait_until([&] { return event.done(); }, event.device(), std::nullopt);
    } catch (const Error& caught) {
      failure = caught;
    }
    report_findings(event.device(), failure ? &*failure : nullptr);
    return none();
  });
}

PyObject* event_elapsed(PyObject* self, PyObject* later) {
  return guarded(
      [&] {
        const EventValue* const end = try_value<EventValue>(later);
        if (end == nullptr) {
          throw error(ErrorCode::kInvalidInput, "elapsed() takes a baton.Event, {} was given",
                      type_name(later));
        }
        return to_python(elapsed_seconds(*value_of<EventValue>(self).event, *end->event));
      },
      Subject::kArguments);
}

PyObject* event_repr(PyObject* self) {
  return guarded([&] {
    const Event& event = *value_of<EventValue>(self).event;
    return to_python(fmt::format("<baton.Event on {}{}>", event.device().spec(),
                                 event.done() ? ", reached" : ""));
  });
}

PyMethodDef event_methods[] = {
    {"synchronize", event_synchronize, METH_NOARGS, "Waits until the event was reached."},
    {"elapsed", event_elapsed, METH_O,
     "elapsed(later): the seconds from this event to a later one; both must have been reached."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef event_properties[] = {
    {"done",
     get_property<EventValue,
                  [](const EventValue& value) { return to_python(value.event->done()); }>,
     nullptr, "Whether the event was reached.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

NativeStream stream_argument(PyObject* object, const Device& device) {
  if (const StreamValue* const own = try_value<StreamValue>(object)) {
    if (!(own->stream->device() == device)) {
      throw error(ErrorCode::kInvalidInput, "the stream is of {}, the kernel or program of {}",
                  own->stream->device().spec(), device.spec());
    }
    return own->stream->native();
  }
  const std::optional<std::uintptr_t> address =
      PyLong_Check(object) ? address_of(object) : foreign_stream(object);
  if (!address) {
    throw error(ErrorCode::kInvalidInput,
                "the stream is {}; pass a baton.Stream, an object with __cuda_stream__, or the "
                "address of a CUstream",
                with_article(type_name(object)));
  }
  return to_native(*address);
}

[[gnu::hot]] NativeStream CallStream::choose(PyObject* given, const Device& device) const {
  if (given != nullptr && given != Py_None) return stream_argument(given, device);
  if (entered_streams.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    for (auto at = current_streams.rbegin(); at != current_streams.rend(); ++at) {
      if (at->first == device) return at->second;
    }
  }
  if (exchange_ != nullptr) {
    void* stream = nullptr;
    check(exchange_->current_stream(kDlCuda, device_id_, &stream));
    return static_cast<NativeStream>(stream);
  }
  if (declared_) return to_native(*declared_);
  if (foreign_) {
    throw error(ErrorCode::kInvalidInput,
                "no stream is known for the arrays of this library; pass stream=, or use `with "
                "baton.stream(s)`");
  }
  return nullptr;
}

Stream adopted(NativeStream stream, const Device& device) {
  return Stream::adopt(device, stream);
}

void add_stream_types(PyObject* module) {
  static PyType_Slot stream_slots[] = {
      slot(Py_tp_new, stream_new),
      slot(Py_tp_dealloc, destroy_object<StreamValue>),
      slot(Py_tp_repr, stream_repr),
      {Py_tp_methods, stream_methods},
      {Py_tp_getset, stream_properties},
      {Py_tp_doc,
       const_cast<char*>("Stream(device=None, priority=0): a queue of work on one device. `with "
                         "stream:` makes it the stream of this thread's calls.")},
      {0, nullptr}};
  add_type<StreamValue>(module, "baton._core.Stream", stream_slots, true);
  static PyType_Slot event_slots[] = {
      slot(Py_tp_dealloc, destroy_object<EventValue>),
      slot(Py_tp_repr, event_repr),
      {Py_tp_methods, event_methods},
      {Py_tp_getset, event_properties},
      {Py_tp_doc, const_cast<char*>("A point in a stream: Stream.record makes it.")},
      {0, nullptr}};
  add_type<EventValue>(module, "baton._core.Event", event_slots, false);
}

}  // namespace baton::python
