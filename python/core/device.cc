#include "core/device.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "baton/simulation.h"
#include "baton/sm_part.h"
#include "core/array.h"
#include "core/given.h"
#include "core/stream.h"
#include "core/values.h"
#include "core/wait.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "runtime/device_state.h"

namespace baton::python {
namespace {

// baton.on: a device, and a session of the simulated GPU, for one thread.
struct OnValue {
  Device device;
  std::optional<SimulationOptions> options;  // empty on a GPU
  std::optional<Simulation> simulation;      // while it is entered
  bool raises = true;                        // errors that are found; otherwise they are collected
};

thread_local std::vector<OnValue*> entered;

// Findings that were told as warnings, by device, until `Device.findings` takes them. Never
// destroyed: objects may outlive main.
class PendingFindings {
 public:
  static PendingFindings& instance() {
    static PendingFindings* const pending = new PendingFindings;
    return *pending;
  }
  void add(const Device& device, const std::vector<FindingReport>& findings) {
    const std::lock_guard lock(mutex_);
    std::vector<FindingReport>& of_device = by_device_[device.identity()];
    of_device.insert(of_device.end(), findings.begin(), findings.end());
  }
  std::vector<FindingReport> take(const Device& device) {
    const std::lock_guard lock(mutex_);
    return std::exchange(by_device_[device.identity()], {});
  }

 private:
  std::mutex mutex_;
  std::map<const DeviceIdentity*, std::vector<FindingReport>> by_device_;
};

// Devices collect: Python tells findings itself.
Device opened(Device device) {
  device.set_finding_policy(FindingPolicy::kCollect);
  return device;
}

std::vector<FindingReport> errors_of(const std::vector<FindingReport>& findings) {
  std::vector<FindingReport> errors;
  for (const FindingReport& finding : findings) {
    if (finding.error) errors.push_back(finding);
  }
  return errors;
}

OnValue* session_of(const Device& device) {
  for (auto on = entered.rbegin(); on != entered.rend(); ++on) {
    if ((*on)->simulation && (*on)->device == device) return *on;
  }
  return nullptr;
}

Ref device_of_spec(PyObject* spec) {
  if (spec == nullptr || spec == Py_None) return make_object(opened(Device::open()));
  return make_object(opened(Device::open(text_argument(spec, "the name of a device"))));
}

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    static const char* names[] = {"spec", nullptr};
    PyObject* spec = nullptr;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "|O:Device", const_cast<char**>(names),
                                    &spec) == 0) {
      throw PythonError{};
    }
    return device_of_spec(spec);
  });
}

PyObject* device_repr(PyObject* self) {
  return guarded([&] {
    const Device& device = value_of<Device>(self);
    return to_python(fmt::format("<baton.Device {}: {}>", device.spec(), device.name()));
  });
}

PyObject* device_compare(PyObject* self, PyObject* other, int operation) {
  const Device* const right = try_value<Device>(other);
  if (right == nullptr || (operation != Py_EQ && operation != Py_NE)) {
    return Py_NewRef(Py_NotImplemented);
  }
  const bool equal = value_of<Device>(self) == *right;
  return Py_NewRef(equal == (operation == Py_EQ) ? Py_True : Py_False);
}

Py_hash_t device_hash(PyObject* self) {
  return static_cast<Py_hash_t>(
      reinterpret_cast<std::uintptr_t>(value_of<Device>(self).identity()) >> 4);
}

// Whether a kernel ended with this: by a fault, by an instruction that the simulated GPU lacks, or
// because it was stopped after a time limit or for a deadlock.
bool is_of_kernel(const Error& failure) {
  return failure.code() == ErrorCode::kFault || failure.code() == ErrorCode::kUnsupported ||
         failure.code() == ErrorCode::kTimeout;
}

