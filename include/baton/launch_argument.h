#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "baton/dtype.h"
#include "baton/expression.h"
#include "baton/tensor_map.h"

namespace baton {

// A place in a buffer: "W + layer*N*K". The buffer comes first; the offset counts elements.
struct BATON_API BufferOffset {
  std::string buffer;
  std::optional<Expression> offset;
  SourceLocation where;

  BufferOffset() = default;
  BufferOffset(std::string name, Expression elements)
      : buffer(std::move(name)), offset(std::move(elements)) {}
  BufferOffset(std::string_view text, SourceLocation place = {});  // NOLINT: implicit by design
  BufferOffset(const char* text) : BufferOffset(std::string_view(text)) {}         // NOLINT
  BufferOffset(const std::string& text) : BufferOffset(std::string_view(text)) {}  // NOLINT

  friend bool operator==(const BufferOffset& a, const BufferOffset& b) {
    return a.buffer == b.buffer && a.offset == b.offset;
  }
};

// An argument with an explicit type, for a type that the image does not give: { f16 = 1.0 }.
struct TypedValue {
  DType dtype = DType::kF32;
  std::variant<double, Expression, FloatExpression> value = 0.0;
  BATON_API friend bool operator==(const TypedValue& a, const TypedValue& b);
};

// A struct by value: { bytes = "00ff…" }.
struct RawBytes {
  std::string bytes;
  friend bool operator==(const RawBytes& a, const RawBytes& b) { return a.bytes == b.bytes; }
};

// A tensor map of a buffer of the program, by value: { tensor_map = { buffer = "x", box = [64, 64]
// } }. Lists have the innermost dimension last, as in TensorMapOptions.
struct TensorMapArgument {
  BufferOffset buffer = {};
  std::vector<Expression> shape = {};    // empty: the buffer's
  std::vector<Expression> strides = {};  // in elements; empty: contiguous
  std::vector<Expression> box = {};
  std::vector<Expression> element_strides = {};  // empty: all 1
  std::optional<TensorMapType> type = {};        // empty: the dtype's
  TensorMapInterleave interleave = TensorMapInterleave::kNone;
  TensorMapSwizzle swizzle = TensorMapSwizzle::kNone;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::kNone;
  TensorMapFill oob_fill = TensorMapFill::kZeros;
  BATON_API friend bool operator==(const TensorMapArgument& a, const TensorMapArgument& b);
};

// A part of a buffer, with bounds: { buffer = "W", offset = "l*N*K", count = "N*K" }. The kernel
// gets its address. The elements must lie in the buffer when the program is bound.
struct BufferView {
  BufferOffset place = {};
  std::optional<Expression> count = {};  // elements; empty: up to the buffer's end
  friend bool operator==(const BufferView& a, const BufferView& b) {
    return a.place == b.place && a.count == b.count;
  }
};

struct BATON_API LaunchArgument;

// A struct by value: { struct = ["x", { i32 = "N" }] }. Each field is a buffer, a typed value,
// bytes or a struct. Its offset is the one of C: the next multiple of its size.
struct StructArgument {
  std::vector<LaunchArgument> fields;
  BATON_API friend bool operator==(const StructArgument& a, const StructArgument& b);
};

// One argument of a launch. A text is a buffer, a buffer with an offset, or an integer expression.
// The program decides which when it knows its names, so a Program never contains a plain text here.
struct BATON_API LaunchArgument {
  std::variant<std::string, BufferOffset, Expression, double, TypedValue, RawBytes,
               TensorMapArgument, StructArgument, BufferView>
      value;
  SourceLocation where;

  LaunchArgument(std::string text, SourceLocation place = {})  // NOLINT: implicit by design
      : value(std::move(text)), where(std::move(place)) {}
  LaunchArgument(const char* text) : value(std::string(text)) {}     // NOLINT
  LaunchArgument(BufferOffset place) : value(std::move(place)) {}    // NOLINT
  LaunchArgument(Expression integer) : value(std::move(integer)) {}  // NOLINT
  LaunchArgument(double number) : value(number) {}                   // NOLINT
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  LaunchArgument(T integer) : value(Expression(integer)) {}            // NOLINT
  LaunchArgument(TypedValue typed) : value(std::move(typed)) {}        // NOLINT
  LaunchArgument(RawBytes bytes) : value(std::move(bytes)) {}          // NOLINT
  LaunchArgument(TensorMapArgument map) : value(std::move(map)) {}     // NOLINT
  LaunchArgument(BufferView view) : value(std::move(view)) {}          // NOLINT
  LaunchArgument(StructArgument fields) : value(std::move(fields)) {}  // NOLINT

  BATON_API friend bool operator==(const LaunchArgument& a, const LaunchArgument& b);
};

}  // namespace baton
