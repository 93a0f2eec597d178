#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "core/python.h"

namespace baton::python {

// A Python object that holds a C++ value.
template <typename T>
struct Object {
  PyObject_HEAD T value;
  PyObject* weak_references;  // Python's list of them, or null
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

// Before the value goes: what a weak reference calls may still look at the object's place.
template <typename T>
void clear_weak_references(PyObject* object) {
  if (reinterpret_cast<Object<T>*>(object)->weak_references != nullptr) [[unlikely]]
    PyObject_ClearWeakRefs(object);
}

template <typename T>
void destroy_object(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  clear_weak_references<T>(object);
  value_of<T>(object).~T();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

// The memory of one object that is not in use. An expression that makes an object of a small type
// for one call then allocates once. The type has no collector's head.
class SpareObject {
 public:
  SpareObject() = default;
  SpareObject(SpareObject&& other) noexcept : object_(other.take()) {}
  SpareObject& operator=(SpareObject&&) = delete;
  ~SpareObject() { PyObject_Free(take()); }

  // Keeps an object that has no references, and whose value was destroyed. Returns false where
  // there is one already.
  bool put(PyObject* object) {
#ifdef Py_GIL_DISABLED
    PyObject* nothing = nullptr;
    return object_.compare_exchange_strong(nothing, object, std::memory_order_acq_rel);
#else
    if (object_ != nullptr) return false;
    object_ = object;
    return true;
#endif
  }

  // A new object of Object<T>, in this memory where there is some.
  template <typename T, typename... Members>
  Ref make(Members&&... members) {
    PyObject* const spare = take();
    if (spare == nullptr) return make_object(T{std::forward<Members>(members)...});
    PyObject_Init(spare, type_of<T>);
    ::new (static_cast<void*>(&value_of<T>(spare))) T{std::forward<Members>(members)...};
    reinterpret_cast<Object<T>*>(spare)->weak_references = nullptr;
    return Ref::steal(spare);
  }

 private:
#ifdef Py_GIL_DISABLED
  PyObject* take() {
    return object_.exchange(nullptr, std::memory_order_acq_rel);
  }
  std::atomic<PyObject*> object_ = nullptr;
#else
  PyObject* take() {
    return std::exchange(object_, nullptr);
  }
  PyObject* object_ = nullptr;  // the interpreter's lock guards it
#endif
};

// Where the object holds what its type needs to know of: a member of PyMemberDef's.
inline PyMemberDef offset_member(const char* name, std::size_t offset) {
  return {name, T_PYSSIZET, static_cast<Py_ssize_t>(offset), READONLY, nullptr};
}

// Makes the type `baton._core.NAME` and adds it to the module. `slots` ends with {0, nullptr}. Only
// C++ makes objects of it, unless `slots` has Py_tp_new. `vectorcall` is the offset of the function
// that calls the object; 0: there is none. Objects may have weak references.
template <typename T>
void add_type(PyObject* module, const char* qualified_name, PyType_Slot* slots, bool constructs,
              unsigned flags = 0, std::size_t vectorcall = 0) {
  static PyMemberDef members[3];  // the type refers to them
  members[0] = offset_member("__weaklistoffset__", offsetof(Object<T>, weak_references));
  if (vectorcall != 0) {
    members[1] = offset_member("__vectorcalloffset__", vectorcall);
    flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  }
  std::vector<PyType_Slot> all = {{Py_tp_members, members}};
  for (; slots->slot != 0; ++slots) all.push_back(*slots);
  all.push_back({0, nullptr});
  PyType_Spec spec{};
  spec.name = qualified_name;
  spec.basicsize = static_cast<int>(sizeof(Object<T>));
  spec.flags = Py_TPFLAGS_DEFAULT | flags;
  if (!constructs) spec.flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
  spec.slots = all.data();
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
