#include "bind/passed_bytes.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace baton::bind {

std::vector<std::uint64_t> passed_bytes(const PlannedStep& step, const PlannedLaunch& launch,
                                        std::span<const std::int64_t> slots,
                                        const BufferTable& buffers) {
  std::vector<std::uint64_t> of_buffer(launch.buffers.size());
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> seen;
  const auto count = [&](const ArgumentPart& part) {
    if (!part.buffer()) return;
    const auto [first, last] = part.span(slots, index_slot(step), buffers);
    if (!seen.emplace(*part.buffer(), first, last).second) return;
    const auto found = std::find(launch.buffers.begin(), launch.buffers.end(), *part.buffer());
    std::uint64_t& sum = of_buffer[static_cast<std::size_t>(found - launch.buffers.begin())];
    sum = std::min(sum + last - first, buffers[*part.buffer()].bytes);
  };
  for (const PlannedArgument& arg : launch.args) {
    for (const PlannedArgument::Part& part : arg.parts()) count(part.value);
  }
  return of_buffer;
}

}  // namespace baton::bind
