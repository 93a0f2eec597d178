#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bind/plan.h"

namespace baton::bind {

// Estimates how many bytes of each buffer a launch reads and writes. It counts each byte that the
// launch is passed once. The result has the order of PlannedLaunch::buffers.
std::vector<std::uint64_t> passed_bytes(const PlannedStep& step, const PlannedLaunch& launch,
                                        std::span<const std::int64_t> slots,
                                        const BufferTable& buffers);

}  // namespace baton::bind
