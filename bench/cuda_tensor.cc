// Tensors of a GPU for benchmarks without one: cuda_tensor.make(tensor) is a tensor of torch over
// the memory of a CPU tensor, which says that it is memory of the GPU 0. torch would ask CUDA for
// its current stream: a copy of the table of its exchange API tells the default stream.

#include "core/dlpack.h"
#include "core/python.h"

namespace {

using baton::python::DlExchangeApi;
using baton::python::DlManagedTensorVersioned;

constexpr const char* kAttribute = "__dlpack_c_exchange_api__";
constexpr const char* kCapsule = "dlpack_exchange_api";

int current_stream(std::int32_t, std::int32_t, void** stream) {
  *stream = nullptr;
  return 0;
}

// Gives the tensors' type the copy, once.
const DlExchangeApi* replaced_table(PyObject* type) {
  static DlExchangeApi copy;
  PyObject* const capsule = PyObject_GetAttrString(type, kAttribute);
  const auto* const table =
      capsule == nullptr
          ? nullptr
          : static_cast<const DlExchangeApi*>(PyCapsule_GetPointer(capsule, kCapsule));
  Py_XDECREF(capsule);
  if (table == nullptr || table == &copy) return table;
  copy = *table;
  copy.current_stream = current_stream;
  PyObject* const own = PyCapsule_New(&copy, kCapsule, nullptr);
  const bool set = own != nullptr && PyObject_SetAttrString(type, kAttribute, own) == 0;
  Py_XDECREF(own);
  return set ? &copy : nullptr;
}

PyObject* make(PyObject*, PyObject* tensor) {
  const DlExchangeApi* const table = replaced_table(reinterpret_cast<PyObject*>(Py_TYPE(tensor)));
  DlManagedTensorVersioned* managed = nullptr;
  if (table == nullptr || table->to_managed(tensor, &managed) != 0) return nullptr;
  managed->tensor.device = {baton::python::kDlCuda, 0};
  void* made = nullptr;
  return table->from_managed(managed, &made) == 0 ? static_cast<PyObject*>(made) : nullptr;
}

PyMethodDef functions[] = {{"make", make, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "cuda_tensor",
                          nullptr,
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_cuda_tensor() {
  return PyModule_Create(&definition);
}
