#pragma once

#include <cstdint>
#include <string>

#include "sim/engine/judge/lane_access.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {

// What a function that no module defines (builtin.h) reads and returns for one lane. Each access is
// checked like any other, and false means a fault.
class LaneReader {
 public:
  LaneReader(Exec* x, const Insn* i, int lane) : x_(x), i_(i), lane_(lane) {}

  template <class T>
  bool param(int k, T* value) {
    return load_lane(x_, i_, lane_, Space::kLocal, local_base() + i_->r[k], value, sizeof(T),
                     LoadKind::kWeak);
  }
  template <class T>
  bool value(std::uint64_t address, T* value) {
    return load_lane(x_, i_, lane_, Space::kGeneric, address, value, sizeof(T), LoadKind::kWeak);
  }
  // Up to its end, or kLongestText characters of it.
  bool text(std::uint64_t address, std::string* text) {
    for (char c = 1; text->size() < kLongestText;) {
      if (!value(address++, &c)) return false;
      if (c == 0) break;
      text->push_back(c);
    }
    return true;
  }
  // Does nothing where the caller takes no result.
  template <class T>
  bool result(T value) {
    if (i_->r[5] == UINT32_MAX) return true;
    return store_lane(x_, i_, lane_, Space::kLocal, local_base() + i_->r[5], &value, sizeof(value),
                      false);
  }

 private:
  static constexpr std::size_t kLongestText = 8192;

  std::uint32_t local_base() const {
    const Warp& warp = *x_->warp;
    return warp.frames[warp.fragments[warp.current].frame].local_base;
  }

  Exec* x_;
  const Insn* i_;
  int lane_;
};

}  // namespace baton::sim
