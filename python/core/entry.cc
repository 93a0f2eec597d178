// The entry of the extension, which is all that its file has in a wheel.

#include "core/extension_module.h"

PyMODINIT_FUNC PyInit__core() {
  PyObject* const module = baton::python::extension_module();
  if (module == nullptr && PyErr_Occurred() == nullptr) {
    PyErr_SetString(PyExc_ImportError,
                    "this process loaded Baton's libbaton.so before it had a Python interpreter, "
                    "so the library "
                    "cannot call Python; load libpython first, or link the program with it");
  }
  return module;
}
