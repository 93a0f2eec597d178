#include "sim/graph/user_object.h"

#include <system_error>
#include <thread>

namespace baton::sim {

void UserObject::retain(unsigned count) {
  std::lock_guard lock(mutex_);
  count_ += count;
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

UserReferences::UserReferences(const UserReferences& other) : counts_(other.counts_) {
  for (const auto& [object, count] : counts_) object->retain(count);
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
