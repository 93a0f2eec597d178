// A Python type for benchmarks without a GPU: CudaView(tensor) is a CPU tensor of torch that says
// that it is memory of the GPU 0. Its table of DLPack's exchange API calls torch's, and replaces
// the device: a caller pays what it pays for a tensor of a GPU.

#include "core/dlpack.h"
#include "core/python.h"

namespace {

using baton::python::DlExchangeApi;

struct CudaView {
  PyObject_HEAD PyObject* tensor;
};

const DlExchangeApi* inner = nullptr;
DlExchangeApi table;

int to_view(void* object, baton_tensor* out) {
  const int result = inner->to_view(reinterpret_cast<CudaView*>(object)->tensor, out);
  out->device = {baton::python::kDlCuda, 0};
  return result;
}

int current_stream(std::int32_t, std::int32_t, void** stream) {
  *stream = nullptr;
  return 0;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* tensor = nullptr;
  if (PyArg_ParseTuple(args, "O", &tensor) == 0) return nullptr;
  PyObject* const capsule = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(tensor)),
                                                   "__dlpack_c_exchange_api__");
  if (capsule == nullptr) return nullptr;
  inner = static_cast<const DlExchangeApi*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  Py_DECREF(capsule);
  if (inner == nullptr) return nullptr;
  table = *inner;
  table.to_view = to_view;
  table.current_stream = current_stream;
  auto* const view = reinterpret_cast<CudaView*>(PyType_GenericAlloc(type, 0));
  if (view == nullptr) return nullptr;
  view->tensor = Py_NewRef(tensor);
  return reinterpret_cast<PyObject*>(view);
}

void destroy(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  Py_XDECREF(reinterpret_cast<CudaView*>(object)->tensor);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                       {0, nullptr}};
PyType_Spec spec = {"cuda_view.CudaView", sizeof(CudaView), 0, Py_TPFLAGS_DEFAULT, slots};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "cuda_view", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_cuda_view() {
  PyObject* const module = PyModule_Create(&definition);
  PyObject* const type = PyType_FromSpec(&spec);
  if (module == nullptr || type == nullptr) return nullptr;
  PyObject* const capsule = PyCapsule_New(&table, "dlpack_exchange_api", nullptr);
  if (capsule == nullptr ||
      PyObject_SetAttrString(type, "__dlpack_c_exchange_api__", capsule) < 0 ||
      PyModule_AddObjectRef(module, "CudaView", type) < 0) {
    return nullptr;
  }
  return module;
}
