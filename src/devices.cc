// The composition file: the one place that knows which fillers of the driver table there are.

#include <charconv>

#include "driver/cuda.h"
#include "runtime/provider.h"
#include "sim/api/driver.h"

namespace baton {
namespace {

std::optional<int> cuda_ordinal(std::string_view name) {
  if (name.empty()) return 0;
  int ordinal = 0;
  const char* const end = name.data() + name.size();
  const auto [stopped, error] = std::from_chars(name.data(), end, ordinal);
  if (error != std::errc() || stopped != end || ordinal < 0) return std::nullopt;
  return ordinal;
}

const driver::Driver* simulated(std::string* /*why: it is always there*/) {
  return &sim::simulated_driver();
}

std::optional<int> simulated_ordinal(std::string_view name) {
  return name.empty() ? 0 : sim::simulated_ordinal(name);
}

std::string simulated_spec(int ordinal) {
  return "sim:" + sim::simulated_name(ordinal);
}

std::vector<std::string> simulated_specs() {
  std::vector<std::string> specs = {"sim"};
  for (std::string_view profile : sim::simulated_profiles()) {
    specs.push_back("sim:" + std::string(profile));
  }
  return specs;
}

constexpr DriverProvider kProviders[] = {
    {
        .kind = "cuda",
        .driver = driver::load_cuda,
        .ordinal = cuda_ordinal,
        .spec = [](int ordinal) { return "cuda:" + std::to_string(ordinal); },
        .specs =
            [] {
              return std::vector<std::string>{"cuda", "cuda:N"};
            },
    },
    {
        .kind = "sim",
        .driver = simulated,
        .ordinal = simulated_ordinal,
        .spec = simulated_spec,
        .specs = simulated_specs,
    },
};

}  // namespace

std::span<const DriverProvider> driver_providers() {
  return kProviders;
}

}  // namespace baton
