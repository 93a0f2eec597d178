#pragma once

#include <cstdint>
#include <string_view>

#include "image/container/bytes.h"

namespace baton::image {

// The records of .nv.info and .nv.compat: u8 format, u8 code, then by format nothing (1), a byte
// (2), a u16 (3), or a u16 length and that many bytes (4).
struct NvRecord {
  std::uint8_t code = 0;
  std::uint16_t value = 0;   // formats 2 and 3
  std::string_view payload;  // format 4
};

// Calls `visit(record)` for each, in the order written. False where a record does not fit: what
// came before it was visited.
template <typename Visit>
bool for_each_record(std::string_view bytes, Visit&& visit) {
  constexpr std::size_t kHead = 4;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto value = load<std::uint16_t>(bytes, at + 2);
    if (!value) return false;
    const auto format = load_or_zero<std::uint8_t>(bytes, at);
    NvRecord record;
    record.code = load_or_zero<std::uint8_t>(bytes, at + 1);
    record.value = *value;
    at += kHead;
    if (format == 4) {
      const auto payload = slice(bytes, at, *value);
      if (!payload) return false;
      record.payload = *payload;
      at += payload->size();
    } else if (format == 2) {
      record.value &= 0xff;
    } else if (format != 1 && format != 3) {
      return false;
    }
    visit(record);
  }
  return true;
}

}  // namespace baton::image
