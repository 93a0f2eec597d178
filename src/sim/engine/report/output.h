#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace baton::sim {

// What the threads of a grid printed. It is given out in the order of blocks, then threads (warp by
// warp and lane by lane), then time, so that it depends on no schedule. Thread-safe.
class PrintedText {
 public:
  void add(std::uint64_t block, std::uint32_t thread, std::string text);
  // Everything so far, in order; nothing is kept.
  std::string take();

 private:
  struct Piece {
    std::uint64_t block;
    std::uint32_t thread;
    std::string text;
  };
  std::mutex mutex_;
  std::vector<Piece> pieces_;
  std::uint64_t bytes_ = 0;
  std::uint64_t lost_ = 0;  // pieces that found the buffer full
};

}  // namespace baton::sim
