#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tvm_ffi/handle.h"
#include "tvm_ffi/target.h"

namespace baton::tvm_ffi {

// Tensors in host memory as memory of the simulated GPU, for the time of a call. Tensors that
// overlap share their memory on the device, too.
class HostTensors {
 public:
  // The tensor must be contiguous and stay until `download`. `what` is its name in messages and
  // findings. Throws Failure.
  void add(const baton_tensor& tensor, std::string what, bool written);

  // Allocates, and enqueues copies of all tensors to the device.
  void upload(const OpenDevice& device, const baton_stream* stream);
  // The tensor that was added as the `index`th, in memory of the device.
  baton_tensor on_device(std::size_t index) const;
  // Enqueues copies of what was written back to the host.
  void download(const baton_stream* stream) const;

 private:
  struct Given {
    baton_tensor tensor;
    std::byte* begin;
    std::size_t bytes;
    bool written;
    std::string name;
    std::size_t group = 0;  // in `groups_`
  };
  // Tensors that overlap.
  struct Group {
    std::byte* begin;
    std::byte* end;
    bool written;
    std::string name;
    MemoryHandle memory = {};
    std::byte* address = nullptr;

    std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
    std::size_t lead() const;
  };
  void make_groups();

  std::vector<Given> given_;
  std::vector<Group> groups_;
  std::int32_t ordinal_ = 0;
};

}  // namespace baton::tvm_ffi
