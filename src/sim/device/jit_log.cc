#include "sim/device/jit_log.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sim/api/refusal.h"

namespace baton::sim {

JitLog::JitLog(const CUjit_option* options, void** values, unsigned count) {
  require(count == 0 || (options != nullptr && values != nullptr), CUDA_ERROR_INVALID_VALUE);
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
      case CU_JIT_ERROR_LOG_BUFFER:
        error_.buffer = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.size = &values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        info_.buffer = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.size = &values[i];
        break;
      default:
        require(options[i] >= 0 && options[i] < CU_JIT_NUM_OPTIONS, CUDA_ERROR_INVALID_VALUE);
    }
  }
}

void JitLog::Buffer::write(std::string_view message) const {
  if (size == nullptr) return;
  // The driver takes the capacity as an unsigned int.
  const auto capacity = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*size));
  if (buffer == nullptr || capacity == 0) return;
  const std::size_t kept = std::min<std::size_t>(message.size(), capacity - 1);
  std::memcpy(buffer, message.data(), kept);
  buffer[kept] = '\0';
  *size = reinterpret_cast<void*>(static_cast<std::uintptr_t>(kept == 0 ? 0 : kept + 1));
}

}  // namespace baton::sim
