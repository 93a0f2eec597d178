#include "core/program.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/array/array.h"
#include "base/error.h"
#include "base/overloaded.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "core/bindings.h"
#include "core/device.h"
#include "core/executable.h"
#include "core/given.h"
#include "core/kernel.h"
#include "core/module.h"
#include "core/values.h"
#include "tune/record_text.h"

namespace baton::python {
namespace {

// baton._core.Program: a program's text, or a bundle.
struct ProgramValue {
  std::optional<Bundle> bundle;
  std::optional<Program> text;

  const Program& program() const { return bundle ? bundle->program() : *text; }
};

Ref buffer_of(const ProgramBuffer& buffer) {
  return call_python(
      "_values", "ProgramBuffer", to_python(buffer.name), to_python(to_string(buffer.dtype)),
      tuple_of(buffer.shape, [](const Expression& e) { return to_python(e.text()); }),
      to_python(to_string(buffer.role)), to_python(to_string(buffer.init)));
}

// How to open a bundle: what keys to trust, as paths, and the name of a Verify.
BundleChecks checks_argument(PyObject* keys, PyObject* verify) {
  static constexpr std::array<std::pair<const char*, Verify>, 3> kLevels = {
      {{"index", Verify::kIndex}, {"all", Verify::kAll}, {"once", Verify::kOnce}}};
  BundleChecks checks;
  if (verify != nullptr) {
    const std::string_view name = text_argument(verify, "verify");
    const auto* found = std::find_if(kLevels.begin(), kLevels.end(),
                                     [&](const auto& level) { return level.first == name; });
    if (found == kLevels.end()) {
      throw error(ErrorCode::kInvalidInput, "verify is \"{}\", it takes index, all or once",
                  printable(name));
    }
    checks.verify = found->second;
  }
  if (keys != nullptr) {
    checks.keys.emplace();
    const Ref sequence = Ref::checked(PySequence_Tuple(keys));
    for (Py_ssize_t i = 0; i < PyTuple_Size(sequence.get()); ++i) {
      checks.keys->push_back(
          PublicKey::from_file(path_argument(PyTuple_GetItem(sequence.get(), i))));
    }
  }
  return checks;
}

PyObject* program_from_file(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 3> kNames = {"path", "keys", "verify"};
    const Given given("from_file", kNames, 1, 1, args, nargs, names);
    const std::filesystem::path file = path_argument(given[0]);
    const BundleChecks checks = checks_argument(given.set(1), given.set(2));
    ProgramValue value;
    if (Bundle::is_bundle(file)) {
      value.bundle = Bundle::open(file, checks);
      value.bundle->program();
    } else if (checks.keys) {
      throw error(
          ErrorCode::kInvalidInput,
          "{} is not a bundle and has no signature, and keys are given; name a bundle, or leave "
          "the keys out",
          file.string());
    } else {
      value.text = Program::from_file(file);
    }
    return make_object(std::move(value));
  });
}

// from_bundle(bytes, name, keys, verify): a bundle in memory.
PyObject* program_from_bundle(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 4> kNames = {"bytes", "name", "keys", "verify"};
    const Given given("from_bundle", kNames, 2, 2, args, nargs, names);
    const BundleChecks checks = checks_argument(given.set(2), given.set(3));
    ProgramValue value;
    value.bundle = Bundle::from_bytes(std::string(bytes_argument(given[0])),
                                      std::string(given.text(1)), checks);
    value.bundle->program();
    return make_object(std::move(value));
  });
}

PyObject* program_from_text(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 3> kNames = {"text", "name", "directory"};
    const Given given("from_text", kNames, 1, 1, args, nargs, names);
    ProgramValue value;
    value.text = Program::from_text(
        given.text(0), std::string(given.set(1) == nullptr ? "<text>" : given.text(1)),
        given.set(2) == nullptr ? std::string() : path_argument(given[2]));
    return make_object(std::move(value));
  });
}

// A choice of a table, by its name.
template <typename T, std::size_t kCount>
T choice(PyObject* given, const T (&known)[kCount], T otherwise, const char* what) {
  if (given == nullptr) return otherwise;
  const std::string_view name = text_argument(given, what);
  std::vector<std::string_view> names;
  for (const T one : known) {
    if (to_string(one) == name) return one;
    names.push_back(to_string(one));
  }
  throw error(ErrorCode::kInvalidInput, "{} is \"{}\"{}", what, printable(name),
              suggestion(name, names));
}

// The arguments of a call that begin with "device", "pdl", "rewrite", "cache".
template <std::size_t kCount>
LoadOptions load_options(const Given<kCount>& given) {
  static constexpr PdlMode kModes[] = {PdlMode::kAuto, PdlMode::kOn, PdlMode::kOff};
  static constexpr RewriteMode kRewrites[] = {RewriteMode::kOff,  RewriteMode::kAuto,
                                              RewriteMode::kWait, RewriteMode::kLoads,
                                              RewriteMode::kExit, RewriteMode::kTop};
  LoadOptions options;
  options.pdl = choice(given.set(1), kModes, PdlMode::kAuto, "pdl");
  options.rewrite = choice(given.set(2), kRewrites, RewriteMode::kOff, "rewrite");
  options.use_cache = given.truth(3, true);
  return options;
}

