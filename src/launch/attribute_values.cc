#include "launch/attribute_values.h"

#include "base/error.h"
#include "launch/attribute_table.h"
#include "launch/limits.h"

namespace baton::launch {
namespace {

// In range for some device: what the function that makes the attribute would have said.
std::optional<Error> out_of_range(const KernelState& kernel, const AttributeRow& row,
                                  const LaunchAttribute& attribute) {
  try {
    AttributeBuilder again(row);
    for (const AttributeField& field : row.fields) {
      // A handle takes any bits but zeros.
      const FieldValue value = read_field(field, attribute);
      if (field.kind == FieldKind::kHandle && std::get<std::int64_t>(value) < 0) continue;
      again.set(field.name, value);
    }
  } catch (const Error& failure) {
    return error(failure.code(), "kernel {}: {}", kernel.facts().name, failure.message());
  }
  return std::nullopt;
}

std::string version(int number) {
  return fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10);
}

std::optional<Error> beyond_device(const KernelState& kernel, const Device& device,
                                   const AttributeRow& row, const LaunchAttribute& attribute) {
  for (const AttributeField& field : row.fields) {
    if (field.device_limit == 0) continue;
    const std::int64_t most = device.attribute(field.device_limit) - (field.below ? 1 : 0);
    const auto value = std::get<std::int64_t>(read_field(field, attribute));
    if (value <= most) continue;
    return limit_error(kernel, "{}.{} is {}, {} takes at most {}", row.name, field.name, value,
                       device.spec(), most);
  }
  return std::nullopt;
}

}  // namespace

Error driver_error(const KernelState& kernel, const Device& device, std::string_view what,
                   int driver) {
  return error(ErrorCode::kUnsupported,
               "kernel {}: {} needs a driver of {}, that of {} is of {}; leave it out or install a "
               "newer driver",
               kernel.facts().name, what, version(driver), device.spec(),
               version(device.driver_version()));
}

std::optional<Error> choice_without_driver(const KernelState& kernel, const Device& device,
                                           const AttributeRow& row,
                                           const LaunchAttribute& attribute) {
  for (const AttributeField& field : row.fields) {
    if (field.choice_drivers.empty()) continue;
    const auto choice =
        static_cast<std::size_t>(std::get<std::int64_t>(read_field(field, attribute)));
    if (choice >= field.choice_drivers.size()) continue;
    const int driver = field.choice_drivers[choice];
    if (driver <= device.driver_version()) continue;
    return driver_error(kernel, device, fmt::format("{} = {}", row.name, field.choices[choice]),
                        driver);
  }
  return std::nullopt;
}

std::optional<Error> broken_value(const KernelState& kernel, const ResolvedKernel& resolved,
                                  const LaunchConfig& config) {
  for (const LaunchAttribute& attribute : config.attributes.all()) {
    const AttributeRow* row = find_row(attribute.id());
    if (row == nullptr) continue;
    if (auto broken = out_of_range(kernel, *row, attribute)) return broken;
    if (auto broken = beyond_device(kernel, resolved.device(), *row, attribute)) return broken;
    if (auto broken = choice_without_driver(kernel, resolved.device(), *row, attribute)) {
      return broken;
    }
  }
  return std::nullopt;
}

}  // namespace baton::launch
