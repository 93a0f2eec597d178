#include "base/file/held_bytes.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/hash/xxh3.h"
#include "base/overloaded.h"

namespace baton {
namespace {

// Of the kind that `like` has, of a part of a file that is read piece by piece.
HeldBytes::Sum sum_of(const MappedFile& file, std::string_view bytes, const HeldBytes::Sum& like) {
  return std::visit(Overloaded{
                        [&](std::uint64_t) -> HeldBytes::Sum {
                          Xxh3 sum;
                          file.for_each_piece(bytes, [&](auto piece) { sum.update(piece); });
                          return sum.value();
                        },
                        [&](const Sha256Digest&) -> HeldBytes::Sum {
                          Sha256 sum;
                          file.for_each_piece(bytes, [&](auto piece) { sum.update(piece); });
                          return sum.finish();
                        },
                    },
                    like);
}

// The same of bytes in memory.
HeldBytes::Sum sum_of(std::string_view bytes, const HeldBytes::Sum& like) {
  if (std::holds_alternative<Sha256Digest>(like)) return sha256(bytes);
  return xxh3(bytes);
}

std::string to_text(const HeldBytes::Sum& sum) {
  return std::visit(Overloaded{
                        [](std::uint64_t number) { return fmt::format("{:016x}", number); },
                        [](const Sha256Digest& digest) { return to_hex(digest); },
                    },
                    sum);
}

}  // namespace

void HeldBytes::check() const {
  if (checked_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (checked_.load(std::memory_order_relaxed)) return;
  std::string_view bytes = bytes_;
  if (keep_ == Keep::kCopied && file_->is_mapped()) {
    copy_ = std::make_unique_for_overwrite<char[]>(bytes_.size());
    file_->read(bytes_, copy_.get());
    bytes = {copy_.get(), bytes_.size()};
  }
  const Sum found = keep_ == Keep::kCopied ? sum_of(bytes, sum_) : sum_of(*file_, bytes, sum_);
  if (found != sum_) {
    throw error(ErrorCode::kInvalidInput,
                "{} is damaged: its checksum is {}, its bytes have {}; copy or build {} again",
                name_, to_text(sum_), to_text(found), file_->name());
  }
  checked_bytes_ = bytes;
  checked_.store(true, std::memory_order_release);
}

std::string_view HeldBytes::get() const {
  if (keep_ == Keep::kMapped) file_->require_whole();
  check();
  return checked_bytes_;
}

void HeldBytes::read(std::uint64_t offset, std::uint64_t bytes, char* target) const {
  check();
  const std::string_view part = checked_bytes_.substr(offset, bytes);
  if (keep_ == Keep::kMapped) return file_->read(part, target);
  std::ranges::copy(part, target);
}

}  // namespace baton
