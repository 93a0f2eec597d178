#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>

namespace baton::sim {

// What a caller wants destroyed when neither it nor a graph has it any more. Thread-safe.
class UserObject {
 public:
  // `count`: references that the caller has.
  UserObject(CUhostFn destroy, void* object, unsigned count)
      : destroy_(destroy), object_(object), count_(count) {}

  // False where the object was destroyed.
  bool retain(unsigned count);
  // False where there are fewer. After the last one the object is destroyed, on a thread that may
  // take locks of the caller's: who drops the last reference may hold them.
  bool release(unsigned count);
  bool is_gone() const;
  // Whether there are so many references.
  bool has(unsigned count) const;

 private:
  const CUhostFn destroy_;
  void* const object_;
  mutable std::mutex mutex_;
  unsigned long long count_;
};

// The references of a graph, or of an instance; a copy has as many of its own. Not thread-safe.
class UserReferences {
 public:
  UserReferences() = default;
  UserReferences(const UserReferences& other);
  UserReferences& operator=(const UserReferences&) = delete;
  ~UserReferences();

  // Takes as many more as the other has.
  void add(const UserReferences& other);
  // Takes references that are there.
  void take(const std::shared_ptr<UserObject>& object, unsigned count) { counts_[object] += count; }
  // False where it has fewer.
  bool release(const std::shared_ptr<UserObject>& object, unsigned count);

 private:
  std::map<std::shared_ptr<UserObject>, unsigned> counts_;
};

}  // namespace baton::sim
