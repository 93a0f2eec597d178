#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "launch/attribute_table.h"

namespace baton::metadata {

// One number of a launch by the name that metadata uses: the geometry, the stream, and a field of
// every attribute of the launch room's table.
struct Field {
  enum class Place : std::uint8_t { kGrid, kBlock, kShared, kStream, kAttribute };
  std::string_view name{};  // "cluster.x"; lives as long as the program
  Place place{};
  std::uint8_t axis = 0;                      // of kGrid and kBlock
  const launch::AttributeRow* row = nullptr;  // of kAttribute
  std::string_view leaf{};                    // the row's field: "x"
};

// The field, or null.
const Field* find_field(std::string_view name);
std::vector<std::string_view> field_names();

// What every launch of a function may have without an operand for it.
inline constexpr std::string_view kPdlFlag = "programmatic_stream_serialization";
inline constexpr std::string_view kCooperativeFlag = "cooperative";
// The block is the one that the kernel was compiled for.
inline constexpr std::string_view kRequiredBlockFlag = "required_block_size";
inline constexpr std::string_view kFlags[] = {kPdlFlag, kCooperativeFlag, kRequiredBlockFlag};

}  // namespace baton::metadata
