#include "core/allocator.h"

#include "base/error.h"
#include "core/device.h"
#include "core/object.h"

namespace baton::python {
namespace {

class PythonAllocator : public Allocator {
 public:
  explicit PythonAllocator(PyObject* object)
      : allocate_(method(object, "allocate")), free_(method(object, "free")) {}

  ~PythonAllocator() override {
    const WithGil held;
    allocate_ = {};
    free_ = {};
  }

  DeviceAddress allocate(const Device& device, std::size_t bytes) override {
    const WithGil held;
    const Ref on = make_object(device);
    const Ref result =
        Ref::checked(PyObject_CallFunction(allocate_.get(), "On", on.get(), as_size(bytes)));
    if (result.get() == Py_None) return 0;
    const unsigned long long address = PyLong_AsUnsignedLongLong(result.get());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw error(ErrorCode::kInvalidInput,
                  "the allocator's allocate(device, bytes) returned {}; it returns an address as "
                  "an int, or None",
                  text_of(Ref::checked(PyObject_Repr(result.get())).get()));
    }
    return address;
  }

  // An exception has no caller to go to. One that is on its way stays.
  void free(const Device& device, DeviceAddress address, std::size_t bytes) noexcept override {
    const WithGil held;
    PyObject* const pending = taken_exception();
    Ref result;
    try {
      const Ref on = make_object(device);
      result = Ref::steal(PyObject_CallFunction(
          free_.get(), "OKn", on.get(), static_cast<unsigned long long>(address), as_size(bytes)));
    } catch (const PythonError&) {
      // Its indicator is set.
    }
    if (!result) PyErr_WriteUnraisable(free_.get());
    if (pending != nullptr) restore_exception(pending);
  }

 private:
  static Ref method(PyObject* object, const char* name) {
    Ref found = Ref::steal(PyObject_GetAttrString(object, name));
    if (found && PyCallable_Check(found.get()) != 0) return found;
    PyErr_Clear();
    throw error(ErrorCode::kInvalidInput,
                "an allocator has the methods allocate(device, bytes) and free(device, address, "
                "bytes); {} has no method {}",
                with_article(type_name(object)), name);
  }
  static Py_ssize_t as_size(std::size_t bytes) { return static_cast<Py_ssize_t>(bytes); }

  Ref allocate_, free_;
};

}  // namespace

std::shared_ptr<Allocator> python_allocator(PyObject* object) {
  return std::make_shared<PythonAllocator>(object);
}

}  // namespace baton::python