// load(device, pdl, rewrite, cache, tuned, instrument): `tuned` is what find_tuned returned.
PyObject* program_load(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 6> kNames = {"device", "pdl",   "rewrite",
                                                          "cache",  "tuned", "instrument"};
    const Given given("load", kNames, 1, 0, args, nargs, names);
    const Device device = device_argument(given.set(0));
    LoadOptions options = load_options(given);
    options.instrument = given.truth(5, false);
    const ProgramValue& value = value_of<ProgramValue>(self);
    TuneChoices choices;
    if (given.set(4) != nullptr) {
      choices = tuning::read_record(given.text(4), "tuned").variant.choices;
    }
    std::optional<LoadedProgram> loaded;
    {
      const WithoutGil released;
      loaded = value.bundle
                   ? LoadedProgram::load(*value.bundle, device, choices, options)
                   : LoadedProgram::load(with_choices(*value.text, choices), device, options);
    }
    return make_object(std::move(*loaded));
  });
}

// find_tuned(device, pdl, rewrite, cache, symbols, collectives): (record, executor) of an accepted
// record that holds for these values, as texts; else None.
PyObject* program_find_tuned(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* names) {
  return guarded([&]() -> Ref {
    static constexpr std::array<const char*, 6> kNames = {"device", "pdl",     "rewrite",
                                                          "cache",  "symbols", "collectives"};
    const Given given("find_tuned", kNames, 1, 0, args, nargs, names);
    const Device device = device_argument(given.set(0));
    const LoadOptions options = load_options(given);
    const ProgramValue& value = value_of<ProgramValue>(self);
    Bindings taken;
    taken.symbols = symbols_argument(given.set(4));
    if (given.set(5) != nullptr) taken.collectives = collectives_argument(given.text(5));
    std::optional<TuneRecord> record;
    {
      const WithoutGil released;
      record = value.bundle ? find_tuned(*value.bundle, device, taken, options)
                            : find_tuned(*value.text, device, taken, options);
    }
    if (!record || !record->accepted) return none();
    const std::string texts[] = {
        to_text(*record), record->variant.executor == ExecutorKind::kGraph ? "graph" : "stream"};
    return tuple_of(texts, [](const std::string& text) { return to_python(text); });
  });
}

PyObject* program_write_bundle(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 6> kNames = {"path",    "archs", "sources",
                                                          "weights", "cache", "key"};
    const Given given("write_bundle", kNames, 2, 1, args, nargs, names);
    BundleOptions options;
    options.architectures = texts_argument(given.set(1), "archs");
    options.sources = given.truth(2, true);
    options.weights = given.truth(3, false);
    options.use_cache = given.truth(4, true);
    if (given.set(5) != nullptr) options.key = SigningKey::from_file(path_argument(given.set(5)));
    const std::filesystem::path path = path_argument(given[0]);
    const Program program = value_of<ProgramValue>(self).program();
    std::vector<std::string> remarks;
    {
      const WithoutGil released;
      remarks = write_bundle(program, path, options);
    }
    return tuple_of(remarks, [](const std::string& remark) { return to_python(remark); });
  });
}

// Whether the steps test values in device memory, which only a graph does without the host.
bool has_tests(const std::vector<ProgramStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const ProgramStep& step) {
    return std::visit(Overloaded{
                          [](const LaunchStep&) { return false; },
                          [](const CopyStep&) { return false; },
                          [](const FillStep&) { return false; },
                          [](const CollectiveStep&) { return false; },
                          [](const RepeatStep& group) { return has_tests(group.steps); },
                          [](const IfStep&) { return true; },
                          [](const WhileStep&) { return true; },
                          [](const ParallelStep& group) {
                            return std::any_of(group.branches.begin(), group.branches.end(),
                                               has_tests);
                          },
                      },
                      step.action);
  });
}

template <auto kRead>
PyObject* of_program(PyObject* self, void*) {
  return guarded([&] { return kRead(value_of<ProgramValue>(self).program()); });
}

