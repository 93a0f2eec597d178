#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace baton {

// `xxh3` (hash.h) of bytes that come piece by piece. Not thread-safe.
class Xxh3 {
 public:
  Xxh3();
  ~Xxh3();
  Xxh3(const Xxh3&) = delete;
  Xxh3& operator=(const Xxh3&) = delete;

  Xxh3& update(std::string_view bytes);
  // Of the bytes so far.
  std::uint64_t value() const;

 private:
  struct State;  // of the xxHash library
  std::unique_ptr<State> state_;
};

}  // namespace baton
