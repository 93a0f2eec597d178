#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

namespace baton::capi {

// A handle of the C interface: a counted reference to a C++ object, its content.
//
// The memory of a handle is never given back to the system, and always belongs to handles of its
// kind. The use of a released handle is therefore defined: it is refused until the memory serves a
// new handle, which it does only after many others were released.

// The part of every handle that is the same for all kinds. Handles of different kinds have
// different marks.
class CountedHandle {
 public:
  bool is_of(std::uint64_t mark) const noexcept { return mark_ == mark; }
  bool alive() const noexcept { return references_.load(std::memory_order_acquire) != 0; }

  // Adds a reference; false where the handle was released.
  bool add_reference() const noexcept {
    std::uint32_t count = references_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (references_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  enum class Dropped : std::uint8_t { kShared, kLast, kNone };
  // Gives a reference back. kNone: there was none.
  Dropped drop_reference() const noexcept {
    std::uint32_t count = references_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (references_.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) {
        return count == 1 ? Dropped::kLast : Dropped::kShared;
      }
    }
    return Dropped::kNone;
  }

 protected:
  explicit CountedHandle(std::uint64_t mark) noexcept : mark_(mark) {}
  ~CountedHandle() = default;
  void revive() noexcept { references_.store(1, std::memory_order_release); }

 private:
  template <typename Kind>
  friend class HandlePool;
  const std::uint64_t mark_;
  mutable std::atomic<std::uint32_t> references_{0};
  CountedHandle* next_ = nullptr;  // in the pool
};

// 64-bit FNV-1a of a kind's name. http://www.isthe.com/chongo/tech/comp/fnv/
constexpr std::uint64_t handle_mark(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

// The base of a handle: struct baton_device : Handle<baton_device, Device>, with kName.
template <typename Kind, typename Content>
class Handle : public CountedHandle {
 public:
  Content& content() noexcept { return *std::launder(reinterpret_cast<Content*>(storage_)); }
  const Content& content() const noexcept {
    return *std::launder(reinterpret_cast<const Content*>(storage_));
  }

 protected:
  Handle() noexcept : CountedHandle(handle_mark(Kind::kName)) {}
  ~Handle() = default;

 private:
  template <typename>
  friend class HandlePool;

  template <typename... Args>
  void fill(Args&&... args) {
    ::new (static_cast<void*>(storage_)) Content{std::forward<Args>(args)...};
    revive();
  }
  void clear() noexcept { content().~Content(); }

  alignas(Content) std::byte storage_[sizeof(Content)];
};

// The memory of the released handles of one kind. Thread-safe.
template <typename Kind>
class HandlePool {
 public:
  static HandlePool& instance() {
    static HandlePool* const pool = new HandlePool;  // never destroyed: handles may outlive main
    return *pool;
  }

  template <typename... Args>
  Kind* make(Args&&... args) {
    Kind* const handle = take();
    try {
      handle->fill(std::forward<Args>(args)...);
    } catch (...) {
      put(handle);
      throw;
    }
    return handle;
  }

  void destroy(Kind* handle) noexcept {
    handle->clear();
    put(handle);
  }

 private:
  // So many released handles are recognised before the first one's memory serves again.
  static constexpr std::uint32_t kWaiting = 256;

  Kind* take() {
    {
      const std::lock_guard lock(mutex_);
      if (count_ > kWaiting) {
        CountedHandle* const oldest = first_;
        first_ = oldest->next_;
        --count_;
        return static_cast<Kind*>(oldest);
      }
    }
    return new Kind;
  }

  void put(Kind* handle) noexcept {
    const std::lock_guard lock(mutex_);
    handle->next_ = nullptr;
    (count_ == 0 ? first_ : last_->next_) = handle;
    last_ = handle;
    ++count_;
  }

  std::mutex mutex_;
  CountedHandle* first_ = nullptr;  // the oldest; valid where there is one
  CountedHandle* last_ = nullptr;
  std::uint32_t count_ = 0;
};

// Makes a handle with one reference, the caller's.
template <typename Kind, typename... Args>
Kind* make_handle(Args&&... args) {
  return HandlePool<Kind>::instance().make(std::forward<Args>(args)...);
}

// Logs that a handle was retained or released which is not alive.
void report_misuse(std::string_view kind, bool same_kind, std::string_view call) noexcept;

template <typename Kind>
void retain(Kind* handle) noexcept {
  if (handle == nullptr) return;
  const bool same_kind = handle->is_of(handle_mark(Kind::kName));
  if (!same_kind || !handle->add_reference()) report_misuse(Kind::kName, same_kind, "retain");
}

template <typename Kind>
void release(Kind* handle) noexcept {
  if (handle == nullptr) return;
  const bool same_kind = handle->is_of(handle_mark(Kind::kName));
  if (!same_kind) return report_misuse(Kind::kName, false, "release");
  switch (handle->drop_reference()) {
    case CountedHandle::Dropped::kShared:
      return;
    case CountedHandle::Dropped::kLast:
      return HandlePool<Kind>::instance().destroy(handle);
    case CountedHandle::Dropped::kNone:
      return report_misuse(Kind::kName, true, "release");
  }
}

// A reference that C++ holds.
template <typename Kind>
class HandleReference {
 public:
  HandleReference() = default;
  // Null refers to nothing. A reference changes nothing that a const handle promises.
  explicit HandleReference(const Kind* handle) noexcept : handle_(const_cast<Kind*>(handle)) {
    retain(handle_);
  }
  HandleReference(HandleReference&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  HandleReference& operator=(HandleReference&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~HandleReference() { release(handle_); }

 private:
  Kind* handle_ = nullptr;
};

}  // namespace baton::capi
