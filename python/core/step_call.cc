#include "core/step_call.h"

#include "base/error.h"
#include "core/errors.h"
#include "core/given.h"
#include "core/values.h"

namespace baton::python {
namespace {

constexpr const char* kStep = "baton.CompletedStep";
constexpr const char* kEnded = "baton.CompletedStep.ended";

// contents(name), where `self` is a capsule of the step.
PyObject* step_contents(PyObject* self, PyObject* name) {
  return guarded([&] {
    if (PyCapsule_IsValid(self, kStep) == 0) {
      throw error(ErrorCode::kInvalidInput,
                  "the run has gone on: contents() of a step works during the call of after_step");
    }
    const auto* const step = static_cast<const CompletedStep*>(PyCapsule_GetPointer(self, kStep));
    return array_parts(step->contents(text_argument(name, "the name of a buffer")));
  });
}

PyMethodDef contents_method = {"contents", step_contents, METH_O, nullptr};

Ref indexes_of(const CompletedStep& step) {
  Ref dict = Ref::checked(PyDict_New());
  for (const auto& [name, value] : step.indexes) {
    check(PyDict_SetItem(dict.get(), to_python(name).get(), to_python(value).get()));
  }
  return dict;
}

}  // namespace

Ref array_parts(const Array& array) {
  const Ref bytes = Ref::checked(
      PyBytes_FromStringAndSize(array.bytes.data(), static_cast<Py_ssize_t>(array.bytes.size())));
  const Ref shape = shape_tuple(array.shape);
  const Ref dtype = to_python(to_string(array.dtype));
  return Ref::checked(PyTuple_Pack(3, dtype.get(), shape.get(), bytes.get()));
}

bool call_after_step(PyObject* callable, const CompletedStep& step) {
  const Ref capsule =
      Ref::checked(PyCapsule_New(const_cast<CompletedStep*>(&step), kStep, nullptr));
  // However the call ends, the capsule may live longer than the step.
  struct End {
    PyObject* capsule;
    ~End() { PyCapsule_SetName(capsule, kEnded); }
  };
  const End end{capsule.get()};
  const Ref value = call_python(
      "_values", "CompletedStep", to_python(step.number), to_python(step.label), indexes_of(step),
      to_python(step.where.to_string()), optional_of(step.launch), to_python(step.skipped),
      Ref::checked(PyCFunction_New(&contents_method, capsule.get())));
  const Ref result = Ref::checked(PyObject_CallFunctionObjArgs(callable, value.get(), nullptr));
  return result.get() != Py_False;
}

}  // namespace baton::python
