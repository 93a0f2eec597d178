#include "base/held_bytes.h"

#include "base/error.h"
#include "base/hash.h"

namespace baton {

std::string_view HeldBytes::get() const {
  if (checked_.load(std::memory_order_acquire)) return bytes_;
  file_->require_whole();
  const std::uint64_t found = xxh3(bytes_);
  if (found != xxh3_) {
    throw error(ErrorCode::kInvalidInput,
                "{} is damaged: its checksum is {:016x}, its bytes have {:016x}; copy or build {} "
                "again",
                name_, xxh3_, found, file_->name());
  }
  checked_.store(true, std::memory_order_release);
  return bytes_;
}

}  // namespace baton
