#pragma once

#include <utility>

#include "baton.h"

namespace baton::tvm_ffi {

// Owns one reference to a handle of baton.h. Movable.
template <typename T, void (*kRelease)(T*)>
class OwnedHandle {
 public:
  OwnedHandle() = default;
  OwnedHandle(OwnedHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  OwnedHandle& operator=(OwnedHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~OwnedHandle() { kRelease(handle_); }

  T* get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  // Where a function of baton.h stores a new handle. There is none yet.
  T** out() { return &handle_; }

 private:
  T* handle_ = nullptr;
};

using DeviceHandle = OwnedHandle<baton_device, baton_device_release>;
using StreamHandle = OwnedHandle<baton_stream, baton_stream_release>;
using EventHandle = OwnedHandle<baton_event, baton_event_release>;
using MemoryHandle = OwnedHandle<baton_memory, baton_memory_release>;
using KernelHandle = OwnedHandle<baton_kernel, baton_kernel_release>;
using BundleHandle = OwnedHandle<baton_bundle, baton_bundle_release>;
using ProgramHandle = OwnedHandle<baton_program, baton_program_release>;

}  // namespace baton::tvm_ffi