PyMethodDef program_methods[] = {
    {"from_file", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(program_from_file)),
     METH_FASTCALL | METH_KEYWORDS | METH_STATIC, nullptr},
    {"from_bundle", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(program_from_bundle)),
     METH_FASTCALL | METH_KEYWORDS | METH_STATIC, nullptr},
    {"from_text", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(program_from_text)),
     METH_FASTCALL | METH_KEYWORDS | METH_STATIC, nullptr},
    {"load", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(program_load)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"find_tuned", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(program_find_tuned)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"write_bundle", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(program_write_bundle)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef program_properties[] = {
    {"name", of_program<[](const Program& program) { return to_python(program.name()); }>, nullptr,
     nullptr, nullptr},
    {"text", of_program<[](const Program& program) { return to_python(program.text()); }>, nullptr,
     nullptr, nullptr},
    {"symbols", of_program<[](const Program& program) {
       Ref dict = Ref::checked(PyDict_New());
       for (const ProgramSymbol& symbol : program.symbols()) {
         check(PyDict_SetItem(dict.get(), to_python(symbol.name).get(),
                              to_python(symbol.value).get()));
       }
       return dict;
     }>,
     nullptr, nullptr, nullptr},
    {"buffers",
     of_program<[](const Program& program) { return tuple_of(program.buffers(), buffer_of); }>,
     nullptr, nullptr, nullptr},
    {"kernels", of_program<[](const Program& program) {
       return tuple_of(program.kernels(),
                       [](const ProgramKernel& kernel) { return to_python(kernel.name); });
     }>,
     nullptr, nullptr, nullptr},
    {"warnings", of_program<[](const Program& program) {
       return tuple_of(program.warnings(), [](const std::string& text) { return to_python(text); });
     }>,
     nullptr, nullptr, nullptr},
    {"has_tests",
     of_program<[](const Program& program) { return to_python(has_tests(program.steps())); }>,
     nullptr, nullptr, nullptr},
    {"architectures",
     get_property<ProgramValue,
                  [](const ProgramValue& value) {
                    return value.bundle
                               ? tuple_of(value.bundle->architectures(),
                                          [](const std::string& arch) { return to_python(arch); })
                               : none();
                  }>,
     nullptr, nullptr, nullptr},
    {"signed_by",
     get_property<ProgramValue,
                  [](const ProgramValue& value) {
                    const auto signer = value.bundle ? value.bundle->signed_by() : std::nullopt;
                    return signer ? to_python(signer->id()) : none();
                  }>,
     nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* loaded_check(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded(
      [&] {
        static constexpr std::array<const char*, 1> kNames = {"symbols"};
        const Given given("check", kNames, 1, 0, args, nargs, names);
        const LoadedProgram& loaded = value_of<LoadedProgram>(self);
        Bindings bindings;
        bindings.symbols = symbols_argument(given.set(0));
        std::optional<CheckReport> report;
        {
          const WithoutGil released;
          report = loaded.check(std::move(bindings));
        }
        return check_report_of(*report);
      },
      Subject::kArguments);
}

// The kernel with the program's own name for it.
PyObject* loaded_kernel(PyObject* self, PyObject* name) {
  return guarded([&]() -> Ref {
    const LoadedProgram& loaded = value_of<LoadedProgram>(self);
    const std::string_view wanted = text_argument(name, "the name of a kernel");
    for (const KernelModule& module : loaded.modules()) {
      for (const auto& [known, facts] : module.kernels) {
        if (known == wanted) return make_kernel(loaded.module(known).kernel(facts.name), nullptr);
      }
    }
    std::vector<std::string_view> names;
    for (const ProgramKernel& kernel : loaded.program().kernels()) names.push_back(kernel.name);
    throw error(ErrorCode::kNotFound, "the program {} has no kernel \"{}\"{}",
                loaded.program().name(), printable(wanted), suggestion(wanted, names));
  });
}

PyObject* loaded_instance(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* names) {
  return guarded([&] {
    static constexpr std::array<const char*, 1> kNames = {"executor"};
    const Given given("instance", kNames, 1, 0, args, nargs, names);
    return make_executable(
        value_of<LoadedProgram>(self),
        given.set(0) == nullptr ? "stream" : text_argument(given[0], "executor"));
  });
}

PyMethodDef loaded_methods[] = {
    {"check", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(loaded_check)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"kernel", loaded_kernel, METH_O, nullptr},
    {"instance", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(loaded_instance)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef loaded_properties[] = {
    {"device",
     get_property<LoadedProgram,
                  [](const LoadedProgram& loaded) { return make_object(loaded.device()); }>,
     nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void add_program_types(PyObject* module) {
  static PyType_Slot program_slots[] = {slot(Py_tp_dealloc, destroy_object<ProgramValue>),
                                        {Py_tp_methods, program_methods},
                                        {Py_tp_getset, program_properties},
                                        {0, nullptr}};
  add_type<ProgramValue>(module, "baton._core.Program", program_slots, false);
  static PyType_Slot loaded_slots[] = {slot(Py_tp_dealloc, destroy_object<LoadedProgram>),
                                       {Py_tp_methods, loaded_methods},
                                       {Py_tp_getset, loaded_properties},
                                       {0, nullptr}};
  add_type<LoadedProgram>(module, "baton._core.LoadedProgram", loaded_slots, false);
}

}  // namespace baton::python
