#include "base/held_bytes.h"

#include <utility>

#include "base/error.h"
#include "base/hash.h"

namespace baton {

std::string_view HeldBytes::get() const {
  if (keep_ == Keep::kMapped) file_->require_whole();
  if (checked_.load(std::memory_order_acquire)) return checked_bytes_;
  const std::lock_guard lock(mutex_);
  if (checked_.load(std::memory_order_relaxed)) return checked_bytes_;
  std::string_view bytes = bytes_;
  if (keep_ == Keep::kCopied) {
    if (auto copy = file_->copy(bytes_)) {
      copy_ = std::move(*copy);
      bytes = copy_;
    }
  }
  const std::uint64_t found = xxh3(bytes);
  if (found != xxh3_) {
    throw error(ErrorCode::kInvalidInput,
                "{} is damaged: its checksum is {:016x}, its bytes have {:016x}; copy or build {} "
                "again",
                name_, xxh3_, found, file_->name());
  }
  checked_bytes_ = bytes;
  checked_.store(true, std::memory_order_release);
  return bytes;
}

}  // namespace baton
