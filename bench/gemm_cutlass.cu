// CUTLASS's example 63, "hopper_gemm_with_weight_prefetch", as it stands there, but for the types
// of normed values and results, which are those of this benchmark: e4m3 and bf16. Compiled by nvcc
// for sm_90a with CUTLASS_ENABLE_GDC_FOR_SM90, CUTLASS's headers and the example's own.
#include <cutlass/cutlass.h>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/numeric_types.h>

#include <cute/tensor.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/epilogue/dispatch_policy.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/dispatch_policy.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

#include "baton/error.h"
#include "collective/builder.hpp"
#include "collective/dispatch_policy_extra.hpp"
#include "gemm_foreign.h"
#include "kernel/sm90_gemm_tma_warpspecialized_with_prefetch.hpp"

namespace baton::bench {

namespace {

using Weight = cutlass::float_e4m3_t;
using Out = cutlass::bfloat16_t;
using Rows = cutlass::layout::RowMajor;
using Columns = cutlass::layout::ColumnMajor;
using Tile = cute::Shape<cute::_64, cute::_64, cute::_128>;
using Cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;
constexpr int kAlignment = 16 / sizeof(Weight), kOutAlignment = 16 / sizeof(Out);

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, Out, Columns, kOutAlignment, Out,
    Columns, kOutAlignment, cutlass::epilogue::TmaWarpSpecialized>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Weight, Rows, kAlignment, Weight, Columns,
    kAlignment, float, Tile, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>,
    cutlass::gemm::KernelTmaWarpSpecializedFP8FastAccumWithPrefetchAndSplitDMA>::CollectiveOp;
using Kernel =
    cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

// `overlap`: how many of its copies are on their way when the next kernel is let in; below 0 there
// is no PDL. `prefetch`: of half of the weights, how many are brought to L2 before the wait.
struct Ratios {
  const char* name;
  float overlap, prefetch;
};

class CutlassGemm : public ForeignGemm {
 public:
  CutlassGemm(const GemmShape& shape, Ratios ratios) : shape_(shape), ratios_(ratios) {}

  void enqueue(CUdeviceptr weights, CUdeviceptr in, CUdeviceptr out, CUstream stream) override {
    const auto pointer = [](auto type, CUdeviceptr address) {
      return reinterpret_cast<decltype(type)*>(address);
    };
    const int m = static_cast<int>(shape_.rows), n = static_cast<int>(shape_.batch),
              k = static_cast<int>(shape_.columns);
    const auto c = cutlass::make_cute_packed_stride(Kernel::StrideC{}, {m, n, 1});
    typename Gemm::Arguments arguments{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {m, n, k, 1},
        {pointer(Weight{}, weights), cutlass::make_cute_packed_stride(Kernel::StrideA{}, {m, k, 1}),
         pointer(Weight{}, in), cutlass::make_cute_packed_stride(Kernel::StrideB{}, {n, k, 1})},
        {{shape_.scale(), 0.0f}, pointer(Out{}, out), c, pointer(Out{}, out), c}};
    arguments.mainloop.overlap_ratio = ratios_.overlap;
    arguments.mainloop.prefetch_ratio = ratios_.prefetch;
    Gemm gemm;
    check(gemm.can_implement(arguments));
    check(gemm.initialize(arguments, nullptr, stream));
    check(gemm.run(stream, nullptr, ratios_.overlap >= 0));
  }

 private:
  static void check(cutlass::Status status) {
    if (status == cutlass::Status::kSuccess) return;
    throw Error(ErrorCode::kDriver, cutlassGetStatusString(status));
  }

  GemmShape shape_;
  Ratios ratios_;
};

}  // namespace

ForeignGemms cutlass_gemms(const GemmShape& shape) {
  if (!shape.fp8) return {{}, "example 63 is of FP8 alone"};
  ForeignGemms result;
  // The first one is what the example's command line has.
  for (const Ratios ratios :
       {Ratios{"overlap 0.5, prefetch 0.5", 0.5f, 0.5f},
        Ratios{"overlap 0.5, prefetch 0", 0.5f, 0.0f},
        Ratios{"overlap 0.5, prefetch 0.25", 0.5f, 0.25f},
        Ratios{"overlap 0.5, prefetch 1", 0.5f, 1.0f}, Ratios{"overlap 1, prefetch 0", 1.0f, 0.0f},
        Ratios{"overlap 1, prefetch 0.5", 1.0f, 0.5f}, Ratios{"no PDL", -1.0f, -1.0f}}) {
    result.gemms.push_back(
        {ratios.name, ratios.overlap >= 0, std::make_unique<CutlassGemm>(shape, ratios)});
  }
  return result;
}

}  // namespace baton::bench