PyObject* device_findings(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 1> kNames = {"wait"};
    const Given given("findings", kNames, 0, 0, args, nargs, names);
    const Device& device = value_of<Device>(self);
    // A fault is among the findings of the simulated GPU.
    if (given.truth(0, false)) {
      if (const std::optional<Error> failure = synchronize(device)) {
        if (!is_simulated(device) || !is_of_kernel(*failure)) throw *failure;
        recover(device);
      }
    }
    std::vector<FindingReport> findings = PendingFindings::instance().take(device);
    if (OnValue* const on = session_of(device)) {
      for (FindingReport& finding : on->simulation->take_findings()) {
        findings.push_back(std::move(finding));
      }
    }
    for (FindingReport& finding : device.findings()) findings.push_back(std::move(finding));
    return findings_of(findings);
  });
}

PyObject* device_synchronize(PyObject* self, PyObject*) {
  return guarded([&] {
    wait_for_all(value_of<Device>(self));
    return none();
  });
}

PyObject* device_attribute(PyObject* self, PyObject* id) {
  return guarded(
      [&] {
        return to_python(value_of<Device>(self).attribute(
            static_cast<int>(unsigned_argument(id, "the attribute's number", INT32_MAX))));
      },
      Subject::kArguments);
}

PyObject* device_empty(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded(
      [&] {
        static constexpr std::array<const char*, 3> kNames = {"shape", "dtype", "stream"};
        const Given given("empty", kNames, 2, 2, args, nargs, names);
        const Device& device = value_of<Device>(self);
        const DType dtype = dtype_argument(given[1]);
        if (given.set(2) == nullptr) {
          return make_object(new_array(device, dtype, shape_argument(given[0])));
        }
        const StreamValue* const stream = try_value<StreamValue>(given[2]);
        if (stream == nullptr) {
          throw error(ErrorCode::kInvalidInput,
                      "empty() takes a baton.Stream, {} was given; Stream.adopt makes one of a "
                      "stream of another library",
                      type_name(given[2]));
        }
        if (!(stream->stream->device() == device)) {
          throw error(ErrorCode::kInvalidInput, "the stream is of {}, the memory of {}",
                      stream->stream->device().spec(), device.spec());
        }
        return make_object(new_array_in_order(*stream, dtype, shape_argument(given[0])));
      },
      Subject::kArguments);
}

// One stream for each count.
PyObject* device_split_sms(PyObject* self, PyObject* counts) {
  return guarded(
      [&] {
        const Ref list = Ref::checked(PySequence_Tuple(counts));
        std::vector<std::uint32_t> asked;
        for (Py_ssize_t i = 0; i < PyTuple_Size(list.get()); ++i) {
          asked.push_back(static_cast<std::uint32_t>(
              unsigned_argument(PyTuple_GetItem(list.get(), i), "a count of SMs", UINT32_MAX)));
        }
        return tuple_of(split_sms(value_of<Device>(self), asked), [](const SmPart& part) {
          return make_object(StreamValue{std::make_shared<const Stream>(part), {}});
        });
      },
      Subject::kArguments);
}

PyMethodDef device_methods[] = {
    {"findings", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(device_findings)),
     METH_FASTCALL | METH_KEYWORDS,
     "findings(*, wait=False): takes the findings of the simulated GPU, as a list of "
     "baton.Finding, "
     "and clears them. With wait=True it waits for all work first. Empty on a GPU."},
    {"synchronize", device_synchronize, METH_NOARGS, "Waits for all work on the device."},
    {"attribute", device_attribute, METH_O, "The value of a CUdevice_attribute, by its number."},
    {"empty", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(device_empty)),
     METH_FASTCALL | METH_KEYWORDS,
     "empty(shape, dtype, *, stream=None): a baton.Array in memory of the device, with undefined "
     "contents. With a baton.Stream it is allocated and freed in the order of that stream "
     "(cuMemAllocAsync), without a wait."},
    {"split_sms", device_split_sms, METH_O,
     "split_sms(counts): a tuple of streams on disjoint parts of at least so many SMs each. "
     "Kernels in a stream run on its part alone; Stream.part_sms says what it got."},
    {nullptr, nullptr, 0, nullptr}};

#define BATON_DEVICE_PROPERTY(name, expression, doc)                                               \
  {                                                                                                \
    name, get_property<Device, [](const Device& device) -> Ref { return to_python(expression); }>, \
        nullptr, doc, nullptr                                                                      \
  }
