#include "base/error.h"
#include "baton/launch.h"

namespace baton {

void Dim3::refuse_negative(long long value, char axis) {
  throw error(ErrorCode::kLimit, "an extent of {} along {}; the smallest extent is 1", value, axis);
}

void Dim3::refuse_large(unsigned long long value, char axis) {
  throw error(ErrorCode::kLimit, "an extent of {} along {}; the largest that any launch has is {}",
              value, axis, std::numeric_limits<std::uint32_t>::max());
}

}  // namespace baton
