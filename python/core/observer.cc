#include "core/observer.h"

#include <mutex>
#include <string>
#include <utility>

#include "core/values.h"
#include "launch/attribute_table.h"

namespace baton::python {
namespace {

Ref field_of(const launch::AttributeField& field, const LaunchAttribute& attribute) {
  const launch::FieldValue value = launch::read_field(field, attribute);
  if (const double* real = std::get_if<double>(&value)) return to_python(*real);
  const std::int64_t number = std::get<std::int64_t>(value);
  if (field.kind == launch::FieldKind::kFlag) return to_python(number != 0);
  if (field.kind == launch::FieldKind::kChoice) {
    return to_python(field.choices[static_cast<std::size_t>(number)]);
  }
  return to_python(number);
}

// A number, or a dict of the fields by name.
Ref attribute_of(const LaunchAttribute& attribute, const launch::AttributeRow& row) {
  if (row.fields.size() == 1) return field_of(row.fields[0], attribute);
  Ref fields = Ref::checked(PyDict_New());
  for (const launch::AttributeField& field : row.fields) {
    check(PyDict_SetItem(fields.get(), to_python(field.name).get(),
                         field_of(field, attribute).get()));
  }
  return fields;
}

// Guards the observer's reference, where threads run without a global lock: a launch takes its own
// before another thread gives the observer's back.
std::mutex observer_mutex;

Ref exchange_observer(Ref next) {
  const std::lock_guard lock(observer_mutex);
  return Ref::steal(launch_observer.exchange(next.release()));
}

Ref current_observer() {
  const std::lock_guard lock(observer_mutex);
  return Ref::borrow(launch_observer.load());
}

// observe_launches(callable): sets the observer, or none for None.
PyObject* observe_launches(PyObject*, PyObject* callable) {
  return guarded([&] {
    const Ref next = callable == Py_None ? Ref() : Ref::borrow(callable);
    const Ref before = exchange_observer(next);
    return none();
  });
}

PyMethodDef functions[] = {{"observe_launches", observe_launches, METH_O, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

void observe_launch(const KernelValue& kernel, const LaunchConfig& config, PyObject* const* values,
                    std::size_t count) {
  const Ref observer = current_observer();
  if (!observer) return;
  Ref settings = Ref::checked(PyDict_New());
  const auto add = [&](std::string_view name, const Ref& value) {
    check(PyDict_SetItem(settings.get(), to_python(name).get(), value.get()));
  };
  add("grid", extents_of(config.grid));
  add("block", extents_of(config.block));
  add("shared", to_python(config.shared));
  add("force_pdl", to_python(config.force_pdl));
  for (const LaunchAttribute& attribute : config.attributes.all()) {
    const launch::AttributeRow* const row = launch::find_row(attribute.id());
    add(attribute.name(), row == nullptr ? none() : attribute_of(attribute, *row));
  }
  Ref arguments = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; i < count; ++i) {
    check(PyTuple_SetItem(arguments.get(), static_cast<Py_ssize_t>(i),
                          Ref::borrow(values[i]).release()));
  }
  const Ref seen = make_kernel(kernel.kernel, kernel.images);
  Ref::checked(PyObject_CallFunctionObjArgs(observer.get(), seen.get(), settings.get(),
                                            arguments.get(), nullptr));
}

void add_observer(PyObject* module) {
  check(PyModule_AddFunctions(module, functions));
}

}  // namespace baton::python
