#include "base/held_bytes.h"

#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/overloaded.h"

namespace baton {
namespace {

// Of the kind that `like` has.
HeldBytes::Sum sum_of(std::string_view bytes, const HeldBytes::Sum& like) {
  return std::visit(Overloaded{
                        [&](std::uint64_t) -> HeldBytes::Sum { return xxh3(bytes); },
                        [&](const Sha256Digest&) -> HeldBytes::Sum { return sha256(bytes); },
                    },
                    like);
}

std::string to_text(const HeldBytes::Sum& sum) {
  return std::visit(Overloaded{
                        [](std::uint64_t number) { return fmt::format("{:016x}", number); },
                        [](const Sha256Digest& digest) { return to_hex(digest); },
                    },
                    sum);
}

}  // namespace

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
  const Sum found = sum_of(bytes, sum_);
  if (found != sum_) {
    throw error(ErrorCode::kInvalidInput,
                "{} is damaged: its checksum is {}, its bytes have {}; copy or build {} again",
                name_, to_text(sum_), to_text(found), file_->name());
  }
  checked_bytes_ = bytes;
  checked_.store(true, std::memory_order_release);
  return bytes;
}

}  // namespace baton
