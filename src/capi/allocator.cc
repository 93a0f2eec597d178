#include "capi/allocator.h"

#include "base/error.h"
#include "base/text/text.h"
#include "baton/device.h"

namespace baton::capi {
namespace {

class GivenAllocator : public Allocator {
 public:
  explicit GivenAllocator(const baton_allocator& functions) : functions_(functions) {}
  ~GivenAllocator() override {
    if (functions_.release != nullptr) functions_.release(functions_.data);
  }

  DeviceAddress allocate(const Device& device, std::size_t bytes) override {
    const OwnHandle handle(device);
    void* address = nullptr;
    baton_error* const failure =
        functions_.allocate(functions_.data, handle.device, bytes, &address);
    if (failure == nullptr) return reinterpret_cast<DeviceAddress>(address);
    Error thrown = error_of(failure);
    baton_error_release(failure);
    throw std::move(
        thrown.note("the allocator was asked for " + format_bytes(bytes) + " on " + device.spec()));
  }

  void free(const Device& device, DeviceAddress address, std::size_t bytes) noexcept override {
    const OwnHandle handle(device);
    functions_.free(functions_.data, handle.device, reinterpret_cast<void*>(address), bytes);
  }

 private:
  // The device as the functions of the caller take it, while they are called.
  struct OwnHandle {
    explicit OwnHandle(const Device& on) : device(make_handle<baton_device>(on)) {}
    OwnHandle(const OwnHandle&) = delete;
    ~OwnHandle() { release(device); }
    baton_device* device;
  };

  const baton_allocator functions_;
};

}  // namespace

std::shared_ptr<Allocator> given_allocator(const Call& call, const baton_allocator* allocator) {
  if (allocator == nullptr) return nullptr;
  const baton_allocator given = call.read(allocator, BATON_ALLOCATOR_INIT, "allocator");
  call.require_function(given.allocate, "allocator->allocate");
  call.require_function(given.free, "allocator->free");
  return std::make_shared<GivenAllocator>(given);
}

}  // namespace baton::capi
