// The driver's log of errors. The simulated driver writes no messages, so the log stays empty.

#include <cstdint>
#include <fstream>
#include <mutex>
#include <unordered_set>

#include "sim/api/foreign.h"
#include "sim/api/refusal.h"

namespace baton::sim::api {
namespace {

class LogCallbacks {
 public:
  static LogCallbacks& instance() {
    static auto* const all = new LogCallbacks;  // never destroyed
    return *all;
  }
  CUlogsCallbackHandle add() {
    const std::lock_guard lock(mutex_);
    auto* const handle = reinterpret_cast<CUlogsCallbackHandle>(++last_);
    handles_.insert(handle);
    return handle;
  }
  bool remove(CUlogsCallbackHandle handle) {
    const std::lock_guard lock(mutex_);
    return handles_.erase(handle) == 1;
  }

 private:
  std::mutex mutex_;
  std::uintptr_t last_ = 0;
  std::unordered_set<CUlogsCallbackHandle> handles_;
};

}  // namespace

CUresult LogsRegisterCallback(CUlogsCallback callback, void*, CUlogsCallbackHandle* handle) {
  require(callback != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUlogsCallbackHandle const made = LogCallbacks::instance().add();
  if (handle != nullptr) *handle = made;
  return CUDA_SUCCESS;
}

CUresult LogsUnregisterCallback(CUlogsCallbackHandle handle) {
  require(LogCallbacks::instance().remove(handle), CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

CUresult LogsCurrent(CUlogIterator* iterator, unsigned flags) {
  require(iterator != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  *iterator = 0;
  return CUDA_SUCCESS;
}

CUresult LogsDumpToFile(CUlogIterator*, const char* path, unsigned flags) {
  require(path != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  require(std::ofstream(path).is_open(), CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

CUresult LogsDumpToMemory(CUlogIterator*, char* buffer, size_t* bytes, unsigned flags) {
  require(buffer != nullptr && bytes != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  if (*bytes != 0) *buffer = '\0';
  *bytes = 0;
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
