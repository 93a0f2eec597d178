#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace baton::sim {

// The live objects of one kind, by the handle that callers hold. A handle is a number that is never
// given out twice, not an address: one that is wrong or whose object was destroyed finds nothing.
// Who looks an object up shares its ownership, so it outlives a concurrent removal. Thread-safe.
template <typename Handle, typename T>
class HandleTable {
 public:
  // `kind` tells the tables apart, so that a handle of one finds nothing in another.
  explicit HandleTable(std::uint8_t kind) : next_((std::uintptr_t{kind} << 48) + kStep) {}

  Handle add(std::shared_ptr<T> object) {
    std::lock_guard lock(mutex_);
    const std::uintptr_t number = next_;
    next_ += kStep;
    objects_.emplace(number, std::move(object));
    return reinterpret_cast<Handle>(number);
  }

  std::shared_ptr<T> find(Handle handle) const {
    std::shared_lock lock(mutex_);
    auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found != objects_.end() ? found->second : nullptr;
  }

  // What the handle stood for, or null: of two threads that remove it, one gets the object.
  std::shared_ptr<T> remove(Handle handle) {
    std::lock_guard lock(mutex_);
    auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  // Calls `use(handle, object)` for each, under the table's lock.
  template <typename Use>
  void each(Use use) const {
    std::shared_lock lock(mutex_);
    for (const auto& [number, object] : objects_) use(reinterpret_cast<Handle>(number), *object);
  }

  template <typename Predicate>
  void remove_if(Predicate predicate) {
    std::lock_guard lock(mutex_);
    std::erase_if(objects_, [&](const auto& entry) { return predicate(*entry.second); });
  }

 private:
  // Handles look like aligned pointers, and never like the driver's special stream handles 0 to 2.
  static constexpr std::uintptr_t kStep = 16;

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<T>> objects_;
  std::uintptr_t next_;
};

}  // namespace baton::sim
