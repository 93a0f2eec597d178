#include "capi/arguments.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "base/array/float_convert.h"
#include "base/error.h"
#include "base/text/text.h"
#include "capi/tensor.h"
#include "image/names/param_types.h"
#include "program/scalar.h"

namespace baton::capi {
namespace {

// One argument of a launch. What its functions throw is a predicate; `convert_argument` adds which
// argument it is about.
class ArgumentConversion {
 public:
  // `param` is null where the image does not tell the parameters.
  ArgumentConversion(const ParamFacts* param, const Device& on, std::uint64_t& slot)
      : param_(param), on_(on), slot_(slot) {}

  Argument convert(const baton_value& value) {
    if (value.padding != 0) {
      refuse("is a value whose padding is {}, not 0; make values with BATON_INT and the like",
             value.padding);
    }
    switch (value.type) {
      case BATON_TYPE_NONE:
        return address(0, std::nullopt);
      case BATON_TYPE_INT:
        return integer(value.as.integer);
      case BATON_TYPE_BOOL:
        if (value.as.integer != 0 && value.as.integer != 1) {
          refuse("is a BATON_BOOL of {}, not 0 or 1", value.as.integer);
        }
        return integer(value.as.integer);
      case BATON_TYPE_FLOAT:
        return real(value.as.real);
      case BATON_TYPE_POINTER:
        return address(reinterpret_cast<std::uintptr_t>(value.as.pointer), std::nullopt);
      case BATON_TYPE_TENSOR:
        return tensor(value.as.tensor);
      case BATON_TYPE_BYTES:
        return bytes(value.as.bytes);
      case BATON_TYPE_TEXT:
        refuse("is a text, which no kernel takes");
      default:
        refuse("has the value type {}, which is none of BATON_TYPE_...", value.type);
    }
  }

 private:
  template <typename... Args>
  [[noreturn]] static void refuse(fmt::format_string<Args...> format, Args&&... args) {
    throw error(ErrorCode::kInvalidInput, format, std::forward<Args>(args)...);
  }

  // Refuses a number where the parameter is not one, or where its type is not known.
  void require_number(std::string_view given) const {
    if (param_ == nullptr) {
      refuse(
          "is {}, and the image does not tell the parameter's type; pass its bytes as BATON_BYTES",
          given);
    }
    if (param_->kind == ParamKind::kPointer) {
      refuse("is {}, for a pointer; pass BATON_POINTER, BATON_TENSOR, or BATON_NONE for null",
             given);
    }
    if (param_->kind == ParamKind::kBytes) {
      refuse("is {}, for a struct by value; pass its bytes as BATON_BYTES", given);
    }
  }

  // The type of a scalar parameter, if it is known.
  std::optional<DType> scalar() const {
    return param_->kind == ParamKind::kScalar ? param_->dtype : std::nullopt;
  }

  Argument number(std::uint64_t bits, std::optional<DType> dtype) {
    slot_ = bits;  // little-endian, as CUDA's hosts are: the low bytes are the number
    return {&slot_, param_->size, false, dtype};
  }

  Argument integer(std::int64_t value) {
    require_number("an integer");
    if (const auto dtype = scalar()) {
      const auto bits = encode_exact(*dtype, value);
      if (bits) return number(*bits, dtype);
      if (is_float(*dtype))
        refuse("is {}, which {} does not hold exactly", value, to_string(*dtype));
      refuse("is {}, which {} does not hold: {} to {}", value, to_string(*dtype), least(*dtype),
             greatest(*dtype));
    }
    // The signedness is unknown: whatever one of the two holds.
    const std::uint32_t size = param_->size;
    if (size != 1 && size != 2 && size != 4 && size != 8) {
      refuse("is an integer, for a parameter of {} bytes; pass its bytes as BATON_BYTES", size);
    }
    if (size < 8) {
      const std::int64_t bound = std::int64_t{1} << (8 * size);
      if (value < -bound / 2 || value >= bound) {
        refuse("is {}, which {} bytes do not hold: {} to {}", value, size, -bound / 2, bound - 1);
      }
    }
    return number(static_cast<std::uint64_t>(value), std::nullopt);
  }

