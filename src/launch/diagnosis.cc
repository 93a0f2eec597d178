#include "launch/diagnosis.h"

#include "base/error.h"
#include "launch/attribute_table.h"
#include "launch/limits.h"
#include "runtime/release.h"

namespace baton::launch {
namespace {

// The driver's error as `check` words it, with its code and notes.
Error driver_error(const driver::Driver& driver, CUresult result) {
  try {
    driver::check(driver, result, "cuLaunchKernelEx");
  } catch (Error& failure) {
    return std::move(failure);
  }
  return error(ErrorCode::kInternal, "a launch that succeeded was diagnosed");
}

// Every number of an attribute's value: "cluster.x 2".
std::string describe(const LaunchAttribute& attribute) {
  const AttributeRow* row = find_row(attribute.id());
  if (row == nullptr) return attribute.name();
  std::vector<std::string> values;
  for (const AttributeField& field : row->fields) {
    const std::byte* place = attribute.value().data() + field.offset;
    std::string text;
    if (field.kind == FieldKind::kReal) {
      float value = 0;
      std::memcpy(&value, place, sizeof(value));
      text = fmt::format("{}", value);
    } else {
      std::uint64_t value = 0;
      std::memcpy(&value, place, field.size);
      text = field.kind == FieldKind::kHandle ? fmt::format("{:#x}", value)
             : field.kind == FieldKind::kSigned
                 ? fmt::format("{}", static_cast<std::int32_t>(value))
             : value < field.choices.size() ? std::string(field.choices[value])
                                            : fmt::format("{}", value);
    }
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
    return broken_residency(kernel, resolved, config);
  } catch (const Error&) {
    // The driver does not answer questions about this launch either: its own words must do.
    return std::nullopt;
  }
}

}  // namespace

Error diagnose(const KernelState& kernel, const ResolvedKernel& resolved,
               const LaunchConfig& config, CUresult result) {
  const driver::Driver& driver = resolved.device().driver();
  if (is_sticky(result)) {
    Error failure = driver_error(driver, result);
    failure.note("the failure is of work enqueued before; kernel " + kernel.facts().name +
                 " was not launched");
    return failure;
  }
  if (auto limit = broken(kernel, resolved, config)) {
    limit->of_driver(result);
    return std::move(*limit);
  }
  Error failure = driver_error(driver, result);
  if (config.attributes.has(AttributeId::kDeviceUpdatableNode) &&
      result == CUDA_ERROR_NOT_SUPPORTED) {
    failure.note("device_updatable_node is for launches into a stream that is being captured");
  }
  failure.note(describe(kernel, resolved, config));
  return failure;
}

}  // namespace baton::launch