PyGetSetDef device_properties[] = {
    BATON_DEVICE_PROPERTY("spec", device.spec(),
                          "\"sim:h200\", \"cuda:0\": a name that Device takes."),
    BATON_DEVICE_PROPERTY("name", device.name(), "\"NVIDIA H200\"."),
    BATON_DEVICE_PROPERTY("architecture", device.architecture(), "90 for compute capability 9.0."),
    BATON_DEVICE_PROPERTY("arch", device.compile_arch(), "\"sm_90a\": the default to compile for."),
    BATON_DEVICE_PROPERTY("total_memory", device.total_memory(), "In bytes."),
    BATON_DEVICE_PROPERTY("free_memory", device.free_memory(), "In bytes, now."),
    BATON_DEVICE_PROPERTY("driver_version", device.driver_version(), "13000 for CUDA 13.0."),
    BATON_DEVICE_PROPERTY("ordinal", ordinal_of(device),
                          "Its number among the devices of its driver: DLPack's device id."),
    BATON_DEVICE_PROPERTY("is_simulated", is_simulated(device), "Whether it is the simulated GPU."),
    BATON_DEVICE_PROPERTY("multiprocessors", device.limits().multiprocessors, "Their number."),
    BATON_DEVICE_PROPERTY("max_threads", device.limits().threads_per_block, "Of a block."),
    BATON_DEVICE_PROPERTY("max_shared", device.limits().shared_per_block_optin,
                          "Bytes of a block, static and dynamic together, with the opt-in."),
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
#undef BATON_DEVICE_PROPERTY

// on(device, schedule=None, races="usual")
PyObject* on_new(PyTypeObject*, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    static const char* names[] = {"device", "schedule", "races", "findings", nullptr};
    PyObject* given = nullptr;
    PyObject* schedule = nullptr;
    PyObject* races_given = nullptr;
    PyObject* findings_given = nullptr;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "|OOOO:on", const_cast<char**>(names), &given,
                                    &schedule, &races_given, &findings_given) == 0) {
      throw PythonError{};
    }
    const std::string_view findings =
        findings_given == nullptr ? "raise" : text_argument(findings_given, "findings");
    OnValue on{device_argument(given), std::nullopt, std::nullopt};
    on.raises = findings == "raise";
    if (!on.raises && findings != "collect") {
      throw error(ErrorCode::kInvalidInput, "findings is \"{}\"; known: raise, collect",
                  printable(findings));
    }
    const Races races = races_argument(races_given);
    const bool asked = (schedule != nullptr && schedule != Py_None) || races != Races::kUsual;
    if (is_simulated(on.device)) {
      on.options.emplace();
      if (schedule != nullptr && schedule != Py_None) {
        on.options->schedule = parse_schedule(text_argument(schedule, "a schedule"));
      }
      on.options->races = races;
    } else if (asked) {
      throw error(ErrorCode::kInvalidInput,
                  "a schedule and races need the simulated GPU, the device is {}",
                  on.device.spec());
    }
    return make_object(std::move(on));
  });
}

PyObject* on_enter(PyObject* self, PyObject*) {
  return guarded([&] {
    OnValue& on = value_of<OnValue>(self);
    for (const OnValue* const other : entered) {
      if (other == &on) {
        throw error(ErrorCode::kInvalidInput, "this baton.on is entered already: make another one");
      }
    }
    if (on.options) on.simulation.emplace(on.device, *on.options);
    entered.push_back(&on);
    Py_INCREF(self);  // until it is left
    return make_object(on.device);
  });
}

PyObject* on_exit(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&] {
    OnValue& on = value_of<OnValue>(self);
    if (entered.empty() || entered.back() != &on) {
      throw error(ErrorCode::kInvalidInput,
                  "baton.on is left in another thread or order than it was entered");
    }
    const Ref held = Ref::steal(self);  // what `on_enter` added
    Py_INCREF(self);
    const bool failed = nargs > 0 && args[0] != Py_None;
    // However the wait ends, such as by Ctrl-C, the block is left.
    struct Leave {
      OnValue& on;
      ~Leave() {
        entered.pop_back();
        on.simulation.reset();
      }
    };
    const Leave leave{on};
    const std::optional<Error> failure = synchronize(on.device);
    // Findings of a block that raised something else stay for `findings`: its exception is the one
    // that the user must see.
    if (!failed) report_findings(on.device, failure ? &*failure : nullptr);
    return to_python(false);
  });
}

