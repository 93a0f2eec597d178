#pragma once

#include "core/python.h"

namespace baton::python {

// Adds Program, LoadedProgram, Executable and Bundle.
void add_program_types(PyObject* module);
void add_executable_type(PyObject* module);

}  // namespace baton::python