  Argument real(double value) {
    require_number("a float");
    const auto dtype = scalar();
    if (!dtype && param_->kind != ParamKind::kInteger) {
      refuse(
          "is the float {}, and the image does not tell the parameter's type; pass its bytes as "
          "BATON_BYTES",
          value);
    }
    if (!dtype || !is_float(*dtype)) {
      refuse("is the float {}, for an integer; pass BATON_INT", value);
    }
    const auto bits = encode_in_range(*dtype, value);
    if (!bits) refuse("is {}, which is beyond the range of {}", value, to_string(*dtype));
    return number(*bits, dtype);
  }

  Argument address(DeviceAddress address, std::optional<DType> element) {
    slot_ = address;
    return {&slot_, sizeof(slot_), true, element};
  }

  Argument tensor(const baton_tensor* given) {
    if (given == nullptr) refuse("is a null tensor; pass BATON_NONE for a null address");
    const CheckedTensor checked = check_tensor(*given, on_);
    if (checked.on_host) {
      refuse("is a tensor in host memory, which no kernel can read; copy it to {}", on_.spec());
    }
    return address(checked.address(), checked.dtype);
  }

  static Argument bytes(const baton_bytes* given) {
    if (given == nullptr || given->data == nullptr) refuse("is a BATON_BYTES without an address");
    if (given->size > UINT32_MAX) refuse("is {} bytes, more than a launch takes", given->size);
    return {given->data, static_cast<std::uint32_t>(given->size), false, std::nullopt};
  }

  const ParamFacts* param_;
  const Device& on_;
  std::uint64_t& slot_;
};

std::string parameter_text(const ParamFacts* param) {
  if (param == nullptr) return "";
  if (param->type.empty()) return fmt::format("; the parameter has {} bytes", param->size);
  return "; the parameter is " + baton::image::declaration_text(*param, param->name);
}

// Parameters take up to 32764 bytes.
constexpr std::size_t kMostArguments = 32764;

// A count that is wrong by far is refused before anything is allocated for it.
void require_count(const KernelFacts& facts, std::size_t count) {
  if (!facts.params) {
    if (count <= kMostArguments) return;
    throw error(ErrorCode::kInvalidInput,
                "kernel {}: {} arguments were given, no kernel has more than {}",
                printable(facts.name), count, kMostArguments);
  }
  if (facts.params->size() == count) return;
  std::vector<std::string> types;
  for (const ParamFacts& param : *facts.params) {
    types.push_back(baton::image::declaration_text(param, param.name));
  }
  throw error(ErrorCode::kInvalidInput, "kernel {} takes {} argument{} ({}), {} {} given",
              printable(facts.name), types.size(), types.size() == 1 ? "" : "s",
              types.empty() ? "none" : fmt::format("{}", fmt::join(types, ", ")), count,
              count == 1 ? "was" : "were");
}

}  // namespace

Argument convert_argument(const Kernel& kernel, std::size_t index, const baton_value& value,
                          const Device& on, std::uint64_t& slot) {
  const auto& params = kernel.facts().params;
  const ParamFacts* const param = params && index < params->size() ? &(*params)[index] : nullptr;
  try {
    return ArgumentConversion(param, on, slot).convert(value);
  } catch (const Error& failure) {
    throw error(failure.code(), "kernel {}: argument {} {}{}", printable(kernel.facts().name),
                index, failure.message(), parameter_text(param));
  }
}

ConvertedArguments::ConvertedArguments(const Kernel& kernel, std::span<const baton_value> values,
                                       const Device& on) {
  require_count(kernel.facts(), values.size());
  slots_.resize(values.size());
  arguments_.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    arguments_.push_back(convert_argument(kernel, i, values[i], on, slots_[i]));
  }
}

}  // namespace baton::capi
