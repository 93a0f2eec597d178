#include "session/advice/launch_forecasts.h"

#include <cuda.h>

#include <algorithm>
#include <numeric>

#include "bind/passed_bytes.h"
#include "pdl/order/late_work.h"
#include "session/advice/edge_forecast.h"

namespace baton {
namespace {

// Nominal, of device memory: bytes in a microsecond. 0 where the device does not say.
double memory_rate(const Device& device) {
  constexpr double kTransfersInCycle = 2, kBitsInByte = 8, kMicrosecondsInMillisecond = 1000;
  const double cycles_in_millisecond = device.attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const double width = device.attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  return cycles_in_millisecond * kTransfersInCycle * width / kBitsInByte /
         kMicrosecondsInMillisecond;
}

// By buffer of the launch: whether it is a weight that is read after the wait alone.
std::vector<bool> late_weights(const bind::PlannedLaunch& launch, const bind::BufferTable& buffers,
                               const overlap::Footprint& footprint) {
  const std::vector<bool> late = overlap::params_read_late(footprint, launch.args.size());
  std::vector<bool> result;
  for (const std::uint32_t buffer : launch.buffers) {
    bool is_late = buffers[buffer].definition->role == BufferRole::kWeight;
    for (std::size_t i = 0; i < launch.args.size(); ++i) {
      const bool is_given = std::ranges::any_of(
          launch.args[i].parts(), [&](const auto& part) { return part.value.buffer() == buffer; });
      if (is_given) is_late &= late[i] && launch.args[i].single() != nullptr;
    }
    result.push_back(is_late);
  }
  return result;
}

}  // namespace

void add_forecasts(const Device& device, std::span<const bind::PlannedStep* const> steps,
                   std::span<const std::int64_t> slots, const bind::BufferTable& buffers,
                   load::Footprints& footprints, CheckReport& report) {
  const double rate = memory_rate(device);
  const auto cache =
      static_cast<std::uint64_t>(device.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  const auto time_of = [&](std::uint64_t bytes) {
    return rate > 0 ? static_cast<double>(bytes) / rate : 0;
  };
  std::vector<LaunchForecast> launches(report.launches.size());
  for (const LaunchReport& launch : report.launches) {
    if (!launch.config) continue;
    const bind::PlannedStep& step = *steps[launch.number];
    const auto& planned = std::get<bind::PlannedLaunch>(step.action);
    const overlap::Footprint& footprint = footprints.of(launch.kernel, launch.config->block);
    const std::vector<std::uint64_t> bytes = bind::passed_bytes(step, planned, slots, buffers);
    LaunchForecast& out = launches[launch.number];
    out.name = launch.kernel;
    out.executions = launch.executions - launch.skipped;
    out.bytes = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
    out.memory_time = time_of(out.bytes);
    out.tail = forecast_tail(out.memory_time, launch.config->grid.count(),
                             launch.limits->blocks_per_multiprocessor.value_or(0),
                             device.limits().multiprocessors);
    out.triggers_at_its_end = overlap::triggers_at_its_end(footprint);
    const std::vector<bool> late = late_weights(planned, buffers, footprint);
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      if (late[k]) out.late_weights += bytes[k];
    }
    out.late_weights_time = time_of(std::min(out.late_weights, cache));
  }
  for (EdgeReport& edge : report.edges) {
    const LaunchForecast &from = launches[edge.from], &to = launches[edge.to];
    if (from.executions != 0 && to.executions != 0) edge.advice = forecast(edge, from, to);
  }
}

}  // namespace baton
