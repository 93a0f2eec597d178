#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstring>

#include "shim/record/functions.h"
#include "shim/record/journal.h"

namespace baton::recorder {

// More than any kernel has.
inline constexpr std::uint32_t kMaxParamBytes = 32768;

// A launch's bytes of parameters, in one block.
class Params {
 public:
  Params(const KnownFunction& known, void** params, void** extra) {
    if (extra != nullptr) {
      take_extra(extra);
      return;
    }
    if (!known.params_known || known.param_bytes > kMaxParamBytes) return;
    if (params == nullptr && !known.params.empty()) return;
    is_known_ = true;
    size_ = known.param_bytes;
    std::memset(own_, 0, size_);
    for (std::size_t k = 0; k < known.params.size(); ++k) {
      if (params[k] == nullptr) {
        is_known_ = false;
        size_ = 0;
        return;
      }
      std::memcpy(own_ + known.params[k].offset, params[k], known.params[k].size);
    }
  }

  bool is_known() const { return is_known_; }
  EventPart part() const { return {bytes_, size_}; }

 private:
  void take_extra(void** extra) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) bytes = extra[1];
      if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
        std::memcpy(&size, extra[1], sizeof size);
      }
    }
    if (size > kMaxParamBytes || (bytes == nullptr && size != 0)) return;
    bytes_ = bytes;
    size_ = static_cast<std::uint32_t>(size);
    is_known_ = true;
  }

  char own_[kMaxParamBytes];
  const void* bytes_ = own_;
  std::uint32_t size_ = 0;
  bool is_known_ = false;
};

}  // namespace baton::recorder
