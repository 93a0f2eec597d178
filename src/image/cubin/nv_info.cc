#include "image/cubin/nv_info.h"

#include <algorithm>

#include "image/container/bytes.h"
#include "image/cubin/nv_record.h"

namespace baton::image {
namespace {

// Codes: "EIATTR" names of public lists, confirmed on compiled kernels.
constexpr std::uint8_t kMaxThreads = 0x05;
constexpr std::uint8_t kRequiredThreads = 0x10;
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kMinStackSize = 0x12;
constexpr std::uint8_t kParam = 0x17;
constexpr std::uint8_t kParamsSize = 0x19;
constexpr std::uint8_t kMaxRegisters = 0x1b;
constexpr std::uint8_t kMaxStackSize = 0x23;  // 0x12 of files that are not linked
constexpr std::uint8_t kRegisters = 0x2f;
constexpr std::uint8_t kToolkit = 0x37;
constexpr std::uint8_t kCluster = 0x3d;
constexpr std::uint8_t kExplicitCluster = 0x3e;
constexpr std::uint8_t kMaxClusterRank = 0x3f;
constexpr std::uint8_t kParamV2 = 0x45;
constexpr std::uint8_t kSyscalls = 0x46;
constexpr std::uint8_t kBarriers = 0x4c;
constexpr std::uint8_t kBlocksAreClusters = 0x5b;

constexpr std::uint16_t kNoRegisterCap = 0xff;

std::optional<std::array<std::uint32_t, 3>> triple(std::string_view payload) {
  const auto x = load<std::uint32_t>(payload, 0);
  const auto y = load<std::uint32_t>(payload, 4);
  const auto z = load<std::uint32_t>(payload, 8);
  if (!x || !y || !z) return std::nullopt;
  return std::array<std::uint32_t, 3>{*x, *y, *z};
}

// u32 index, u16 ordinal, u16 offset, then: V1 u32 with the space in bits 8-11 and the size in bits
// 18-31; V2 u16 size and u16 with the space in bits 8-11.
std::optional<NvParam> read_param(const NvRecord& record) {
  constexpr std::size_t kSize = 12;
  if (record.payload.size() != kSize) return std::nullopt;
  NvParam param;
  param.ordinal = load_or_zero<std::uint16_t>(record.payload, 4);
  param.offset = load_or_zero<std::uint16_t>(record.payload, 6);
  if (record.code == kParam) {
    const auto packed = load_or_zero<std::uint32_t>(record.payload, 8);
    param.size = static_cast<std::uint16_t>(packed >> 18);
    param.pointee_space = packed >> 8 & 0xf;
  } else {
    param.size = load_or_zero<std::uint16_t>(record.payload, 8);
    param.pointee_space = load_or_zero<std::uint16_t>(record.payload, 10) >> 8 & 0xf;
  }
  return param;
}

}  // namespace

NvFunctionInfo read_function_info(std::string_view bytes) {
  NvFunctionInfo info;
  bool is_whole = true;
  const bool fits = for_each_record(bytes, [&](const NvRecord& record) {
    switch (record.code) {
      case kParam:
      case kParamV2:
        if (const auto param = read_param(record)) {
          info.params.push_back(*param);
        } else {
          is_whole = false;
        }
        break;
      case kParamsSize:
        info.params_size = record.value;
        break;
      case kMaxThreads:
        info.max_threads = triple(record.payload);
        break;
      case kRequiredThreads:
        info.required_threads = triple(record.payload);
        break;
      case kCluster:
        info.cluster = triple(record.payload);
        break;
      case kExplicitCluster:
        info.has_explicit_cluster = true;
        break;
      case kBlocksAreClusters:
        info.grid_in_clusters = true;
        break;
      case kMaxClusterRank:
        info.max_cluster_rank = load<std::uint32_t>(record.payload, 0);
        break;
      case kToolkit:
        info.toolkit = load<std::uint32_t>(record.payload, 0);
        break;
      case kBarriers:
        info.barriers = record.value;
        break;
      case kMaxRegisters:
        if (record.value != kNoRegisterCap) info.max_registers = record.value;
        break;
      case kSyscalls:
        for (std::size_t at = 0; at + 4 <= record.payload.size(); at += 4) {
          info.syscalls.push_back(load_or_zero<std::uint32_t>(record.payload, at));
        }
        break;
      default:
        break;
    }
  });
  info.is_whole = fits && is_whole;
  return info;
}

const NvSymbolInfo* NvFileInfo::find(std::uint32_t symbol) const {
  const auto found =
      std::lower_bound(symbols.begin(), symbols.end(), symbol,
                       [](const auto& entry, std::uint32_t key) { return entry.first < key; });
  return found != symbols.end() && found->first == symbol ? &found->second : nullptr;
}

NvFileInfo read_file_info(std::string_view bytes) {
  struct Row {
    std::uint32_t symbol;
    std::uint8_t code;
    std::uint32_t value;
  };
  std::vector<Row> rows;
  NvFileInfo info;
  info.is_whole = for_each_record(bytes, [&](const NvRecord& record) {
    const auto symbol = load<std::uint32_t>(record.payload, 0);
    const auto value = load<std::uint32_t>(record.payload, 4);
    if (symbol && value) rows.push_back({*symbol, record.code, *value});
  });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.symbol < b.symbol; });
  for (const Row& row : rows) {
    if (info.symbols.empty() || info.symbols.back().first != row.symbol) {
      info.symbols.emplace_back(row.symbol, NvSymbolInfo{});
    }
    NvSymbolInfo& symbol = info.symbols.back().second;
    if (row.code == kRegisters) symbol.registers = row.value;
    if (row.code == kFrameSize) symbol.frame = row.value;
    if (row.code == kMinStackSize || row.code == kMaxStackSize) symbol.min_stack = row.value;
  }
  return info;
}

}  // namespace baton::image
