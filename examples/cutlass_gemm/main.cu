// A GEMM of CUTLASS as the second kernel of two, where the first one makes its matrix A: launched
// from an image that was built ahead, by Baton's own launch and through CUTLASS's host adapter,
// with and without programmatic dependent launch. Needs a GPU of compute capability 9.0.
#include <baton/baton.h>
#include <baton/cutlass.h>

#include <cstdio>
#include <cutlass/util/packed_stride.hpp>
#include <string>

#include "cutlass_gemm.baton.h"
#include "gemm.h"

namespace {

constexpr int kM = 1024, kN = 768, kK = 512;

// Small whole numbers, so that sums are exact in any order. The first kernel lets the GEMM begin as
// early as it may and takes its time to write, so that reading too early would show.
constexpr const char* kSource = R"(
#include <cuda_bf16.h>
#include <baton/device/pdl.cuh>

__device__ float a_of(int i, int run) { return float((i * 7 + run) % 5 - 2); }
__device__ float b_of(int i) { return float((i * 11) % 7 - 3); }

extern "C" __global__ void make_a(__nv_bfloat16* a, int n, int run) {
  baton::device::pdl_trigger();
  __nanosleep(20000);
  baton::device::pdl_wait();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = __float2bfloat16(a_of(i, run));
}

extern "C" __global__ void make_b(__nv_bfloat16* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = __float2bfloat16(b_of(i));
}

extern "C" __global__ void count_wrong(const __nv_bfloat16* d, int m, int n, int k, int run,
                                       unsigned* wrong) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a_of(row * k + i, run) * b_of(column * k + i);
  const float got = __bfloat162float(d[row * n + column]);
  if (got != __bfloat162float(__float2bfloat16(sum))) atomicAdd(wrong, 1);
}
)";

class Example {
 public:
  explicit Example(const baton::Device& device)
      : device_(device),
        own_(baton::compile(device, baton::Source::from_text(kSource, "cutlass_gemm.cu"))),
        stream_(device),
        a_(device, kM * kK),
        b_(device, kN * kK),
        d_(device, kM * kN),
        wrong_(device, 1) {
    own_.kernel("make_b").launch(over(kN * kK), b_, kN * kK);
    stream_.synchronize();
  }

  example::Gemm::Arguments arguments() const {
    const auto pointer = [](const auto& buffer) {
      return reinterpret_cast<example::Element*>(buffer.data().address);
    };
    using Kernel = example::GemmKernel;
    return {cutlass::gemm::GemmUniversalMode::kGemm,
            {kM, kN, kK, 1},
            {pointer(a_), cutlass::make_cute_packed_stride(Kernel::StrideA{}, {kM, kK, 1}),
             pointer(b_), cutlass::make_cute_packed_stride(Kernel::StrideB{}, {kN, kK, 1})},
            {{1.0f, 0.0f},
             pointer(d_),
             cutlass::make_cute_packed_stride(Kernel::StrideC{}, {kM, kN, 1}),
             pointer(d_),
             cutlass::make_cute_packed_stride(Kernel::StrideD{}, {kM, kN, 1})}};
  }

  // Runs `gemm` right after the kernel that makes A, and counts what is wrong in D.
  template <typename Launch>
  void expect_right(const char* how, Launch&& gemm) {
    ++run_;
    wrong_.upload(std::vector<unsigned>{0});
    own_.kernel("make_a").launch(over(kM * kK), a_, kM * kK, run_);
    gemm();
    baton::LaunchConfig count{
        .grid = {baton::ceil_div(kN, 256), kM}, .block = 256, .stream = stream_};
    own_.kernel("count_wrong").launch(count, d_, kM, kN, kK, run_, wrong_);
    stream_.synchronize();
    const unsigned wrong = wrong_.download()[0];
    std::printf("%-48s %s\n", how, wrong == 0 ? "right" : "WRONG");
    if (wrong != 0) {
      throw baton::Error(baton::ErrorCode::kMismatch,
                         std::string(how) + ": " + std::to_string(wrong) + " elements are wrong");
    }
  }

