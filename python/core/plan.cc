#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "core/device.h"
#include "core/kernel.h"
#include "core/observer.h"
#include "core/values.h"
#include "launch/limits.h"

namespace baton::python {
namespace {

// The values of a plan for one call. They stay alive where a view of one of them runs Python code
// that replaces another.
class HeldValues {
 public:
  explicit HeldValues(const std::vector<Ref>& values) : held_(values) {
    for (const Ref& value : held_) objects_.push_back(value.get());
  }
  PyObject* const* data() const { return objects_.data(); }
  std::size_t size() const { return objects_.size(); }

 private:
  std::vector<Ref> held_;
  std::vector<PyObject*> objects_;
};

// baton.Plan. With host arrays, which are copied for each call, nothing is prepared.
struct PlanValue {
  Ref kernel;
  LaunchConfig config;
  std::vector<Ref> values;
  Ref stream;  // `stream=`, which keeps a stream of another library alive
  std::optional<LaunchPlan> prepared;
  vectorcallfunc call = nullptr;

  const KernelValue& of() const { return value_of<KernelValue>(kernel.get()); }

  // Checks and packs everything.
  void prepare() {
    const KernelValue& kernel_value = of();
    CallState state(kernel_value);
    const HeldValues objects(values);
    const PackedValues packed(kernel_value, objects.data(), objects.size(), state);
    prepared.reset();
    if (!state.hosts.empty()) return;
    config.stream =
        LaunchConfig::StreamRef(state.stream.choose(stream.get(), state.device), state.device);
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const Parameter& parameter = kernel_value.parameters[i];
      arguments.push_back({packed.pointers()[i], parameter.size,
                           parameter.kind == ParamKind::kPointer, parameter.dtype});
    }
    prepared.emplace(kernel_value.kernel, config, arguments);
  }
};

[[gnu::hot]] PyObject* plan_call(PyObject* self, PyObject* const*, std::size_t flags,
                                 PyObject* names) {
  return guarded(
      [&] {
        const ObjectLock lock(self);
        PlanValue& plan = value_of<PlanValue>(self);
        if (PyVectorcall_NARGS(flags) != 0 || names != nullptr) {
          throw error(ErrorCode::kInvalidInput,
                      "a plan is called without arguments; plan[i] = value replaces one");
        }
        if (plan.prepared) {
          if (is_observed()) [[unlikely]] {
            const HeldValues objects(plan.values);
            observe_launch(plan.of(), plan.config, objects.data(), objects.size());
          }
          const NativeResult result = plan.prepared->try_launch();
          if (result != 0) throw plan.of().kernel.diagnose(plan.config, result);
        } else {
          const HeldValues objects(plan.values);
          launch(plan.of(), plan.config, objects.data(), objects.size(), plan.stream.get());
        }
        return none();
      },
      Subject::kArguments);
}

std::size_t checked_index(const PlanValue& plan, PyObject* key) {
  const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
  if (index < 0 || static_cast<std::size_t>(index) >= plan.values.size()) {
    PyErr_Format(PyExc_IndexError, "the plan has %zu arguments, counted from 0: there is no %zd",
                 plan.values.size(), index);
    throw PythonError{};
  }
  return static_cast<std::size_t>(index);
}

int plan_set(PyObject* self, PyObject* key, PyObject* value) {
  return guarded_status(
      [&] {
        const ObjectLock lock(self);
        PlanValue& plan = value_of<PlanValue>(self);
        if (value == nullptr) {
          PyErr_SetString(PyExc_TypeError, "an argument of a plan cannot be deleted");
          throw PythonError{};
        }
        const std::size_t index = checked_index(plan, key);
        const Parameter& parameter = plan.of().parameters[index];
        CallState state(plan.of());
        std::uint64_t bits = 0;
        void* bytes = nullptr;
        try {
          bytes = pack_argument(parameter, value, index, bits, state);
        } catch (const Error& failure) {
          throw argument_error(plan.of().kernel, parameter, index, failure);
        }
        const bool stays = plan.prepared && state.hosts.empty();
        if (stays) {
          plan.prepared->set_argument(
              index, Argument{bytes, parameter.size, parameter.kind == ParamKind::kPointer,
                              parameter.dtype});
        }
        // The value before it may end here, which waits and lets other threads in: it comes last.
        const Ref before = std::exchange(plan.values[index], Ref::borrow(value));
        if (!stays) plan.prepare();
      },
      Subject::kArguments);
}

PyObject* plan_get(PyObject* self, PyObject* key) {
  return guarded([&] {
    const ObjectLock lock(self);
    const PlanValue& plan = value_of<PlanValue>(self);
    return plan.values[checked_index(plan, key)];
  });
}

Py_ssize_t plan_length(PyObject* self) {
  return static_cast<Py_ssize_t>(value_of<PlanValue>(self).values.size());
}

int plan_set_grid(PyObject* self, PyObject* value, void*) {
  return guarded_status(
      [&] {
        const ObjectLock lock(self);
        PlanValue& plan = value_of<PlanValue>(self);
        if (value == nullptr) throw error(ErrorCode::kInvalidInput, "a plan needs a grid");
        const Dim3 grid = extents_argument(value, "the grid");
        if (plan.prepared) plan.prepared->set_grid(grid);
        plan.config.grid = grid;
      },
      Subject::kArguments);
}

int plan_set_stream(PyObject* self, PyObject* value, void*) {
  return guarded_status(
      [&] {
        const ObjectLock lock(self);
        PlanValue& plan = value_of<PlanValue>(self);
        const Device& device = plan.of().kernel.device();
        Ref stream = value == nullptr ? none() : Ref::borrow(value);
        // With host arrays the stream is chosen anew in each call, and checked here.
        const NativeStream native = CallStream().choose(stream.get(), device);
        if (plan.prepared) {
          plan.prepared->set_stream(adopted(native, device));
          plan.config.stream = LaunchConfig::StreamRef(native, device);
        }
        plan.stream = std::move(stream);
      },
      Subject::kArguments);
}

template <auto kRead>
PyObject* locked_property(PyObject* self, void*) {
  return guarded([&] {
    const ObjectLock lock(self);
    return kRead(value_of<PlanValue>(self));
  });
}

PyObject* plan_repr(PyObject* self) {
  return guarded([&] {
    const ObjectLock lock(self);
    const PlanValue& plan = value_of<PlanValue>(self);
    return to_python(fmt::format(
        "<baton.Plan of {}, grid {}, block {}, on {}>",
        printable(plan.of().kernel.facts().demangled), launch::to_string(plan.config.grid),
        launch::to_string(plan.config.block), plan.of().kernel.device().spec()));
  });
}

PyGetSetDef plan_properties[] = {
    {"grid", locked_property<[](const PlanValue& plan) { return extents_of(plan.config.grid); }>,
     plan_set_grid, "The extents in blocks; may be replaced.", nullptr},
    {"kernel", get_property<PlanValue, [](const PlanValue& plan) { return plan.kernel; }>, nullptr,
     "The baton.Kernel.", nullptr},
    {"stream",
     locked_property<[](const PlanValue& plan) { return plan.stream ? plan.stream : none(); }>,
     plan_set_stream,
     "The stream that was given, or None: then it is the one that was current when the plan was "
     "made. May be replaced.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

Ref make_plan(PyObject* kernel, const LaunchConfig& config, PyObject* const* values,
              std::size_t count, PyObject* stream) {
  PlanValue plan;
  plan.kernel = Ref::borrow(kernel);
  plan.config = config;
  for (std::size_t i = 0; i < count; ++i) plan.values.push_back(Ref::borrow(values[i]));
  plan.stream = Ref::borrow(stream);
  plan.call = plan_call;
  plan.prepare();
  return make_object(std::move(plan));
}

void add_plan_type(PyObject* module) {
  static PyType_Slot slots[] = {
      slot(Py_tp_dealloc, destroy_object<PlanValue>),
      slot(Py_tp_call, PyVectorcall_Call),
      slot(Py_tp_repr, plan_repr),
      slot(Py_mp_subscript, plan_get),
      slot(Py_mp_ass_subscript, plan_set),
      slot(Py_mp_length, plan_length),
      {Py_tp_getset, plan_properties},
      {Py_tp_doc, const_cast<char*>(
                      "A launch that is checked and packed once: plan() enqueues it, plan[i] = "
                      "value replaces an argument. It keeps its arguments alive. One thread at a "
                      "time.")},
      {0, nullptr}};
  add_type<PlanValue>(module, "baton._core.Plan", slots, false, 0,
                      offsetof(Object<PlanValue>, value) + offsetof(PlanValue, call));
}

}  // namespace baton::python
