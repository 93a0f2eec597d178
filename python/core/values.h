#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/check.h"
#include "baton/dim3.h"
#include "baton/dtype.h"
#include "baton/finding.h"
#include "baton/image.h"
#include "baton/races.h"
#include "core/python.h"

namespace baton::python {

// An attribute of a module of the package, such as a class of baton/_values.py. Imported once.
Ref package_attribute(const char* module, const char* name);

Ref call_python_tuple(const char* module, const char* name, const Ref& arguments);

// Calls a function or class of the package: call_python("_values", "Edge", …).
template <typename... Args>
Ref call_python(const char* module, const char* name, Args... args) {
  Ref tuple = Ref::checked(PyTuple_New(sizeof...(Args)));
  Py_ssize_t index = 0;
  (check(PyTuple_SetItem(tuple.get(), index++, args.release())), ...);
  return call_python_tuple(module, name, tuple);
}

// A tuple of what `convert` makes of each element.
template <typename Range, typename Convert>
Ref tuple_of(const Range& range, const Convert& convert) {
  Ref tuple = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(std::size(range))));
  Py_ssize_t index = 0;
  for (const auto& element : range) {
    check(PyTuple_SetItem(tuple.get(), index++, Ref(convert(element)).release()));
  }
  return tuple;
}

// None for nothing.
template <typename T>
Ref optional_of(const std::optional<T>& value) {
  return value ? to_python(*value) : none();
}
Ref extents_of(const std::optional<std::array<std::uint32_t, 3>>& extents);
Ref extents_of(const Dim3& extents);
Ref shape_tuple(const std::vector<std::int64_t>& shape);

Ref findings_of(const std::vector<FindingReport>& findings);
Ref parameter_of(const ParamFacts& param);
Ref advice_of(const std::vector<EdgeAdvice>& advice);
Ref check_report_of(const CheckReport& report);
Ref part_of(const SmPartReport& part);

// The races that a call asks for: nothing, a bool for those inside grids too, or a name that
// parse_races takes. Throws TypeError for another object.
Races races_argument(PyObject* object);

// The digits of an int. Python itself writes no int of thousands of digits.
std::string number_text(PyObject* number);

// The dtype that a str names, or that an object names by its `name` or str, such as NumPy's and
// torch's dtypes. Throws ArgumentError with the nearest name.
DType dtype_argument(PyObject* object);

// Whether the object is a plain int that 32 bits hold, which `number` receives. Never raises.
inline bool is_plain_int(PyObject* object, std::uint32_t& number) {
  if (!PyLong_CheckExact(object)) return false;
  int beyond = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &beyond);
  number = static_cast<std::uint32_t>(value);
  return beyond == 0 && value == static_cast<long long>(number);
}

// An int or a tuple of one to three ints. `what` is its name in messages.
Dim3 extents_in_full(PyObject* object, std::string_view what);
// The same; a plain int takes the short way.
inline Dim3 extents_argument(PyObject* object, std::string_view what) {
  std::uint32_t extent = 0;
  if (is_plain_int(object, extent)) [[likely]]
    return Dim3(extent);
  return extents_in_full(object, what);
}
// An int from 0 to `most`. Messages say that it takes those from `least` on; whoever uses the value
// refuses smaller ones.
std::uint64_t unsigned_argument(PyObject* object, std::string_view what, std::uint64_t most,
                                int least = 0);
// A tuple or list of ints from 0 on, or one int.
std::vector<std::int64_t> shape_argument(PyObject* object);
// Seconds from 0 on; nothing for None.
std::optional<double> seconds_argument(PyObject* object);

}  // namespace baton::python
