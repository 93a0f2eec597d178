#pragma once

#include <new>

#include "core/errors.h"
#include "core/python.h"

namespace baton::python {

// A Python object that holds a C++ value.
template <typename T>
struct Object {
  PyObject_HEAD T value;
};

// The Python type of Object<T>; null before `add_type`. Types live as long as the process.
template <typename T>
inline PyTypeObject* type_of = nullptr;

template <typename T>
T& value_of(PyObject* object) {
  return reinterpret_cast<Object<T>*>(object)->value;
}

template <typename T>
bool is_object(PyObject* object) {
  return PyObject_TypeCheck(object, type_of<T>) != 0;
}

// The value of an object of that type, or null.
template <typename T>
T* try_value(PyObject* object) {
  return is_object<T>(object) ? &value_of<T>(object) : nullptr;
}

// Makes a Python object from a C++ value.
template <typename T>
Ref make_object(T value) {
  const auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type_of<T>, Py_tp_alloc));
  Ref object = Ref::checked(alloc(type_of<T>, 0));
  ::new (static_cast<void*>(&value_of<T>(object.get()))) T(std::move(value));
  return object;
}

template <typename T>
void destroy_object(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  value_of<T>(object).~T();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

// Makes the type `baton._core.NAME` and adds it to the module. `slots` ends with {0, nullptr}. Only
// C++ makes objects of it, unless `slots` has Py_tp_new.
template <typename T>
void add_type(PyObject* module, const char* qualified_name, PyType_Slot* slots, bool constructs,
              unsigned flags = 0, std::size_t size = sizeof(Object<T>)) {
  PyType_Spec spec{};
  spec.name = qualified_name;
  spec.basicsize = static_cast<int>(size);
  spec.flags = Py_TPFLAGS_DEFAULT | flags;
  if (!constructs) spec.flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
  spec.slots = slots;
  Ref type = Ref::checked(PyType_FromSpec(&spec));
  const char* const name = std::string_view(qualified_name)
                               .substr(std::string_view(qualified_name).rfind('.') + 1)
                               .data();
  check(PyModule_AddObjectRef(module, name, type.get()));
  type_of<T> = reinterpret_cast<PyTypeObject*>(type.release());
}

// A slot of a type, from a function of any signature.
template <typename Function>
PyType_Slot slot(int id, Function* function) {
  return {id, reinterpret_cast<void*>(function)};
}

// Getter of a property: `read` takes the value and returns a Ref.
template <typename T, auto kRead>
PyObject* get_property(PyObject* self, void*) {
  return guarded([&] { return kRead(value_of<T>(self)); });
}

// A method without arguments.
template <typename T, auto kBody>
PyObject* plain_method(PyObject* self, PyObject*) {
  return guarded([&] { return kBody(value_of<T>(self)); });
}

}  // namespace baton::python
