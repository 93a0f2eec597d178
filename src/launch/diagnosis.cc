#include "launch/diagnosis.h"

#include <fmt/format.h>

#include "base/error.h"
#include "baton/stream.h"
#include "launch/attribute_limits.h"
#include "launch/attribute_table.h"
#include "launch/attribute_values.h"
#include "launch/limits.h"
#include "launch/submit.h"
#include "runtime/context.h"
#include "runtime/release.h"

namespace baton::launch {
namespace {

// The driver's error as `check` words it, with its code and notes: what a simulator knows of it is
// asked of the current context.
Error driver_error(const Device& device, CUresult result) {
  try {
    const ContextGuard guard(device);
    driver::check(device.driver(), result, "cuLaunchKernelEx");
  } catch (Error& failure) {
    return std::move(failure);
  }
  return error(ErrorCode::kInternal, "a launch that succeeded was diagnosed");
}

// Whether the error is of work enqueued before, which every call on the context gives from then on.
bool left_behind(const Device& device, CUresult result) {
  if (is_sticky(result)) return true;
  if (result == CUDA_SUCCESS) return false;
  try {
    const ContextGuard guard(device);
    std::size_t free = 0, total = 0;
    return device.driver().cuMemGetInfo(&free, &total) == result;
  } catch (const Error& failure) {
    return failure.driver_result() == result;
  }
}

std::string to_text(const AttributeField& field, const LaunchAttribute& attribute) {
  const FieldValue value = read_field(field, attribute);
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr) return fmt::format("{}", std::get<double>(value));
  const auto number = static_cast<std::uint64_t>(*integer);
  if (field.kind == FieldKind::kHandle) return fmt::format("{:#x}", number);
  if (field.kind == FieldKind::kSigned) return fmt::format("{}", *integer);
  return number < field.choices.size() ? std::string(field.choices[number])
                                       : fmt::format("{}", number);
}

// Every number of an attribute's value: "cluster (x 2, y 1, z 1)".
std::string describe(const LaunchAttribute& attribute) {
  const AttributeRow* row = find_row(attribute.id());
  if (row == nullptr) return attribute.name();
  std::vector<std::string> values;
  for (const AttributeField& field : row->fields) {
    const std::string text = to_text(field, attribute);
    values.push_back(field.name.empty() ? text : fmt::format("{} {}", field.name, text));
  }
  return fmt::format("{} ({})", row->name, fmt::join(values, ", "));
}

std::string describe(const KernelState& kernel, const ResolvedKernel& resolved,
                     const LaunchConfig& config) {
  std::string text = fmt::format(
      "kernel {} on {} ({}): grid {}, block {}, {} bytes of dynamic and {} of static shared memory",
      kernel.facts().name, resolved.device().spec(), resolved.device().name(),
      to_string(config.grid), to_string(config.block), config.shared, resolved.static_shared());
  for (const LaunchAttribute& attribute : config.attributes.all()) {
    text += ", ";
    text += describe(attribute);
  }
  return text;
}

// Limits first that Baton checks itself, then those that only the driver can count.
std::optional<Error> broken(const KernelState& kernel, const ResolvedKernel& resolved,
                            const LaunchConfig& config) {
  try {
    if (auto limit = broken_limit(kernel, resolved, config)) return limit;
    if (auto value = broken_value(kernel, resolved, config)) return value;
    return broken_residency(kernel, resolved, config);
  } catch (const Error&) {
    // The driver does not answer questions about this launch either: its own words must do.
    return std::nullopt;
  }
}

// A refusal whose cause is the launch's stream: it is none, or one of another device.
std::optional<Error> broken_stream(const ResolvedKernel& resolved, const LaunchConfig& config,
                                   CUresult result) {
  if (result != CUDA_ERROR_INVALID_HANDLE && result != CUDA_ERROR_INVALID_CONTEXT) {
    return std::nullopt;
  }
  const Device& device = resolved.device();
  try {
    const Device own = Stream::adopt(device, config.stream.native).device();
    if (own == device) return std::nullopt;
    return error(ErrorCode::kInvalidInput, "the stream 0x{:x} is of {}, the launch is on {}",
                 reinterpret_cast<std::uintptr_t>(config.stream.native), own.spec(), device.spec());
  } catch (const Error& failure) {
    if (failure.code() == ErrorCode::kInvalidInput) return failure;
    return std::nullopt;
  }
}

// What may be behind a refusal that breaks no limit.
void note_suspects(const ResolvedKernel& resolved, const LaunchConfig& config, CUresult result,
                   Error& failure) {
  const Device& device = resolved.device();
  if (config.attributes.has(AttributeId::kDeviceUpdatableNode) &&
      result == CUDA_ERROR_NOT_SUPPORTED) {
    failure.note("device_updatable_node is for launches into a stream that is being captured");
  }
  for (const LaunchAttribute& attribute : config.attributes.all()) {
    if (find_row(attribute.id()) != nullptr) continue;
    failure.note(fmt::format("{} is not known to Baton: {}'s driver (CUDA {}.{}) may lack it",
                             attribute.name(), device.spec(), device.driver_version() / 1000,
                             device.driver_version() % 1000 / 10));
  }
  const auto cluster = compiled_cluster(resolved);
  if (cluster && !divides(resolved.compiled_cluster(), config.grid)) {
    failure.note(
        fmt::format("the kernel was compiled for clusters of {}, and the grid {} is not a "
                    "multiple of that",
                    to_string(*cluster), to_string(config.grid)));
  }
  constexpr auto kShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  const int shared = resolved.attribute(kShared);
  if (config.shared > static_cast<std::uint32_t>(shared)) {
    failure.note(fmt::format(
        "its function allows {} bytes of dynamic shared memory: other code lowered what Baton had "
        "raised; set the attribute {} of the function to {} again",
        shared, static_cast<int>(kShared), config.shared));
  }
}

}  // namespace

