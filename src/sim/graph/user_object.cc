#include "sim/graph/user_object.h"

#include <system_error>
#include <thread>

namespace baton::sim {

bool UserObject::retain(unsigned count) {
  std::lock_guard lock(mutex_);
  if (count_ == 0) return false;
  count_ += count;
  return true;
}

bool UserObject::release(unsigned count) {
  std::lock_guard lock(mutex_);
  if (count > count_) return false;
  count_ -= count;
  if (count_ != 0 || count == 0) return true;
  try {
    std::thread(destroy_, object_).detach();
  } catch (const std::system_error&) {
    destroy_(object_);  // the system has no more threads
  }
  return true;
}

bool UserObject::is_gone() const {
  std::lock_guard lock(mutex_);
  return count_ == 0;
}

bool UserObject::has(unsigned count) const {
  std::lock_guard lock(mutex_);
  return count <= count_;
}

UserReferences::UserReferences(const UserReferences& other) {
  add(other);
}

void UserReferences::add(const UserReferences& other) {
  for (const auto& [object, count] : other.counts_) {
    object->retain(count);
    counts_[object] += count;
  }
}

UserReferences::~UserReferences() {
  for (const auto& [object, count] : counts_) object->release(count);
}

bool UserReferences::release(const std::shared_ptr<UserObject>& object, unsigned count) {
  const auto found = counts_.find(object);
  if (found == counts_.end() || found->second < count) return false;
  found->second -= count;
  if (found->second == 0) counts_.erase(found);
  return object->release(count);
}

}  // namespace baton::sim
