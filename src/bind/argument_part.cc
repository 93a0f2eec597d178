#include "bind/argument_part.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/array/float_convert.h"
#include "base/error.h"
#include "base/overloaded.h"
#include "chip/chip.h"
#include "image/names/param_types.h"
#include "launch/tensor_map_limits.h"
#include "program/scalar.h"

namespace baton::bind {
namespace {

// Of a CUtensorMap parameter: CUDA 12 declares 64, and 13 more.
constexpr std::uint32_t kTensorMapAlignment = 64;
// Machine code aligns parameters in the constant bank, so that on 9.0 an aligned one lies 48 bytes
// after a multiple of 64 in the parameter block. PTX counts from the block's start.
bool may_hold_tensor_map(std::uint32_t offset, const Device& device) {
  const std::uint32_t base = chip::nearest(device.architecture()).param_base;
  return offset % kTensorMapAlignment == 0 || (base + offset) % kTensorMapAlignment == 0;
}

// Sizes that a number can have without its type being known.
bool is_integer_size(std::uint32_t size) {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

}  // namespace

template <typename... Args>
void ArgumentPart::fail(fmt::format_string<Args...> format, Args&&... args) const {
  throw error_at(*where_, ErrorCode::kInvalidInput, "{} {} (the parameter is {})", place_.text(),
                 fmt::format(format, std::forward<Args>(args)...),
                 image::declaration_text(param_, place_.parameter_name()));
}

ArgumentPart::ArgumentPart(const LaunchArgument& argument, const ParamFacts& param,
                           ValuePlace place, const Device& device, const NameSlots& names,
                           const BufferTable& buffers)
    : place_(std::move(place)),
      where_(&argument.where),
      param_(param),
      size_(param.size),
      dtype_(param.kind == ParamKind::kScalar ? param.dtype : std::nullopt) {
  std::visit(Overloaded{[&](const BufferOffset& start) { plan_buffer(start, names, buffers); },
                        [&](const BufferView& view) {
                          plan_buffer(view.place, names, buffers);
                          is_view_ = true;
                          if (view.count) count_ = BoundExpression(view.count->code(), names);
                        },
                        [&](const Expression& integer) { plan_integer(integer, names); },
                        [&](double real) { plan_real(real); },
                        [&](const TypedValue& typed) { plan_typed(typed, names); },
                        [&](const TensorMapArgument& map) {
                          plan_tensor_map(map, device, names, buffers);
                        },
                        [&](const RawBytes& raw) { plan_raw(raw); },
                        [&](const StructArgument&) { fail("is a struct inside a struct's field"); },
                        [&](const std::string&) { fail("is text that no program resolved"); }},
             argument.value);
}

void ArgumentPart::plan_buffer(const BufferOffset& place, const NameSlots& names,
                               const BufferTable& buffers) {
  // A struct of 8 bytes may be one pointer.
  const bool takes_address = param_.size == 8 && param_.kind != ParamKind::kScalar;
  const std::uint32_t index = buffer_index(buffers, place.buffer);
  if (!takes_address) {
    fail("is the buffer {} of {}, for a parameter that is not a pointer", place.buffer,
         to_string(buffers[index].definition->dtype));
  }
  pointer_ = true;
  buffer_ = index;
  if (place.offset) expression_ = BoundExpression(place.offset->code(), names);
}

void ArgumentPart::refuse_pointer(std::string_view given) const {
  if (param_.kind != ParamKind::kPointer) return;
  fail("is {}, for a parameter that is a pointer; name a buffer, or write {{ u64 = 0 }} for none",
       given);
}

void ArgumentPart::refuse_pointer_or_bytes(std::string_view given) const {
  refuse_pointer(given);
  if (param_.kind != ParamKind::kBytes) return;
  fail("is {}, for a struct by value; write its bytes: {{ bytes = \"...\" }}{}", given,
       is_integer_size(size_) ? ", or its type where it is one number, as in { f16 = 1.0 }" : "");
}

void ArgumentPart::plan_integer(const Expression& value, const NameSlots& names) {
  refuse_pointer_or_bytes("the number " + value.text());
  if (!dtype_ && !is_integer_size(size_)) {
    fail("is the number {}; write its bytes: {{ bytes = \"...\" }}", value.text());
  }
  if (const auto literal = value.literal()) return set_constant(encode(*literal));
  expression_ = BoundExpression(value.code(), names);
}

void ArgumentPart::plan_real(double value) {
  refuse_pointer_or_bytes(fmt::format("the number {}", value));
  if (!dtype_ && param_.kind != ParamKind::kInteger) {
    fail(
        "is the number {}, and the image does not tell the parameter's type; write it out, as in "
        "{{ f32 = {} }}",
        value, value);
  }
  set_constant(dtype_ && is_float(*dtype_) ? round(value) : encode(value));
}

void ArgumentPart::plan_typed(const TypedValue& typed, const NameSlots& names) {
  const std::string_view name = to_string(typed.dtype);
  // A struct may well be one number (PTX calls __half bytes), and a pointer none.
  const auto* given = std::get_if<Expression>(&typed.value);
  const bool is_null = typed.dtype == DType::kU64 && given != nullptr && given->literal() == 0;
  if (is_null && param_.kind == ParamKind::kPointer) {
    pointer_ = true;
    return set_constant(0);
  }
  refuse_pointer(fmt::format("a number of type {}", name));
  if (size_of(typed.dtype) != param_.size) {
    fail("is written as {} of {} bytes, the parameter has {}", name, size_of(typed.dtype),
         param_.size);
  }
  // Integers of one size may pass for each other; their bits are what the user wrote.
  if (dtype_ && *dtype_ != typed.dtype && (is_float(*dtype_) || is_float(typed.dtype))) {
    fail("is written as {}", name);
  }
  if (param_.kind == ParamKind::kInteger && is_float(typed.dtype)) fail("is written as {}", name);
  dtype_ = typed.dtype;
  if (const auto* real = std::get_if<double>(&typed.value)) {
    set_constant(is_float(typed.dtype) ? round(*real) : encode(*real));
  } else if (const auto* integer = std::get_if<Expression>(&typed.value)) {
    if (const auto literal = integer->literal()) return set_constant(encode(*literal));
    expression_ = BoundExpression(integer->code(), names);
  } else {
    if (!is_float(typed.dtype)) fail("is a float expression for the integer type {}", name);
    expression_ = BoundExpression(std::get<FloatExpression>(typed.value).code(), names);
    is_float_expression_ = true;
  }
}

void ArgumentPart::plan_raw(const RawBytes& raw) {
  if (raw.bytes.size() != param_.size) {
    fail("has {} bytes, the parameter has {}", raw.bytes.size(), param_.size);
  }
  dtype_.reset();
  raw_ = true;
  constant_ = raw.bytes;
}

// No image tells what a struct is for; where it lies tells whether it can be a tensor map.
void ArgumentPart::plan_tensor_map(const TensorMapArgument& map, const Device& device,
                                   const NameSlots& names, const BufferTable& buffers) {
  if (size_ != sizeof(TensorMap)) {
    fail("is a tensor map of {} bytes, the parameter has {}", sizeof(TensorMap), size_);
  }
  if (!may_hold_tensor_map(param_.offset, device)) {
    fail(
        "is a tensor map, which must be aligned to {} bytes; the parameter lies at byte {}, "
        "declare it "
        "as const __grid_constant__ CUtensorMap",
        kTensorMapAlignment, param_.offset);
  }
  if (device.architecture() < chip::kFirstWithTensorMaps) {
    throw error_at(*where_, ErrorCode::kUnsupported,
                   "{} is a tensor map, which needs compute capability 9.0; {} has {}.{}",
                   place_.text(), device.name(), device.architecture() / 10,
                   device.architecture() % 10);
  }
  map_ = std::make_shared<const PlannedTensorMap>(map, device, names, buffers);
  buffer_ = map_->buffer();
  expression_ = map_->offset();
}

std::uint64_t ArgumentPart::encode(std::int64_t value) const {
  if (dtype_) {
    const auto bits = encode_exact(*dtype_, value);
    if (!bits) {
      fail("is {}, which {} does not hold{}", value, to_string(*dtype_),
           is_float(*dtype_) ? " exactly" : "");
    }
    return *bits;
  }
  // The signedness is unknown: whatever one of the two holds.
  if (size_ < 8) {
    const std::int64_t bound = std::int64_t{1} << (8 * size_);
    if (value < -bound / 2 || value >= bound) {
      fail("is {}, which {} bytes do not hold: {} to {}", value, size_, -bound / 2, bound - 1);
    }
  }
  return static_cast<std::uint64_t>(value);
}

std::uint64_t ArgumentPart::encode(double value) const {
  if (std::trunc(value) != value) fail("is {}, a fraction, for an integer", value);
  if (dtype_) {
    const auto bits = encode_exact(*dtype_, value);
    if (!bits) fail("is {}, which {} does not hold", value, to_string(*dtype_));
    return *bits;
  }
  if (!(value >= -0x1p63 && value < 0x1p63)) fail("is {}, which 64 bits do not hold", value);
  return encode(static_cast<std::int64_t>(value));
}

std::uint64_t ArgumentPart::round(double value) const {
  const auto bits = encode_in_range(*dtype_, value);
  if (!bits) fail("is {}, which is beyond the range of {}", value, to_string(*dtype_));
  return *bits;
}

void ArgumentPart::set_constant(std::uint64_t bits) {
  constant_.resize(size_);
  std::memcpy(constant_.data(), &bits, size_);
}

std::int64_t ArgumentPart::first_element(std::span<const std::int64_t> slots,
                                         const BufferTable& buffers) const {
  const BoundBuffer& buffer = buffers[*buffer_];
  const std::int64_t elements = expression_ ? expression_->evaluate(slots) : 0;
  // Where a buffer starts is a place in it even if it is empty, and so is its end for an empty
  // view.
  const std::int64_t end = buffer.elements + (is_view_ ? 1 : 0);
  if (elements < 0 || (elements >= end && elements != 0)) {
    throw error_at(*where_, ErrorCode::kInvalidInput,
                   "{} is {} + {}, outside the buffer of {} elements", place_.text(),
                   buffer.definition->name, elements, buffer.elements);
  }
  if (!count_) return elements;
  const std::int64_t count = count_->evaluate(slots);
  if (count < 0 || count > buffer.elements - elements) {
    throw error_at(*where_, ErrorCode::kInvalidInput,
                   "{} is a view of {} elements at {} + {}, which leaves the buffer of {} elements",
                   place_.text(), count, buffer.definition->name, elements, buffer.elements);
  }
  return elements;
}

std::optional<ArgumentPart::Range> ArgumentPart::view(std::span<const std::int64_t> slots,
                                                      const BufferTable& buffers) const {
  if (!is_view_) return std::nullopt;
  const BoundBuffer& buffer = buffers[*buffer_];
  const std::int64_t first = first_element(slots, buffers);
  const std::int64_t count = count_ ? count_->evaluate(slots) : buffer.elements - first;
  const std::uint64_t size = buffer.element_size();
  return Range{static_cast<std::uint64_t>(first) * size, static_cast<std::uint64_t>(count) * size};
}

std::uint64_t ArgumentPart::offset(std::span<const std::int64_t> slots,
                                   const BufferTable& buffers) const {
  return static_cast<std::uint64_t>(first_element(slots, buffers)) *
         buffers[*buffer_].element_size();
}

void ArgumentPart::write(std::span<const std::int64_t> slots, const BufferTable& buffers,
                         std::byte* target) const {
  if (!constant_.empty()) {
    std::memcpy(target, constant_.data(), constant_.size());
    return;
  }
  if (map_) {
    try {
      const TensorMap map = map_->evaluate(first_element(slots, buffers), slots, buffers);
      std::memcpy(target, map.bytes(), size_);
    } catch (Error& failure) {
      failure.at(*where_);
      failure.note(place_.text());
      throw;
    }
    return;
  }
  std::uint64_t bits = 0;
  if (buffer_) {
    bits = buffers[*buffer_].address() + offset(slots, buffers);
  } else if (is_float_expression_) {
    bits = round(expression_->evaluate_float(slots));
  } else {
    bits = encode(expression_->evaluate(slots));
  }
  std::memcpy(target, &bits, size_);
}

std::pair<std::uint64_t, std::uint64_t> ArgumentPart::span(std::span<const std::int64_t> slots,
                                                           std::optional<std::size_t> index,
                                                           const BufferTable& buffers) const {
  if (const auto bounds = view(slots, buffers)) {
    return {bounds->offset, bounds->offset + bounds->bytes};
  }
  const BoundBuffer& buffer = buffers[*buffer_];
  if (!expression_) return {0, buffer.bytes};
  const std::int64_t first = expression_->evaluate(slots);
  std::int64_t last = buffer.elements;
  if (index && expression_->uses_slot(*index)) {
    std::vector<std::int64_t> next(slots.begin(), slots.end());
    ++next[*index];
    try {
      const std::int64_t there = expression_->evaluate(next);
      if (there > first) last = std::min(last, there);
    } catch (const Error&) {
      // There is no next one to point anywhere.
    }
  }
  const auto bytes = [&](std::int64_t element) {
    return static_cast<std::uint64_t>(element) * buffer.element_size();
  };
  return {bytes(first), bytes(last)};
}

}  // namespace baton::bind
