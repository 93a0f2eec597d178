#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace baton::image {

// One kernel parameter: codes 0x17 and 0x45.
struct NvParam {
  std::uint16_t ordinal = 0;
  std::uint16_t offset = 0;
  std::uint16_t size = 0;
  std::uint8_t pointee_space = 0;  // 0: no pointer, or not known
};

// What .nv.info.K says about the kernel K.
struct NvFunctionInfo {
  std::vector<NvParam> params;  // as met
  std::optional<std::uint16_t> params_size;
  std::optional<std::array<std::uint32_t, 3>> max_threads;
  std::optional<std::array<std::uint32_t, 3>> required_threads;
  std::optional<std::array<std::uint32_t, 3>> cluster;
  bool has_explicit_cluster = false;
  bool grid_in_clusters = false;
  std::optional<std::uint32_t> max_cluster_rank;
  std::optional<std::uint16_t> barriers;
  std::optional<std::uint32_t> toolkit;  // 130: CUDA 13.0
  std::optional<std::uint16_t> max_registers;
  std::vector<std::uint32_t> syscalls;  // slots that call the driver's own helpers
  bool is_whole = true;                 // every record was read
};
NvFunctionInfo read_function_info(std::string_view bytes);

// What .nv.info says about all functions, by symbol index.
struct NvSymbolInfo {
  std::optional<std::uint32_t> registers;
  std::optional<std::uint32_t> frame;      // bytes of its own
  std::optional<std::uint32_t> min_stack;  // with callees; 0 for recursion
};
struct NvFileInfo {
  std::vector<std::pair<std::uint32_t, NvSymbolInfo>> symbols;  // sorted by index
  bool is_whole = true;

  const NvSymbolInfo* find(std::uint32_t symbol) const;
};
NvFileInfo read_file_info(std::string_view bytes);

}  // namespace baton::image
