#include "base/hash/xxh3.h"

#include <new>

#include "base/hash/xxhash_library.h"

namespace baton {

// The library aligns its state itself.
struct Xxh3::State {
  State() : state(XXH3_createState()) {
    if (state == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(state);
  }
  State(const State&) = delete;
  ~State() { XXH3_freeState(state); }

  XXH3_state_t* const state;
};

Xxh3::Xxh3() : state_(std::make_unique<State>()) {}
Xxh3::~Xxh3() = default;

Xxh3& Xxh3::update(std::string_view bytes) {
  XXH3_64bits_update(state_->state, bytes.data(), bytes.size());
  return *this;
}

std::uint64_t Xxh3::value() const {
  return XXH3_64bits_digest(state_->state);
}

}  // namespace baton
