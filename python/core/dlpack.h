#pragma once

#include <cstdint>

#include "baton.h"

namespace baton::python {

// DLPack 1.3's structs around DLTensor, which baton.h has as `baton_tensor`. Layouts and meanings:
// dlpack.h of https://github.com/dmlc/dlpack, release 1.3.

struct DlVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

inline constexpr std::uint32_t kDlMajor = 1;

// DLDeviceType.
inline constexpr std::int32_t kDlCpu = 1;
inline constexpr std::int32_t kDlCuda = 2;
inline constexpr std::int32_t kDlCudaHost = 3;
inline constexpr std::int32_t kDlCudaManaged = 13;
// DLDataTypeCode of types that are bytes without a meaning.
inline constexpr std::uint8_t kDlOpaque = 3;
inline constexpr std::uint8_t kDlComplex = 5;

struct DlManagedTensor {  // DLManagedTensor, before DLPack 1.0
  baton_tensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor* self);
};

struct DlManagedTensorVersioned {
  DlVersion version;
  void* context;
  void (*deleter)(DlManagedTensorVersioned* self);
  std::uint64_t flags;
  baton_tensor tensor;
};
inline constexpr std::uint64_t kDlReadOnly = 1;

struct DlExchangeApi;

struct DlExchangeHeader {
  DlVersion version;
  const DlExchangeHeader* previous;  // an older table, or null
};

// The table behind `__dlpack_c_exchange_api__` of a type. Functions return 0, or -1 with Python's
// error indicator set.
struct DlExchangeApi {
  DlExchangeHeader header;
  int (*allocate)(baton_tensor* prototype, DlManagedTensorVersioned** out, void* error_context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*to_managed)(void* object, DlManagedTensorVersioned** out);
  int (*from_managed)(DlManagedTensorVersioned* tensor, void** out_object);
  // Fills a borrowed view, which is valid as long as the object is unchanged. May be null.
  int (*to_view)(void* object, baton_tensor* out);
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** out_stream);
};

}  // namespace baton::python
