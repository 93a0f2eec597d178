#include "tvm_ffi/values.h"

#include <fmt/ranges.h>

#include <limits>
#include <vector>

#include "tvm_ffi/failure.h"

namespace baton::tvm_ffi {
namespace {

constexpr std::size_t kMostExtents = 3;

// The ints of a sequence; nothing for a value that is none, or has other elements.
std::optional<std::vector<std::int64_t>> ints_of(const Any& value) {
  if (value.type == kInt) return std::vector<std::int64_t>{value.integer};
  if (value.type == kShape) {
    const auto& shape = cell_of<ShapeCell>(value.object);
    return std::vector<std::int64_t>(shape.data, shape.data + shape.size);
  }
  if (value.type != kArray && value.type != kList) return std::nullopt;
  const auto& array = cell_of<ArrayCell>(value.object);
  std::vector<std::int64_t> ints;
  for (std::int64_t i = 0; i < array.size; ++i) {
    if (array.data[i].type != kInt) return std::nullopt;
    ints.push_back(array.data[i].integer);
  }
  return ints;
}

}  // namespace

std::string_view type_name(const Any& value) {
  switch (value.type) {
    case kNone:
      return "None";
    case kInt:
      return "an int";
    case kBool:
      return "a bool";
    case kFloat:
      return "a float";
    case kOpaquePointer:
      return "an address";
    case kTensorPointer:
    case kTensor:
      return "a tensor";
    case kRawText:
    case kSmallText:
    case kText:
      return "a text";
    case kByteArrayPointer:
    case kSmallBytes:
    case kBytes:
      return "bytes";
    case kShape:
    case kArray:
    case kList:
      return "a sequence";
    default:
      return "an object of another type";
  }
}

std::optional<std::string_view> text_of(const Any& value) {
  switch (value.type) {
    case kRawText:
      return value.raw_text;
    case kSmallText:
      return std::string_view(value.small, value.small_size);
    case kText: {
      const auto& text = cell_of<ByteArray>(value.object);
      return std::string_view(text.data, text.size);
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::string_view> bytes_of(const Any& value) {
  switch (value.type) {
    case kByteArrayPointer:
      return std::string_view(value.byte_array->data, value.byte_array->size);
    case kSmallBytes:
      return std::string_view(value.small, value.small_size);
    case kBytes: {
      const auto& bytes = cell_of<ByteArray>(value.object);
      return std::string_view(bytes.data, bytes.size);
    }
    default:
      return std::nullopt;
  }
}

const baton_tensor* tensor_of(const Any& value) {
  if (value.type == kTensorPointer) return static_cast<const baton_tensor*>(value.pointer);
  if (value.type == kTensor) return &cell_of<baton_tensor>(value.object);
  return nullptr;
}

baton_value value_of(const Any& value, std::string_view what) {
  if (const baton_tensor* const tensor = tensor_of(value)) return baton_value_tensor(tensor);
  switch (value.type) {
    case kNone:
      return baton_value_none();
    case kInt:
      return baton_value_int(value.integer);
    case kBool:
      return baton_value_bool(value.integer != 0);
    case kFloat:
      return baton_value_float(value.real);
    case kOpaquePointer:
      return baton_value_pointer(value.pointer);
    case kByteArrayPointer:
      return baton_value_bytes(reinterpret_cast<const baton_bytes*>(value.byte_array));
    case kBytes:
      return baton_value_bytes(
          reinterpret_cast<const baton_bytes*>(&cell_of<ByteArray>(value.object)));
    default:
      fail("TypeError",
           "{} is {}; a kernel takes tensors, ints, floats, bools, addresses, bytes and None", what,
           type_name(value));
  }
}

std::array<std::uint32_t, 3> extents_of(const Any& value, std::string_view what) {
  const auto ints = ints_of(value);
  if (!ints || ints->empty() || ints->size() > kMostExtents) {
    fail("TypeError", "{} is {}; it takes an int, or one to three of them", what,
         ints ? fmt::format("a sequence of {}", ints->size()) : std::string(type_name(value)));
  }
  std::array<std::uint32_t, 3> extents{1, 1, 1};
  for (std::size_t i = 0; i < ints->size(); ++i) {
    const std::int64_t extent = (*ints)[i];
    if (extent < 1 || extent > std::numeric_limits<std::uint32_t>::max()) {
      fail("ValueError", "{} has the extent {}; extents are from 1 to {}", what, extent,
           std::numeric_limits<std::uint32_t>::max());
    }
    extents[i] = static_cast<std::uint32_t>(extent);
  }
  return extents;
}

std::int64_t int_of(const Any& value, std::string_view what) {
  if (value.type == kInt) return value.integer;
  fail("TypeError", "{} is {}; it takes an int", what, type_name(value));
}

std::string describe(const baton_tensor& tensor) {
  const char* const dtype = baton_dtype_name(tensor.dtype);
  return fmt::format("{}[{}]", dtype == nullptr ? "unknown elements" : dtype,
                     fmt::join(tensor.shape, tensor.shape + tensor.ndim, ", "));
}

}  // namespace baton::tvm_ffi
