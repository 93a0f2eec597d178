#pragma once

#include <cstddef>
#include <cstdint>

#include "baton.h"

// The part of tvm-ffi's C ABI that the adapter uses. It is the same in apache-tvm-ffi 0.1.0 to
// 0.1.15: tvm/ffi/c_api.h, object.h and extra/module.h of its wheels.

namespace baton::tvm_ffi {

// TVMFFITypeIndex. Indexes up to kBytes and those of baton_value are the same.
enum TypeIndex : std::int32_t {
  kNone = 0,
  kInt = 1,
  kBool = 2,
  kFloat = 3,
  kOpaquePointer = 4,
  kTensorPointer = 7,
  kRawText = 8,
  kByteArrayPointer = 9,
  kSmallText = 11,
  kSmallBytes = 12,
  kFirstObject = 64,
  kText = 65,
  kBytes = 66,
  kShape = 69,
  kTensor = 70,
  kArray = 71,
  kModule = 73,
  kList = 75,
};

// TVMFFIObject: the head of every counted object.
struct Object {
  static constexpr std::uint64_t kOneReference = (std::uint64_t{1} << 32) | 1;
  std::uint64_t references;  // strong ones in the low half
  std::int32_t type;
  std::uint32_t padding;
  void (*deleter)(void* self, int flags);
};
static_assert(sizeof(Object) == 24);

// Flags of a deleter: which count became zero.
enum DeleterFlag : int { kNoStrongReference = 1, kNoWeakReference = 2 };

// TVMFFIByteArray.
struct ByteArray {
  const char* data;
  std::size_t size;
};

// TVMFFIAny.
struct Any {
  std::int32_t type;
  std::uint32_t small_size;  // of small texts and bytes, else 0
  union {
    std::int64_t integer;
    double real;
    void* pointer;
    const char* raw_text;
    const ByteArray* byte_array;
    Object* object;
    char small[8];
  };
};
static_assert(sizeof(Any) == 16 && offsetof(Any, integer) == 8);
static_assert(sizeof(Any) == sizeof(baton_value));

// After the head of a text and of bytes: ByteArray. Of a tensor: DLTensor. Of a shape and of an
// array:
struct ShapeCell {
  const std::int64_t* data;
  std::size_t size;
};
struct ArrayCell {
  const Any* data;
  std::int64_t size;
};

template <typename Cell>
Cell& cell_of(Object* object) {
  return *reinterpret_cast<Cell*>(object + 1);
}

// TVMFFISafeCallType: 0 for success, -1 with a raised error.
using SafeCall = int (*)(void* self, const Any* args, std::int32_t count, Any* result);

struct RuntimeVersion {
  std::uint32_t major, minor, patch;
};

}  // namespace baton::tvm_ffi
