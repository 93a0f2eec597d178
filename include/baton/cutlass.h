#pragma once

// For programs that launch CUTLASS kernels from images: a cutlass::CudaHostAdapter that launches
// through Baton and supports `launch_with_pdl`. Compile it with nvcc, CUTLASS's headers and
// -DCUTLASS_ENABLE_CUDA_HOST_ADAPTER=1. It links the CUDA runtime, as CUTLASS does.

#include <cuda_runtime_api.h>

#include <cstring>
#include <cutlass/cuda_host_adapter.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "baton/attributes.h"
#include "baton/buffer.h"
#include "baton/cuda.h"
#include "baton/device.h"
#include "baton/error.h"
#include "baton/launch.h"
#include "baton/module.h"

namespace baton {

// Launches kernels of loaded modules for CUTLASS. CUTLASS encodes tensor maps itself, so the
// device's context must be current then (cudaSetDevice). CUTLASS returns a status without a reason:
// after kErrorInternal, `error()` has the reason. One thread at a time. Keeps the kernels and the
// device alive; the caller owns the streams.
class CutlassAdapter : public cutlass::CudaHostAdapter {
 public:
  using Status = cutlass::Status;

  // The kernels by CUTLASS's index. An operation with one kernel has it at index 0. Throws kLimit
  // for more kernels than an adapter holds.
  CutlassAdapter(const Device& device, std::vector<Kernel> kernels)
      : device_(device), kernels_(std::move(kernels)) {
    if (kernels_.size() > static_cast<std::size_t>(kMaximumKernelCount)) {
      throw Error(ErrorCode::kLimit, "a CUTLASS adapter holds " +
                                         std::to_string(kMaximumKernelCount) + " kernels, " +
                                         std::to_string(kernels_.size()) + " were given");
    }
    kernel_count = static_cast<std::int32_t>(kernels_.size());
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      kernel_handles[i] = const_cast<void*>(static_cast<const void*>(&kernels_[i]));
    }
  }
  CutlassAdapter(const CutlassAdapter&) = delete;
  CutlassAdapter& operator=(const CutlassAdapter&) = delete;

  // Sets whether later launches may start before the kernel before them has completed. CUTLASS
  // rejects its own `launch_with_pdl` together with an adapter; `run` below passes it on. Throws
  // kInvalidInput for a kernel without a wait, because a launch with PDL would be a race.
  void set_pdl(bool on) {
    if (on) {
      for (const Kernel& kernel : kernels_) require_wait(kernel.facts());
    }
    pdl_ = on;
  }

  // The reason of the last failed call; empty after a successful one.
  const std::optional<Error>& error() const { return error_; }

  Status query_occupancy(std::int32_t* device_sms, std::int32_t* sm_occupancy,
                         std::int32_t kernel_index, std::int32_t thread_count,
                         std::int32_t smem_size) const override {
    return attempt([&] {
      LaunchConfig config{.block = static_cast<std::uint32_t>(thread_count),
                          .shared = static_cast<std::uint32_t>(smem_size),
                          .stream = device_};
      *sm_occupancy =
          static_cast<std::int32_t>(kernel(kernel_index).blocks_per_multiprocessor(config));
      *device_sms = static_cast<std::int32_t>(device_.limits().multiprocessors);
    });
  }

  Status launch(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, void** parameters,
                std::int32_t kernel_index) const override {
    return launch(grid, dim3(1), dim3(0, 0, 0), block, shared, stream, parameters, kernel_index);
  }

  Status launch(dim3 grid, dim3 cluster, dim3 block, std::size_t shared, cudaStream_t stream,
                void** parameters, std::int32_t kernel_index) const override {
    return launch(grid, cluster, dim3(0, 0, 0), block, shared, stream, parameters, kernel_index);
  }