PyMethodDef on_methods[] = {
    {"__enter__", on_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(on_exit)), METH_FASTCALL,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool is_simulated(const Device& device) {
  return device.driver().simulator != nullptr;
}

int ordinal_of(const Device& device) {
  return device.identity()->ordinal();
}

Device device_argument(PyObject* object) {
  if (object == nullptr || object == Py_None) {
    return entered.empty() ? opened(Device::open()) : entered.back()->device;
  }
  if (const Device* const device = try_value<Device>(object)) return *device;
  if (PyUnicode_Check(object)) return opened(Device::open(text_of(object)));
  set_error(error(ErrorCode::kInvalidInput,
                  "the device is {}; pass a baton.Device or a name such as \"sim:h200\"",
                  with_article(type_name(object))),
            Subject::kArguments);
  throw PythonError{};
}

void recover(const Device& device) {
  const WithoutGil released;
  device.recover();
}

void recover_from(const Device& device, const Error& failure) {
  if (is_simulated(device) && is_of_kernel(failure)) recover(device);
}

void report_findings(const Device& device, const Error* failure) {
  if (!is_simulated(device)) {
    if (failure != nullptr) throw *failure;
    return;
  }
  OnValue* const on = session_of(device);
  const std::vector<FindingReport> findings =
      on != nullptr ? on->simulation->take_findings() : device.findings();
  const std::vector<FindingReport> errors = errors_of(findings);
  if (failure != nullptr) {
    if (on == nullptr) PendingFindings::instance().add(device, findings);
    // The error is told, and later calls are not failed by it.
    recover_from(device, *failure);
    set_error(*failure, Subject::kText, findings);
    throw PythonError{};
  }
  if (findings.empty()) return;
  if (on != nullptr && on->raises && !errors.empty()) throw_findings(findings);
  PendingFindings::instance().add(device, findings);
  if (on != nullptr && !on->raises) return;
  call_python("_errors", "warn", findings_of(findings));
}

void add_device_type(PyObject* module) {
  static PyType_Slot device_slots[] = {
      slot(Py_tp_new, device_new),
      slot(Py_tp_dealloc, destroy_object<Device>),
      slot(Py_tp_repr, device_repr),
      slot(Py_tp_richcompare, device_compare),
      slot(Py_tp_hash, device_hash),
      {Py_tp_methods, device_methods},
      {Py_tp_getset, device_properties},
      {Py_tp_doc, const_cast<char*>(
                      "A CUDA GPU or the simulated GPU: \"sim\", \"sim:h200\", \"cuda:0\". Without "
                      "a name: BATON_DEVICE, otherwise the first GPU, otherwise the simulated one. "
                      "Any thread may use it.")},
      {0, nullptr}};
  add_type<Device>(module, "baton._core.Device", device_slots, true);
  static PyType_Slot on_slots[] = {
      slot(Py_tp_new, on_new),
      slot(Py_tp_dealloc, destroy_object<OnValue>),
      {Py_tp_methods, on_methods},
      {Py_tp_doc,
       const_cast<char*>(
           "on(device=None, schedule=None, races=\"usual\", findings=\"raise\"): makes a device "
           "the "
           "default of this thread for a `with` block. On the simulated GPU, `schedule` is the "
           "order of work: \"serial\", \"late\", \"early\", \"reverse\", \"random:7\". `races` is "
           "\"usual\", \"global\" (or True), which also looks for races in global memory within "
           "one grid, or \"model\". Errors that are found raise "
           "baton.FindingError when the block waits and when it ends; \"collect\" leaves them to "
           "Device.findings.")},
      {0, nullptr}};
  add_type<OnValue>(module, "baton._core.on", on_slots, true);
}

}  // namespace baton::python