  const baton::Stream& stream() const { return stream_; }

 private:
  baton::LaunchConfig over(int elements) const {
    return {.grid = baton::ceil_div(elements, 256), .block = 256, .stream = stream_};
  }

  baton::Device device_;
  baton::Module own_;
  baton::Stream stream_;
  baton::Buffer<std::uint16_t> a_, b_, d_;  // the bits of bf16
  baton::Buffer<unsigned> wrong_;
  int run_ = 0;
};

void check(cutlass::Status status, const baton::CutlassAdapter& adapter) {
  if (status == cutlass::Status::kSuccess) return;
  if (adapter.error()) throw *adapter.error();
  throw baton::Error(baton::ErrorCode::kDriver, cutlassGetStatusString(status));
}

// The image through Baton alone: CUTLASS makes the parameters, which are one struct by value.
void launch_directly(Example& example, const baton::Kernel& kernel, bool early) {
  auto arguments = example.arguments();
  const auto parameters = example::GemmKernel::to_underlying_arguments(arguments, nullptr);
  const dim3 grid = example::Gemm::get_grid_shape(parameters);
  const dim3 block = example::GemmKernel::get_block_shape();
  baton::LaunchConfig config{.grid = {grid.x, grid.y, grid.z},
                             .block = {block.x, block.y, block.z},
                             .shared = example::GemmKernel::SharedStorageSize,
                             .stream = example.stream(),
                             .attributes = {baton::cluster(2)}};
  if (early) config.attributes.set(baton::pdl());
  example.expect_right(early ? "compiled image, PDL" : "compiled image",
                       [&] { kernel.launch(config, parameters); });
}

void launch_by_adapter(Example& example, baton::CutlassAdapter& adapter, bool early) {
  example::Gemm gemm;
  check(gemm.initialize(example.arguments(), nullptr, example.stream().native(), &adapter),
        adapter);
  example.expect_right(
      early ? "CUTLASS's run, host adapter, PDL" : "CUTLASS's run, host adapter",
      [&] { check(baton::run(gemm, example.stream().native(), adapter, early), adapter); });
}

void run() {
  const baton::Device device = baton::Device::open("cuda");
  std::printf("device: %s (%s)\n", device.spec().c_str(), device.name().c_str());
  // CUTLASS encodes tensor maps itself, in the context that is current.
  if (cudaSetDevice(device.native()) != cudaSuccess) {
    throw baton::Error(baton::ErrorCode::kDriver, "cudaSetDevice failed");
  }
  Example example(device);

  const baton::Kernel waits = baton::Module::load(device, cutlass_gemm::gdc()).kernel();
  baton::CutlassAdapter adapter(device, {waits});
  for (const bool early : {false, true}) {
    launch_directly(example, waits, early);
    launch_by_adapter(example, adapter, early);
  }

  // The same kernel built without CUTLASS's macro: its waits are empty functions.
  const baton::Kernel bare = baton::Module::load(device, cutlass_gemm::plain()).kernel();
  launch_directly(example, bare, false);
  baton::CutlassAdapter careless(device, {bare});
  try {
    launch_by_adapter(example, careless, true);
  } catch (const baton::Error& refusal) {
    if (refusal.code() != baton::ErrorCode::kInvalidInput) throw;
    std::printf("PDL without the macro is refused: %s\n", refusal.what());
    return;
  }
  throw baton::Error(baton::ErrorCode::kMismatch, "PDL on a kernel without a wait was not refused");
}

}  // namespace

int main() {
  try {
    run();
  } catch (const baton::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    // What a test takes for "skipped": there is no GPU.
    return error.code() == baton::ErrorCode::kNoDevice ? 77 : baton::exit_status(error.code());
  }
}
