#include "sim/device/kernel_attributes.h"

#include <algorithm>

#include "sim/api/refusal.h"
#include "sim/device/occupancy.h"

namespace baton::sim {
namespace {

using Setter = void (*)(const KernelView& view, int value, KernelSettings& settings);

// The number in "sm_90a".
int target_architecture(const ptx::ParsedModule& ptx) {
  int number = 0;
  for (char c : ptx.target()) {
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  }
  return number;
}

template <int kAxis>
int get_cluster(const KernelView& view) {
  const std::uint32_t required = view.kernel.required_cluster[kAxis];
  return required != 0 ? static_cast<int>(required) : view.settings.cluster[kAxis];
}

template <int kAxis>
void set_cluster(const KernelView& view, int value, KernelSettings& settings) {
  require(view.kernel.required_cluster[0] == 0, CUDA_ERROR_NOT_PERMITTED);
  require(value >= 0, CUDA_ERROR_INVALID_VALUE);
  settings.cluster[kAxis] = value;
}

struct KernelAttributeRow {
  CUfunction_attribute attribute;
  int (*get)(const KernelView& view);
  Setter set;  // null where it cannot be set
};

// The ranges of values are those that an H200 takes (driver 580.159).
constexpr KernelAttributeRow kAttributeRows[] = {
    {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
     [](const KernelView& view) { return static_cast<int>(max_threads(view)); }, nullptr},
    {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
     [](const KernelView& view) { return static_cast<int>(view.kernel.static_shared); }, nullptr},
    {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
     [](const KernelView& view) { return static_cast<int>(view.kernel.constant_bytes); }, nullptr},
    {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
     [](const KernelView& view) { return static_cast<int>(view.kernel.local_bytes); }, nullptr},
    {CU_FUNC_ATTRIBUTE_NUM_REGS,
     [](const KernelView& view) { return static_cast<int>(registers(view)); }, nullptr},
    {CU_FUNC_ATTRIBUTE_PTX_VERSION,
     [](const KernelView& view) { return target_architecture(view.ptx); }, nullptr},
    {CU_FUNC_ATTRIBUTE_BINARY_VERSION,
     [](const KernelView& view) { return view.profile.architecture(); }, nullptr},
    {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, [](const KernelView&) { return 0; }, nullptr},
    {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, max_dynamic_shared,
     [](const KernelView& view, int value, KernelSettings& settings) {
       const int most = view.profile.at(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
                        static_cast<int>(view.kernel.static_shared);
       require(value >= 0 && value <= most, CUDA_ERROR_INVALID_VALUE);
       settings.max_dynamic_shared = value;
     }},
    {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
     [](const KernelView& view) { return view.settings.carveout; },
     [](const KernelView&, int value, KernelSettings& settings) {
       require(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE);
       settings.carveout = value;
     }},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
     [](const KernelView& view) { return view.kernel.explicit_cluster ? 1 : 0; }, nullptr},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, get_cluster<0>, set_cluster<0>},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, get_cluster<1>, set_cluster<1>},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, get_cluster<2>, set_cluster<2>},
    {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
     [](const KernelView& view) { return view.settings.non_portable_cluster; },
     [](const KernelView&, int value, KernelSettings& settings) {
       settings.non_portable_cluster = value != 0 ? 1 : 0;
     }},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
     [](const KernelView& view) { return view.settings.cluster_policy; },
     [](const KernelView&, int value, KernelSettings& settings) {
       require(value >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT &&
                   value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING,
               CUDA_ERROR_INVALID_VALUE);
       settings.cluster_policy = value;
     }},
};

const KernelAttributeRow& row_of(CUfunction_attribute attribute) {
  for (const KernelAttributeRow& row : kAttributeRows) {
    if (row.attribute == attribute) return row;
  }
  throw Refusal(CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

std::uint32_t registers(const KernelView& view) {
  return view.settings.registers != 0 ? view.settings.registers : view.kernel.registers;
}

std::uint32_t max_threads(const KernelView& view) {
  const auto most =
      static_cast<std::uint32_t>(view.profile.at(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  return std::min(
      {most, view.kernel.max_threads, threads_by_registers(view.profile, registers(view))});
}

int max_dynamic_shared(const KernelView& view) {
  if (view.settings.max_dynamic_shared >= 0) return view.settings.max_dynamic_shared;
  return std::max(0, view.profile.at(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) -
                         static_cast<int>(view.kernel.static_shared));
}

int get_attribute(const KernelView& view, CUfunction_attribute attribute) {
  return row_of(attribute).get(view);
}

KernelSettings set_attribute(const KernelView& view, CUfunction_attribute attribute, int value) {
  const KernelAttributeRow& row = row_of(attribute);
  require(row.set != nullptr, CUDA_ERROR_INVALID_VALUE);
  KernelSettings settings = view.settings;
  row.set(view, value, settings);
  return settings;
}

}  // namespace baton::sim
