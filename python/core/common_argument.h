#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/python.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "core/torch_tensor.h"

namespace baton::python {

// The parameters that most arguments are for. An argument of the exact type that fits is packed
// here, without an allocation or an exception. Everything else goes to `pack_argument`, which
// checks again and names what does not fit.
enum class CommonKind : std::uint8_t { kNone, kPointer, kI32, kU32, kI64, kF32 };

struct CommonParameter {
  CommonKind kind = CommonKind::kNone;
  // The address of an array of `element` has none of these bits.
  std::uint8_t misaligned = 0;
  // DLPack's DLDataType of a pointer's element as one word; 0 for a pointer to anything.
  std::uint32_t element = 0;
};

// DLPack's DLDataType as one word.
inline std::uint32_t dtype_word(const baton_tensor& tensor) {
  static_assert(sizeof(tensor.dtype) == sizeof(std::uint32_t));
  std::uint32_t word = 0;
  std::memcpy(&word, &tensor.dtype, sizeof(word));
  return word;
}

inline std::uint64_t address_in(const baton_tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
}

// Whether the strides are those of C order. Extents of 1 have any stride. An empty array may be
// refused here.
inline bool has_c_order(const baton_tensor& tensor) {
  if (tensor.strides == nullptr) return true;
  std::int64_t expected = 1;
  for (std::int32_t i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

inline PlainArray plain(const baton_tensor& tensor) {
  return {address_in(tensor), static_cast<std::int32_t>(tensor.device.device_type),
          tensor.device.device_id, dtype_word(tensor), has_c_order(tensor)};
}

inline bool is_empty(const baton_tensor& tensor) {
  for (std::int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return true;
  }
  return false;
}

// Packs the common arguments of one call on a GPU.
class CommonArguments {
 public:
  // `ordinal` is DLPack's id of the kernel's device.
  explicit CommonArguments(std::int32_t ordinal) : ordinal_(ordinal) {}

  // Returns false for an argument that is not common, or that does not fit. Pointers are asked for
  // first, and no jump table is: what the processor foresees worst is an indirect jump.
  [[gnu::always_inline]] bool pack(CommonParameter parameter, PyObject* value,
                                   std::uint64_t& slot) {
    if (parameter.kind == CommonKind::kPointer) return pack_array(parameter, value, slot);
    if (parameter.kind == CommonKind::kF32) return pack_float(value, slot);
    if (parameter.kind == CommonKind::kI32) return pack_int(value, INT32_MIN, INT32_MAX, slot);
    if (parameter.kind == CommonKind::kI64) return pack_int(value, INT64_MIN, INT64_MAX, slot);
    if (parameter.kind == CommonKind::kU32) return pack_int(value, 0, UINT32_MAX, slot);
    return false;
  }

  // Of the first array.
  CallStream stream() const {
    CallStream stream;
    if (first_ != nullptr) stream.note(first_, ordinal_);
    return stream;
  }

 private:
  [[gnu::always_inline]] bool pack_array(CommonParameter parameter, PyObject* value,
                                         std::uint64_t& slot) {
    // The arrays of a call mostly have one type.
    if (Py_TYPE(value) != type_) [[unlikely]] {
      type_ = Py_TYPE(value);
      way_ = common_way(type_);
    }
    if (way_.exchange == nullptr) [[unlikely]] {
      slot = 0;
      return value == Py_None;
    }
    PlainArray array;
    if (!(way_.torch != nullptr && way_.torch->read(value, array)) && !view(value, array))
        [[unlikely]] {
      return false;
    }
    slot = array.address;
    // An array without memory, such as one whose storage is gone, is not a null pointer.
    if (array.device_type != kDlCuda || array.device_id != ordinal_ || slot == 0 ||
        !array.has_c_order) [[unlikely]]
      return false;
    // A pointer to anything needs the array's own element for the alignment.
    const bool fits = parameter.element == 0
                          ? is_aligned(array.dtype, slot)
                          : array.dtype == parameter.element && (slot & parameter.misaligned) == 0;
    if (!fits) [[unlikely]]
      return false;
    if (first_ == nullptr) first_ = way_.exchange;
    return true;
  }

  // By the exchange API.
  [[gnu::always_inline]] bool view(PyObject* value, PlainArray& array) {
    baton_tensor tensor;
    if (way_.exchange->to_view(value, &tensor) < 0) [[unlikely]] {
      PyErr_Clear();
      return false;
    }
    array = plain(tensor);
    if (way_.torch != nullptr) way_.torch->learn(value, array, is_empty(tensor));
    return true;
  }

  // Never for complex elements: their bytes may be conjugates.
  static bool is_aligned(std::uint32_t dtype, std::uint64_t address) {
    baton_tensor tensor{};
    std::memcpy(&tensor.dtype, &dtype, sizeof(dtype));
    const std::uint32_t bytes = (std::uint32_t{tensor.dtype.bits} * tensor.dtype.lanes + 7) / 8;
    return tensor.dtype.code != kDlComplex && (bytes & (bytes - 1)) == 0 &&
           (address & (bytes - 1)) == 0;
  }

  static bool pack_int(PyObject* value, std::int64_t least, std::int64_t most,
                       std::uint64_t& slot) {
    if (!PyLong_CheckExact(value)) return false;
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0 || number < least || number > most) return false;
    slot = static_cast<std::uint64_t>(number);
    return true;
  }

  static bool pack_float(PyObject* value, std::uint64_t& slot) {
    if (!PyFloat_CheckExact(value)) return false;
    const auto narrow = static_cast<float>(PyFloat_AsDouble(value));
    // Written so that NaN and infinities take the general way.
    if (!(std::abs(narrow) <= std::numeric_limits<float>::max())) return false;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof(bits));
    slot = bits;
    return true;
  }

  std::int32_t ordinal_;
  PyTypeObject* type_ = nullptr;
  CommonWay way_;
  const DlExchangeApi* first_ = nullptr;  // of the first array
};

}  // namespace baton::python