Error diagnose(const KernelState& kernel, const ResolvedKernel& resolved,
               const LaunchConfig& config, CUresult result) {
  const Device& device = resolved.device();
  if (left_behind(device, result)) {
    Error failure = driver_error(device, result);
    failure.note(not_launched(kernel.facts().name));
    return failure;
  }
  if (auto limit = broken(kernel, resolved, config)) {
    limit->of_driver(result);
    return std::move(*limit);
  }
  if (auto stream = broken_stream(resolved, config, result)) {
    stream->of_driver(result);
    stream->note(describe(kernel, resolved, config));
    return std::move(*stream);
  }
  Error failure = driver_error(device, result);
  try {
    note_suspects(resolved, config, result, failure);
  } catch (const Error&) {
    // The driver answers no questions: its own words must do.
  }
  failure.note(describe(kernel, resolved, config));
  return failure;
}

LaunchConfig config_of(const CUlaunchConfig& native, const ResolvedKernel& kernel) {
  LaunchConfig config;
  config.grid = Dim3(native.gridDimX, native.gridDimY, native.gridDimZ);
  if (kernel.grid_in_clusters()) {
    const auto& cluster = kernel.required_cluster();
    config.grid = Dim3(std::uint64_t{native.gridDimX} * cluster[0],
                       std::uint64_t{native.gridDimY} * cluster[1],
                       std::uint64_t{native.gridDimZ} * cluster[2]);
  }
  config.block = Dim3(native.blockDimX, native.blockDimY, native.blockDimZ);
  config.shared = native.sharedMemBytes;
  config.stream = LaunchConfig::StreamRef(native.hStream, kernel.device());
  for (unsigned i = 0; i < native.numAttrs && i < LaunchAttributes::kCapacity; ++i) {
    const CUlaunchAttribute& attribute = native.attrs[i];
    config.attributes.set(LaunchAttribute(static_cast<AttributeId>(attribute.id), attribute.value));
  }
  return config;
}

}  // namespace baton::launch
