#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/bundle.h"
#include "baton/loaded_program.h"
#include "baton/module.h"
#include "core/kernel.h"
#include "core/object.h"

namespace baton::python {

// baton.Module.
struct ModuleValue {
  Module module;
  std::string log;      // the compiler's warnings
  KernelImages images;  // the images that it was loaded from
};

Ref make_module(Module module, KernelImages images, std::string log = {});

KernelImages images_of(std::vector<Image> images);
KernelImages images_of(const Compiled& compiled);

// Adds the types and the functions `compile` and `load_image`.
void add_module_type(PyObject* module);

// The texts of a list or tuple of str and path-like objects, or of one str; empty for null.
std::vector<std::string> texts_argument(PyObject* object, const char* what);
// The path that a str or path-like object names.
std::string path_argument(PyObject* object);
// The bytes of a bytes object, which live as long as it does.
std::string_view bytes_argument(PyObject* object);

}  // namespace baton::python
