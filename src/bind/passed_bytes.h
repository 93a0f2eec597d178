#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bind/plan.h"

namespace baton::bind {

// An estimate of the bytes that a launch reads and writes of each of its buffers: what it is passed
// of them, each byte once. In the order of PlannedLaunch::buffers.
std::vector<std::uint64_t> passed_bytes(const PlannedStep& step, const PlannedLaunch& launch,
                                        std::span<const std::int64_t> slots,
                                        const BufferTable& buffers);

}  // namespace baton::bind