  // With a fallback, `cluster` is the preferred cluster.
  Status launch(dim3 grid, dim3 cluster, dim3 fallback, dim3 block, std::size_t shared,
                cudaStream_t stream, void** parameters, std::int32_t kernel_index) const override {
    return attempt([&] {
      LaunchConfig config{.grid = {grid.x, grid.y, grid.z},
                          .block = {block.x, block.y, block.z},
                          .shared = dynamic_shared_bytes(shared),
                          .stream = {stream, device_}};
      const Dim3 wanted{cluster.x, cluster.y, cluster.z};
      if (fallback.x * fallback.y * fallback.z != 0) {
        config.attributes.set(baton::cluster({fallback.x, fallback.y, fallback.z}));
        config.attributes.set(preferred_cluster(wanted));
      } else if (cluster.x * cluster.y * cluster.z > 1) {
        config.attributes.set(baton::cluster(wanted));
      }
      if (pdl_) config.attributes.set(pdl());
      const std::span<const CUlaunchAttribute> more(launch_attributes.data(),
                                                    launch_attributes.size());
      const Kernel& launched = kernel(kernel_index);
      const NativeResult result = launched.launch_raw(config, parameters, as_attributes(more));
      if (result != 0) throw launched.diagnose(config, result);
    });
  }

  CUresult tensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* extents,
                                 const cuuint64_t* strides, const int* lower, const int* upper,
                                 cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill fill) const override {
    return CUTLASS_CUDA_DRIVER_WRAPPER_CALL(cuTensorMapEncodeIm2col)(
        map, type, rank, address, extents, strides, lower, upper, channels, pixels, element_strides,
        interleave, swizzle, promotion, fill);
  }

  CUresult tensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* extents, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) const override {
    return CUTLASS_CUDA_DRIVER_WRAPPER_CALL(cuTensorMapEncodeTiled)(
        map, type, rank, address, extents, strides, box, element_strides, interleave, swizzle,
        promotion, fill);
  }

  CUresult tensorMapReplaceAddress(CUtensorMap* map, void* address) const override {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion("cuTensorMapReplaceAddress", &function, 12000,
                                         cudaEnableDefault, &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    return reinterpret_cast<CUresult (*)(CUtensorMap*, void*)>(function)(map, address);
  }

 protected:
  Status memsetDeviceImpl(void* destination, const void* value, std::size_t width,
                          std::size_t count, cudaStream_t stream) const override {
    return attempt([&] {
      std::uint64_t bits = 0;
      if (width > sizeof(bits)) {
        throw Error(ErrorCode::kInvalidInput,
                    "device memory is filled with values of 1, 2, 4 or 8 "
                    "bytes, CUTLASS asks for " +
                        std::to_string(width));
      }
      std::memcpy(&bits, value, width);
      Memory::adopt(device_, reinterpret_cast<DeviceAddress>(destination), width * count)
          .fill(bits, static_cast<unsigned>(width), count, 0, Stream::adopt(device_, stream));
    });
  }

 private:
  const Kernel& kernel(std::int32_t index) const {
    if (index < 0 || index >= kernel_count) {
      throw Error(ErrorCode::kInvalidInput, "CUTLASS asks for kernel " + std::to_string(index) +
                                                ", the adapter has " +
                                                std::to_string(kernel_count));
    }
    return kernels_[static_cast<std::size_t>(index)];
  }

  static void require_wait(const KernelFacts& facts) {
    if (facts.waits.value_or(true)) return;
    const std::optional<std::string> cause = missing_wait_cause(facts);
    throw Error(ErrorCode::kInvalidInput, "PDL was asked for, but the kernel " + facts.demangled +
                                              " never waits (griddepcontrol.wait)" +
                                              (cause ? "; " + *cause : ""));
  }

  template <typename Work>
  Status attempt(Work&& work) const {
    try {
      work();
      error_.reset();
      return Status::kSuccess;
    } catch (const Error& failure) {
      error_ = failure;
      return Status::kErrorInternal;
    }
  }

  Device device_;
  std::vector<Kernel> kernels_;
  bool pdl_ = false;
  mutable std::optional<Error> error_;
};

// Does `gemm.run(stream, &adapter, launch_with_pdl)` for an initialised operation of CUTLASS.
// CUTLASS itself rejects that flag together with an adapter.
template <typename Operation>
cutlass::Status run(Operation& operation, cudaStream_t stream, CutlassAdapter& adapter,
                    bool launch_with_pdl) {
  adapter.set_pdl(launch_with_pdl);
  return operation.run(stream, &adapter);
}

}  // namespace baton
