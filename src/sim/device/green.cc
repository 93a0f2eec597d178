#include "sim/device/green.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/api/refusal.h"
#include "sim/device/device.h"

namespace baton::sim {
namespace {

// The least part of an architecture, and what parts are multiples of (cuda.h, "Green Contexts").
struct Granularity {
  int architecture;  // the first one
  unsigned least, multiple;
};
constexpr Granularity kGranularities[] = {{90, 8, 8}, {80, 4, 2}, {0, 2, 2}};
constexpr Granularity kSingle = {0, 2, 2};

Granularity granularity_of(const SmResource& resource) {
  const int architecture = SimDevice::find(CUdevice{resource.ordinal})->profile().architecture();
  return *std::ranges::find_if(kGranularities, [architecture](const Granularity& each) {
    return architecture >= each.architecture;
  });
}

// The private bytes of a CUdevResource.
struct Private {
  std::uint64_t magic = 0;
  std::uint64_t split = 0;
  std::int64_t ordinal = 0;
  std::uint64_t sms[SmResource::kMostSms / 64] = {};
};
constexpr std::uint64_t kMagic = 0x6261746f6e20534d;
static_assert(sizeof(Private) <= sizeof(CUdevResource::_internal_padding));

// Runs of `size` SMs that can share a cluster.
std::vector<std::vector<std::uint32_t>> runs_of(const SmResource& input, unsigned size) {
  std::vector<std::vector<std::uint32_t>> runs;
  std::uint32_t first = 0;
  for (const int group : SimDevice::find(CUdevice{input.ordinal})->profile().sm_groups()) {
    const std::uint32_t end = first + static_cast<std::uint32_t>(group);
    std::vector<std::uint32_t> run;
    for (std::uint32_t sm = first; sm < end; ++sm) {
      if (!input.sms[sm]) continue;
      run.push_back(sm);
      if (run.size() == size) runs.push_back(std::exchange(run, {}));
    }
    first = end;
  }
  return runs;
}

}  // namespace

SmResource SmResource::of(const SimDevice& device) {
  SmResource all;
  all.ordinal = device.ordinal();
  const int count = device.profile().at(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  for (std::size_t sm = 0; sm < static_cast<std::size_t>(count); ++sm) all.sms.set(sm);
  return all;
}

SmResource SmResource::read(const CUdevResource& resource) {
  Private data;
  std::memcpy(&data, resource._internal_padding, sizeof data);
  require(resource.type == CU_DEV_RESOURCE_TYPE_SM && data.magic == kMagic,
          CUDA_ERROR_INVALID_RESOURCE_TYPE);
  SmResource result;
  result.ordinal = static_cast<int>(data.ordinal);
  require(SimDevice::find(CUdevice{result.ordinal}) != nullptr, CUDA_ERROR_INVALID_RESOURCE_TYPE);
  result.split = data.split;
  for (std::size_t sm = 0; sm < kMostSms; ++sm) {
    if ((data.sms[sm / 64] >> (sm % 64) & 1) != 0) result.sms.set(sm);
  }
  return result;
}

CUdevResource SmResource::written() const {
  CUdevResource result{};
  if (sms.none()) return result;
  Private data;
  data.magic = kMagic;
  data.split = split;
  data.ordinal = ordinal;
  for (std::size_t sm = 0; sm < kMostSms; ++sm) {
    if (sms[sm]) data.sms[sm / 64] |= std::uint64_t{1} << (sm % 64);
  }
  const Granularity granularity = granularity_of(*this);
  result.type = CU_DEV_RESOURCE_TYPE_SM;
  std::memcpy(result._internal_padding, &data, sizeof data);
  result.sm.smCount = static_cast<unsigned>(sms.count());
  result.sm.minSmPartitionSize = granularity.least;
  result.sm.smCoscheduledAlignment = granularity.multiple;
  return result;
}

SmSplit split_sms(const SmResource& input, std::size_t most, unsigned count, bool single) {
  static std::atomic<std::uint64_t> splits{0};
  require(input.split == 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  require(count <= input.sms.count(), CUDA_ERROR_INVALID_VALUE);
  const Granularity granularity = single ? kSingle : granularity_of(input);
  const unsigned multiple = granularity.multiple;
  const unsigned size = (std::max(count, granularity.least) + multiple - 1) / multiple * multiple;
  const auto runs = runs_of(input, multiple);
  const std::size_t each = size / multiple;
  SmSplit result;
  result.remaining = input;
  result.remaining.split = splits.fetch_add(1) + 1;
  SmResource empty = result.remaining;
  empty.sms.reset();
  for (std::size_t k = 0; k + each <= runs.size() && result.groups.size() < most; k += each) {
    SmResource& group = result.groups.emplace_back(empty);
    for (std::size_t run = k; run < k + each; ++run) {
      for (const std::uint32_t sm : runs[run]) group.sms.set(sm);
    }
    result.remaining.sms &= ~group.sms;
  }
  return result;
}

SmResource join_sms(const std::vector<SmResource>& parts) {
  SmResource joined = parts.front();
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const SmResource& part = parts[k];
    require(part.ordinal == joined.ordinal && part.split == joined.split && part.split != 0 &&
                (part.sms & joined.sms).none(),
            CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    joined.sms |= part.sms;
  }
  joined.split = 0;
  return joined;
}

GreenContext::GreenContext(SimDevice& device, const SmResource& resource)
    : device_(device), resource_(resource) {
  auto list = std::make_shared<std::vector<std::uint32_t>>();
  for (std::uint32_t sm = 0; sm < SmResource::kMostSms; ++sm) {
    if (resource.sms[sm]) list->push_back(sm);
  }
  sms_ = std::move(list);
  device_.retain();
}

void GreenContext::destroy() const {
  if (alive_.exchange(false)) device_.release();
}

}  // namespace baton::sim
