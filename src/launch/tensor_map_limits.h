#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "baton/tensor_map.h"

namespace baton::launch {

inline constexpr std::size_t kMaxTensorMapRank = 5;

// The words of program files for the enumerations of baton/tensor_map.h, in their order.
std::span<const std::string_view> tensor_map_types();
std::span<const std::string_view> tensor_map_interleaves();
std::span<const std::string_view> tensor_map_swizzles();
std::span<const std::string_view> tensor_map_l2_promotions();
std::span<const std::string_view> tensor_map_fills();

// The strides of a tensor whose elements are dense; empty where their product leaves 64 bits.
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape);

// Holds options against the limits that the documentation of cuTensorMapEncodeTiled (CUDA 13.0)
// gives. Where the address is not known yet, it stands for what is known of its alignment. Throws
// kInvalidInput with both numbers, kUnsupported for what needs a newer device than
// `architecture`.
void check(const TensorMapOptions& options, int architecture);

// Whether, from where its map begins, the tensor lies in memory of so many elements. Of checked
// options. Throws kInvalidInput with both numbers.
void check_reach(const TensorMapOptions& options, std::int64_t elements);

}  // namespace baton::launch
