#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tvm_ffi/abi.h"

namespace baton::tvm_ffi {

// What an argument is, for messages: "a tensor", "an int".
std::string_view type_name(const Any& value);

// The text or the bytes of a value; nothing for a value of another type. Valid as long as the
// value.
std::optional<std::string_view> text_of(const Any& value);
std::optional<std::string_view> bytes_of(const Any& value);
// The tensor of a value; null for a value of another type. Valid as long as the value.
const baton_tensor* tensor_of(const Any& value);

// The same value for baton.h, which has the same layout for all that is not a counted object.
// Throws Failure for a value that no kernel takes; `what` is the argument: "argument 2".
baton_value value_of(const Any& value, std::string_view what);

// One to three extents of a launch: an int, or a tuple, list or shape of ints. Throws Failure.
std::array<std::uint32_t, 3> extents_of(const Any& value, std::string_view what);
// Throws Failure for a value that is not an int.
std::int64_t int_of(const Any& value, std::string_view what);

// "f32[4, 8]".
std::string describe(const baton_tensor& tensor);

}  // namespace baton::tvm_ffi
