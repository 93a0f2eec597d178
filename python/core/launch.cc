#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "core/device.h"
#include "core/given.h"
#include "core/kernel.h"
#include "core/observer.h"
#include "core/values.h"
#include "core/wait.h"
#include "launch/attribute_table.h"

namespace baton::python {
namespace {

// Vector loads take at most 16 bytes: host arrays keep their place relative to that.
constexpr std::uint64_t kAlignment = 16;

// Host arrays that overlap, as one allocation of the simulated GPU.
struct HostGroup {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  bool written = false;
  std::string name;
  std::optional<Memory> memory;

  std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
  std::size_t lead() const { return reinterpret_cast<std::uintptr_t>(begin) % kAlignment; }
};

std::vector<HostGroup> group(std::vector<HostArgument>& hosts) {
  std::sort(hosts.begin(), hosts.end(),
            [](const HostArgument& a, const HostArgument& b) { return a.data < b.data; });
  std::vector<HostGroup> groups;
  for (const HostArgument& host : hosts) {
    std::byte* const end = host.data + host.bytes;
    if (groups.empty() || host.data >= groups.back().end) {
      groups.push_back({host.data, end, host.written, fmt::format("argument {}", host.index), {}});
      continue;
    }
    HostGroup& last = groups.back();
    last.end = std::max(last.end, end);
    last.written |= host.written;
    last.name += fmt::format(" and {}", host.index);
  }
  return groups;
}

void launch_checked(const Kernel& kernel, const LaunchConfig& config, void* const* pointers) {
  const NativeResult result = kernel.launch_raw(config, pointers);
  if (result != 0) [[unlikely]]
    throw kernel.diagnose(config, result);
}

// The way of most launches on a GPU: few arguments, all of them common. Returns false for others,
// before anything was launched.
[[gnu::hot]] bool launch_common(const KernelValue& kernel, LaunchConfig& config,
                                PyObject* const* values, std::size_t count, PyObject* stream) {
  constexpr std::size_t kFew = 32;
  if (kernel.simulated || count > kFew || count != kernel.common.size()) return false;
  // Not initialised: only as many as there are arguments are used.
  std::uint64_t slots[kFew];
  void* pointers[kFew];
  CommonArguments arguments(kernel.ordinal);
  const CommonParameter* const parameters = kernel.common.data();
  for (std::size_t i = 0; i < count; ++i) {
    if (!arguments.pack(parameters[i], values[i], slots[i])) return false;
    pointers[i] = &slots[i];
  }
  const Device& device = kernel.kernel.device();
  config.stream = LaunchConfig::StreamRef(arguments.stream().choose(stream, device), device);
  if (is_observed()) [[unlikely]]
    observe_launch(kernel, config, values, count);
  launch_checked(kernel.kernel, config, pointers);
  return true;
}

void launch_on_hosts(const KernelValue& kernel, const LaunchConfig& config, PackedValues& values,
                     CallState& state) {
  const Stream stream = adopted(config.stream.native, state.device);
  // A copy of host memory waits for the work before it: in the driver, deaf to Ctrl-C. Another
  // thread may enqueue work after this wait, so copies go without the interpreter's lock.
  wait_for(stream);
  std::vector<HostGroup> groups = group(state.hosts);
  for (HostGroup& one : groups) {
    one.memory.emplace(state.device, one.lead() + one.bytes());
    one.memory->set_name(one.name);
    const WithoutGil released;
    one.memory->upload(one.begin, one.bytes(), one.lead(), stream);
  }
  for (const HostArgument& host : state.hosts) {
    const auto owner = std::find_if(groups.begin(), groups.end(), [&](const HostGroup& one) {
      return one.begin <= host.data && host.data < one.end;
    });
    values.set(host.index, owner->memory->address() + owner->lead() +
                               static_cast<std::uint64_t>(host.data - owner->begin));
  }
  launch_checked(kernel.kernel, config, values.pointers());
  // The wait for the kernel comes first: it is the one that tells what failed.
  wait_for(stream);
  for (const HostGroup& one : groups) {
    if (!one.written) continue;
    const WithoutGil released;
    one.memory->download(one.begin, one.bytes(), one.lead(), stream);
  }
  wait_for(stream);
}

std::string types_of(const KernelValue& kernel) {
  std::vector<std::string> types;
  for (const Parameter& parameter : kernel.parameters) types.push_back(printable(parameter.type));
  return types.empty() ? "none" : fmt::format("{}", fmt::join(types, ", "));
}

launch::FieldValue field_value(PyObject* value, std::string_view name) {
  if (PyFloat_Check(value)) return PyFloat_AsDouble(value);
  if (PyUnicode_Check(value)) return text_of(value);
  if (PyIndex_Check(value) != 0 || PyBool_Check(value)) {
    const Ref index = Ref::checked(PyNumber_Index(value));
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
    if (overflow != 0) {
      throw error(ErrorCode::kInvalidInput,
                  "the launch attribute {} is {}, which 64 bits do not hold", name,
                  number_text(index.get()));
    }
    return std::int64_t{number};
  }
  throw error(ErrorCode::kInvalidInput,
              "the launch attribute {} is {}; it takes an int, a float, a str, or a tuple or "
              "dict of its fields",
              name, with_article(type_name(value)));
}

// An attribute by its name: a value, a tuple of its fields in order, or a dict of them.
LaunchAttribute named_attribute(std::string_view name, PyObject* value) {
  const launch::AttributeRow* const row = launch::find_row(name);
  if (row == nullptr) {
    std::vector<std::string_view> names = {"grid", "block", "shared", "stream"};
    for (const launch::AttributeRow& known : launch::attribute_rows()) names.push_back(known.name);
    throw error(ErrorCode::kInvalidInput, "there is no launch attribute \"{}\"{}", printable(name),
                suggestion(name, names));
  }
  if (!row->refusal.empty()) {
    throw error(ErrorCode::kInvalidInput, "{} cannot be given to a launch: {}", row->name,
                row->refusal);
  }
  launch::AttributeBuilder builder(*row);
  if (PyDict_Check(value)) {
    const ObjectLock lock(value);  // no one may change it while its fields are read
    PyObject *field = nullptr, *given = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(value, &position, &field, &given) != 0) {
      builder.set(text_argument(field, "the name of a field"), field_value(given, name));
    }
  } else if (PyTuple_Check(value)) {
    const auto count = static_cast<std::size_t>(PyTuple_Size(value));
    if (count > row->fields.size()) {
      throw error(ErrorCode::kInvalidInput, "{} has {} fields, {} were given", row->name,
                  row->fields.size(), count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      builder.set(row->fields[i].name,
                  field_value(PyTuple_GetItem(value, static_cast<Py_ssize_t>(i)), name));
    }
  } else {
    builder.set(row->fields[0].name, field_value(value, name));
  }
  return builder.build();
}

bool truth(PyObject* value) {
  const int result = PyObject_IsTrue(value);
  check(result);
  return result == 1;
}

// "force"; every other text is a mistake, not a truth.
bool is_force(PyObject* value) {
  if (!PyUnicode_Check(value)) return false;
  if (text_of(value) == "force") return true;
  throw error(ErrorCode::kInvalidInput, "pdl={} is neither a bool nor \"force\"",
              printable(text_of(value)));
}

// The keywords of a launch, interned: a call's own keywords are, so that the addresses are equal.
enum class Keyword : std::uint8_t { kGrid, kBlock, kStream, kShared, kCluster, kCooperative, kPdl };
constexpr std::pair<const char*, Keyword> kKeywords[] = {
    {"grid", Keyword::kGrid},       {"block", Keyword::kBlock},
    {"stream", Keyword::kStream},   {"shared", Keyword::kShared},
    {"cluster", Keyword::kCluster}, {"cooperative", Keyword::kCooperative},
    {"pdl", Keyword::kPdl}};

std::optional<Keyword> find_keyword(PyObject* name) {
  static const auto interned = [] {
    std::array<PyObject*, std::size(kKeywords)> names{};
    for (std::size_t i = 0; i < names.size(); ++i) {
      names[i] = PyUnicode_InternFromString(kKeywords[i].first);
    }
    return names;
  }();
  for (std::size_t i = 0; i < interned.size(); ++i) {
    if (name == interned[i]) return kKeywords[i].second;
  }
  const std::string_view text = text_of(name);
  for (const auto& [known, keyword] : kKeywords) {
    if (text == known) return keyword;
  }
  return std::nullopt;
}

}  // namespace

std::uint32_t shared_argument(PyObject* value) {
  return static_cast<std::uint32_t>(
      unsigned_argument(value, "the dynamic shared memory in bytes", UINT32_MAX));
}

void LaunchKeywords::grid(PyObject* value) {
  config_.grid = extents_argument(value, "the grid");
  has_grid_ = true;
}

void LaunchKeywords::block(PyObject* value) {
  config_.block = extents_argument(value, "the block");
  has_block_ = true;
}

void LaunchKeywords::take(PyObject* name, PyObject* value) {
  const std::optional<Keyword> keyword = find_keyword(name);
  if (!keyword) {
    const std::string_view text = text_of(name);
    config_.attributes.set(named_attribute(text, value));
    return;
  }
  switch (*keyword) {
    case Keyword::kGrid:
      return grid(value);
    case Keyword::kBlock:
      if (value != Py_None) block(value);
      return;
    case Keyword::kStream:
      stream_ = value;
      return;
    case Keyword::kShared:
      config_.shared = shared_argument(value);
      return;
    case Keyword::kCluster:
      if (value != Py_None) {
        config_.attributes.set(cluster(extents_argument(value, "the cluster")));
      }
      return;
    case Keyword::kCooperative:
      config_.attributes.set(cooperative(truth(value)));
      return;
    case Keyword::kPdl:
      config_.force_pdl = is_force(value);
      config_.attributes.set(pdl(config_.force_pdl || truth(value)));
      return;
  }
}

LaunchConfig& LaunchKeywords::config() {
  LaunchConfig& config = config_;
  const KernelFacts& facts = kernel_.facts();
  if (!has_grid_) {
    throw error(ErrorCode::kInvalidInput,
                "kernel {}: a launch needs grid=", printable(facts.demangled));
  }
  if (!has_block_) {
    if (!facts.required_block) {
      throw error(ErrorCode::kInvalidInput,
                  "kernel {}: a launch needs block=; the image does not fix it",
                  printable(facts.demangled));
    }
    const auto& required = *facts.required_block;
    config.block = Dim3(required[0], required[1], required[2]);
  }
  if (config.pdl() && !config.force_pdl && facts.waits == false) {
    throw error(ErrorCode::kInvalidInput,
                "kernel {}: pdl=True is for kernels that wait (griddepcontrol.wait), and this one "
                "never does; a launch that starts early would race. Leave it out, or give "
                "pdl=\"force\" if it needs nothing of the launch before it",
                printable(facts.demangled));
  }
  return config;
}

void require_count(const KernelValue& kernel, std::size_t count) {
  const std::size_t wanted = kernel.parameters.size();
  if (count == wanted) [[likely]]
    return;
  throw error(ErrorCode::kInvalidInput, "kernel {} takes {} argument{} ({}), {} {} given",
              printable(kernel.kernel.facts().demangled), wanted, wanted == 1 ? "" : "s",
              types_of(kernel), count, count == 1 ? "was" : "were");
}

PackedValues::PackedValues(const KernelValue& kernel, PyObject* const* values, std::size_t count,
                           CallState& state) {
  require_count(kernel, count);
  if (count > kFew) {
    more_slots_.resize(count);
    more_pointers_.resize(count);
    slots_ = more_slots_.data();
    pointers_ = more_pointers_.data();
  }
  for (std::size_t i = 0; i < count; ++i) {
    try {
      pointers_[i] = pack_argument(kernel.parameters[i], values[i], i, slots_[i], state);
    } catch (const Error& failure) {
      throw argument_error(kernel.kernel, kernel.parameters[i], i, failure);
    }
  }
}

// Every other launch. A function of its own, so that the common one has a small frame.
[[gnu::noinline]] void launch_in_full(const KernelValue& kernel, LaunchConfig& config,
                                      PyObject* const* values, std::size_t count,
                                      PyObject* stream) {
  CallState state(kernel);
  PackedValues packed(kernel, values, count, state);
  config.stream = LaunchConfig::StreamRef(state.stream.choose(stream, state.device), state.device);
  if (is_observed()) [[unlikely]]
    observe_launch(kernel, config, values, count);
  if (!state.hosts.empty()) return launch_on_hosts(kernel, config, packed, state);
  launch_checked(kernel.kernel, config, packed.pointers());
}

[[gnu::hot]] void launch(const KernelValue& kernel, LaunchConfig& config, PyObject* const* values,
                         std::size_t count, PyObject* stream) {
  if (launch_common(kernel, config, values, count, stream)) [[likely]]
    return;
  launch_in_full(kernel, config, values, count, stream);
}

}  // namespace baton::python
