#include "core/values.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "core/errors.h"

namespace baton::python {
namespace {

// A dict that keeps what was imported, by "module.name"; it lives as long as the process.
PyObject* imported() {
  static PyObject* const cache = PyDict_New();
  return cache;
}

Ref where_of(const SourceLocation& where) {
  return to_python(where.to_string());
}

Ref config_of(const std::optional<LaunchConfig>& config) {
  if (!config) return none();
  Ref dict = Ref::checked(PyDict_New());
  const auto set = [&](const char* name, const Ref& value) {
    check(PyDict_SetItemString(dict.get(), name, value.get()));
  };
  set("grid", extents_of(config->grid));
  set("block", extents_of(config->block));
  set("shared", to_python(config->shared));
  const std::optional<Dim3> cluster = config->cluster();
  set("cluster", cluster ? extents_of(*cluster) : none());
  set("cooperative", to_python(config->cooperative()));
  return dict;
}

Ref edge_of(const EdgeReport& edge) {
  return call_python("_values", "Edge", to_python(edge.from), to_python(edge.to),
                     to_python(to_string(edge.verdict)), to_python(to_string(edge.cause)),
                     to_python(edge.reason), to_python(edge.programmatic),
                     to_python(to_string(edge.decision)), to_python(edge.decision_reason),
                     advice_of(edge.advice));
}

Ref launch_of(const LaunchReport& launch) {
  return call_python("_values", "CheckedLaunch", to_python(launch.number), to_python(launch.kernel),
                     where_of(launch.where), to_python(launch.executions),
                     to_python(launch.skipped), config_of(launch.config));
}

std::string_view kind_name(ParamKind kind) {
  switch (kind) {
    case ParamKind::kUnknown:
      return "unknown";
    case ParamKind::kPointer:
      return "pointer";
    case ParamKind::kScalar:
      return "scalar";
    case ParamKind::kInteger:
      return "integer";
    case ParamKind::kBytes:
      return "bytes";
  }
  return "unknown";
}

// "float32" of "torch.float32" and "<class 'numpy.float32'>": the last word of a dtype's name.
std::string_view last_word(std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  while (!name.empty() && !is_word(name.back())) name.remove_suffix(1);
  std::size_t start = name.size();
  while (start > 0 && is_word(name[start - 1])) --start;
  return name.substr(start);
}

// The names that NumPy, ml_dtypes and torch give the types.
struct ForeignName {
  std::string_view name;
  DType dtype;
};
constexpr ForeignName kForeignNames[] = {
    {"float16", DType::kF16},        {"half", DType::kF16},    {"bfloat16", DType::kBF16},
    {"float32", DType::kF32},        {"float64", DType::kF64}, {"float8_e4m3fn", DType::kF8E4M3},
    {"float8_e5m2", DType::kF8E5M2}, {"bool_", DType::kBool},  {"int8", DType::kI8},
    {"int16", DType::kI16},          {"int32", DType::kI32},   {"int64", DType::kI64},
    {"uint8", DType::kU8},           {"uint16", DType::kU16},  {"uint32", DType::kU32},
    {"uint64", DType::kU64},
};

std::optional<DType> foreign_dtype(std::string_view name) {
  for (const ForeignName& known : kForeignNames) {
    if (known.name == name) return known.dtype;
  }
  return std::nullopt;
}

// "f32" of "f4": NumPy's codes count bytes. Those that are names of Baton's, such as "i8", do not
// come here.
std::optional<std::string> numpy_code(std::string_view given) {
  if (!given.empty() && (given[0] == '<' || given[0] == '|' || given[0] == '='))
    given.remove_prefix(1);
  if (given.size() != 2 || given[1] < '1' || given[1] > '8') return std::nullopt;
  const std::string name = fmt::format("{}{}", given[0], 8 * (given[1] - '0'));
  if (!parse_dtype(name)) return std::nullopt;
  return name;
}

}  // namespace

Ref package_attribute(const char* module, const char* name) {
  const std::string key = std::string(module) + "." + name;
  if (PyObject* const found = PyDict_GetItemString(imported(), key.c_str())) {
    return Ref::borrow(found);
  }
  const std::string path = std::string("baton.") + module;
  const Ref from = Ref::checked(PyImport_ImportModule(path.c_str()));
  Ref attribute = Ref::checked(PyObject_GetAttrString(from.get(), name));
  check(PyDict_SetItemString(imported(), key.c_str(), attribute.get()));
  return attribute;
}

Ref call_python_tuple(const char* module, const char* name, const Ref& arguments) {
  return Ref::checked(PyObject_CallObject(package_attribute(module, name).get(), arguments.get()));
}

Ref extents_of(const Dim3& extents) {
  return tuple_of(std::array{extents.x, extents.y, extents.z},
                  [](std::uint32_t extent) { return to_python(extent); });
}

Ref extents_of(const std::optional<std::array<std::uint32_t, 3>>& extents) {
  return extents ? extents_of(Dim3((*extents)[0], (*extents)[1], (*extents)[2])) : none();
}

Ref shape_tuple(const std::vector<std::int64_t>& shape) {
  return tuple_of(shape, [](std::int64_t extent) { return to_python(extent); });
}

Ref findings_of(const std::vector<FindingReport>& findings) {
  Ref list = Ref::checked(PyList_New(0));
  for (const FindingReport& finding : findings) {
    const auto position = [](const std::array<std::uint32_t, 3>& at) {
      return extents_of(std::optional(at));
    };
    const Ref made =
        call_python("_values", "Finding", to_python(finding.kind), to_python(finding.kernel),
                    position(finding.block), position(finding.thread), to_python(finding.where),
                    to_python(finding.message), to_python(finding.count), to_python(finding.error),
                    to_python(finding.launch));
    check(PyList_Append(list.get(), made.get()));
  }
  return list;
}

Ref parameter_of(const ParamFacts& param) {
  const auto dtype =
      param.dtype ? std::optional(std::string(to_string(*param.dtype))) : std::nullopt;
  return call_python("_values", "Parameter", to_python(param.offset), to_python(param.size),
                     to_python(kind_name(param.kind)), optional_of(dtype), to_python(param.type),
                     to_python(param.read_only), to_python(param.name));
}

Ref parallel_of(const ParallelReport& parallel) {
  return call_python(
      "_values", "Parallel", where_of(parallel.where), to_python(parallel.branches),
      to_python(to_string(parallel.verdict)),
      tuple_of(parallel.conflicts, [](const std::string& text) { return to_python(text); }));
}

Ref part_of(const SmPartReport& part) {
  return call_python(
      "_values", "SmPart", to_python(part.asked), to_python(part.given),
      tuple_of(part.launches, [](std::uint32_t number) { return to_python(number); }));
}

Ref advice_of(const std::vector<EdgeAdvice>& advice) {
  return tuple_of(advice, [](const EdgeAdvice& each) {
    return call_python("_values", "EdgeAdvice", to_python(each.text), to_python(each.seconds));
  });
}

Ref check_report_of(const CheckReport& report) {
  return call_python(
      "_values", "CheckReport", to_python(report.steps), tuple_of(report.launches, launch_of),
      tuple_of(report.edges, edge_of), tuple_of(report.parallels, parallel_of),
      tuple_of(report.warnings, [](const std::string& text) { return to_python(text); }),
      report.objection ? to_python(std::string_view(report.objection->what())) : none(),
      tuple_of(report.parts, part_of));
}

Races races_argument(PyObject* object) {
  if (object == nullptr || object == Py_None || object == Py_False) return Races::kUsual;
  if (object == Py_True) return Races::kGlobal;
  if (PyUnicode_Check(object)) return parse_races(text_of(object));
  throw_argument_error(
      fmt::format("races is of the type {}; it takes a bool, or one of the names usual, global and "
                  "model",
                  type_name(object)));
}

std::string number_text(PyObject* number) {
  const Ref text = Ref::steal(PyObject_Str(number));
  if (text) return std::string(text_of(text.get()));
  if (PyErr_ExceptionMatches(PyExc_ValueError) == 0) throw PythonError{};
  PyErr_Clear();
  return "a number of thousands of digits";
}

DType dtype_argument(PyObject* object) {
  const Ref text = PyUnicode_Check(object) ? Ref::borrow(object) : [&] {
    const Ref name = Ref::steal(PyObject_GetAttrString(object, "name"));
    if (name && PyUnicode_Check(name.get())) return name;
    PyErr_Clear();
    return Ref::checked(PyObject_Str(object));
  }();
  const std::string_view given = text_of(text.get());
  if (const auto dtype = parse_dtype(given)) return *dtype;
  if (const auto dtype = foreign_dtype(last_word(given))) return *dtype;
  throw error(ErrorCode::kInvalidInput, "there is no dtype \"{}\"{}", printable(given),
              numpy_code(given) ? fmt::format("; did you mean \"{}\"?", *numpy_code(given))
                                : suggestion(given, dtype_names()));
}

std::uint64_t unsigned_argument(PyObject* object, std::string_view what, std::uint64_t most,
                                int least) {
  const Ref number = Ref::steal(PyNumber_Index(object));
  if (!number) {
    PyErr_Clear();
    throw error(ErrorCode::kInvalidInput, "{} is {}, it takes an int", what,
                with_article(type_name(object)));
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow != 0 || value < 0 || static_cast<std::uint64_t>(value) > most) {
    throw error(ErrorCode::kLimit, "{} is {}, it takes {} to {}", what, number_text(number.get()),
                least, most);
  }
  return static_cast<std::uint64_t>(value);
}

Dim3 extents_in_full(PyObject* object, std::string_view what) {
  // A name with the axis costs an allocation, so only an error has it.
  const auto extent = [&](PyObject* given, Py_ssize_t axis) {
    if (std::uint32_t plain = 0; is_plain_int(given, plain)) return plain;
    try {
      return static_cast<std::uint32_t>(unsigned_argument(given, "", UINT32_MAX, 1));
    } catch (const Error& failure) {
      throw error(failure.code(), "{} along {}{}", what, "xyz"[axis], failure.message());
    }
  };
  if (!PyTuple_Check(object) && !PyList_Check(object)) return Dim3(extent(object, 0));
  const Py_ssize_t size = PySequence_Size(object);
  if (size < 1 || size > 3) {
    throw error(ErrorCode::kInvalidInput, "{} has {} extents, it takes 1 to 3", what, size);
  }
  std::uint32_t extents[3] = {1, 1, 1};
  for (Py_ssize_t i = 0; i < size; ++i) {
    const Ref item = Ref::checked(PySequence_GetItem(object, i));
    extents[i] = extent(item.get(), i);
  }
  return Dim3(extents[0], extents[1], extents[2]);
}

std::vector<std::int64_t> shape_argument(PyObject* object) {
  const auto extent = [](PyObject* given) {
    return static_cast<std::int64_t>(unsigned_argument(given, "an extent of the shape", INT64_MAX));
  };
  if (!PyTuple_Check(object) && !PyList_Check(object)) return {extent(object)};
  std::vector<std::int64_t> shape;
  const Py_ssize_t size = PySequence_Size(object);
  for (Py_ssize_t i = 0; i < size; ++i) {
    const Ref item = Ref::checked(PySequence_GetItem(object, i));
    shape.push_back(extent(item.get()));
  }
  return shape;
}

std::optional<double> seconds_argument(PyObject* object) {
  if (object == nullptr || object == Py_None) return std::nullopt;
  const double seconds = PyFloat_AsDouble(object);
  if (seconds == -1 && PyErr_Occurred() != nullptr) {
    const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
    if (!too_large && PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError{};
    PyErr_Clear();
    throw_argument_error(
        too_large ? "the timeout is more seconds than a float holds; pass None for no limit"
                  : fmt::format("the timeout is {}, it takes seconds from 0 on",
                                with_article(type_name(object))));
  }
  // Written so that NaN is refused.
  if (!(seconds >= 0)) {
    throw error(ErrorCode::kInvalidInput, "the timeout is {}, it takes seconds from 0 on", seconds);
  }
  return seconds;
}

}  // namespace baton::python
