#include "gemm_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "baton/error.h"

namespace baton::bench {

namespace {

constexpr std::int64_t kBoxBytes = 128;
constexpr std::int64_t kAlignment = 1024;  // of the ring

std::int64_t stage_bytes(const GemmShape& shape, const GemmPlan& plan) {
  return plan.boxes * (plan.rows + shape.batch) * kBoxBytes;
}

// The fewest rows a block that make one wave of `split` blocks for each share; 0 where none do.
int rows_for(const GemmShape& shape, int unit, int split, std::uint32_t processors) {
  for (int rows = unit; rows <= 256; rows += unit) {
    if (shape.rows % rows == 0 && shape.rows / rows * split <= processors) return rows;
  }
  return 0;
}

Error refusal(const GemmShape& shape, const std::string& why) {
  return Error(ErrorCode::kInvalidInput, fmt::format("{}: {}", shape.name(), why));
}

}  // namespace

float GemmShape::scale() const {
  return (fp8 ? 4.0f : 12.0f) / std::sqrt(static_cast<float>(columns));
}

std::string GemmShape::name() const {
  return fmt::format("{}, batch {}, {} x {}", fp8 ? "FP8" : "bf16", batch, rows, columns);
}

std::int64_t GemmPlan::shared(const GemmShape& shape) const {
  return stages * stage_bytes(shape, *this) + kAlignment;
}

GemmPlan plan_gemm(const GemmShape& shape, const GemmTuning& tuning, std::uint32_t processors) {
  if (shape.batch <= 0 || shape.batch % 8 != 0 || shape.batch > 64 || shape.rows <= 0 ||
      shape.rows % 16 != 0 || shape.columns <= 0 || shape.columns > 16384 ||
      shape.columns * shape.element() % kBoxBytes != 0) {
    throw refusal(
        shape,
        "it takes batches of 8, 16 … 64, a multiple of 16 rows, and at most 16384 columns "
        "that are a multiple of 128 bytes");
  }
  if (tuning.split < 1 || tuning.rows < 0 || tuning.stages < 0) {
    throw refusal(shape, fmt::format("--split {}, --rows {}, --stages {}: at least 1, 0 and 0",
                                     tuning.split, tuning.rows, tuning.stages));
  }
  const std::int64_t boxes = shape.columns * shape.element() / kBoxBytes;
  GemmPlan plan;
  // Large batches are read from shared memory by every warp for its own rows: then more rows each.
  plan.warp_rows = shape.batch >= 32 && shape.rows % 32 == 0 ? 32 : 16;
  plan.split = tuning.split;
  plan.rows =
      tuning.rows != 0 ? tuning.rows : rows_for(shape, plan.warp_rows, plan.split, processors);
  if (plan.rows == 0 || shape.rows % plan.rows != 0 || plan.rows % plan.warp_rows != 0 ||
      boxes % plan.split != 0 || shape.batch % plan.split != 0) {
    throw refusal(shape, fmt::format("it cannot be cut into blocks of {} rows, {} of them for each",
                                     plan.rows, plan.split));
  }
  for (plan.boxes = 4; plan.boxes > 1; plan.boxes /= 2) {
    if (plan.boxes * plan.rows <= 128 && boxes / plan.split % plan.boxes == 0) break;
  }
  for (plan.k_warps = 8; plan.k_warps > 1; plan.k_warps /= 2) {
    if (plan.rows / plan.warp_rows * plan.k_warps <= tuning.warps &&
        4 * plan.boxes % plan.k_warps == 0) {
      break;
    }
  }
  const std::int64_t steps = boxes / plan.split / plan.boxes;
  const std::int64_t fit = (tuning.shared - kAlignment) / stage_bytes(shape, plan);
  plan.stages = static_cast<int>(std::min(steps, tuning.stages != 0 ? tuning.stages : fit));
  const auto sums = [&] { return std::int64_t{4} * plan.k_warps * shape.batch * (plan.rows + 4); };
  while (plan.k_warps > 1 && sums() > plan.shared(shape) - kAlignment) plan.k_warps /= 2;
  if (plan.stages < 1 || sums() > plan.shared(shape) - kAlignment) {
    throw refusal(shape, fmt::format("{} bytes of shared memory hold no ring", tuning.shared));
  }
  return plan;
}

std::string gemm_prelude(const GemmShape& shape, const GemmPlan& plan, const GemmTuning& tuning,
                         const GemmVariant& variant) {
  const std::int64_t fill = tuning.fill / (plan.boxes * plan.rows * kBoxBytes);
  const std::int64_t early = std::clamp<std::int64_t>(fill, 1, plan.stages);
  return fmt::format(
      "#define FP8 {:d}\n#define BATCH {}\n#define COLUMNS {}\n#define ROWS {}\n"
      "#define WARP_ROWS {}\n#define K_WARPS {}\n#define SPLIT {}\n#define BOXES {}\n"
      "#define STAGES {}\n#define TRIGGER {:d}\n#define EARLY {}\n",
      shape.fp8, shape.batch, shape.columns, plan.rows, plan.warp_rows, plan.k_warps, plan.split,
      plan.boxes, plan.stages, static_cast<int>(variant.trigger), variant.early ? early : 0);
}

Program gemm_program(const GemmShape& shape, const GemmPlan& plan, const GemmTuning& tuning,
                     const GemmVariant& variant, bool chained) {
  const char* const dtype = shape.fp8 ? "f8e4m3" : "bf16";
  std::string text = fmt::format(
      "[symbols]\nM = {}\nN = {}\nK = {}\nPAIRS = {}\nBLOCKS = {}\nTHREADS = {}\nSHARED = {}\n",
      shape.batch, shape.rows, shape.columns, shape.pairs, plan.blocks(shape), plan.threads(),
      plan.shared(shape));
  const auto buffer = [&](const char* name, const char* type, const char* extents,
                          const char* role) {
    text += fmt::format("[buffers.{}]\ndtype = \"{}\"\nshape = {}\nrole = \"{}\"\n", name, type,
                        extents, role);
  };
  buffer("y", "bf16", "[\"PAIRS + 1\", \"M\", \"N\"]", "inout");
  buffer("norm", "bf16", "[\"K\"]", "weight");
  buffer("w", dtype, "[\"PAIRS\", \"N\", \"K\"]", "weight");
  buffer("a", dtype, "[\"M\", \"K\"]", "scratch");
  for (const char* kernel : {"rmsnorm", "gemm"}) {
    text += fmt::format(
        "[kernels.{}]\nsource = \"gemm_prefetch.cu\"\nentry = \"{}\"\nprelude = '''{}'''\n", kernel,
        kernel, gemm_prelude(shape, plan, tuning, variant));
  }
  text += fmt::format(
      R"toml([[steps]]
repeat = "PAIRS"
index  = "pair"
[[steps.steps]]
launch = "rmsnorm"
grid   = ["M"]
block  = [512]
args   = ["y + pair*M*N", "norm", "a", "N"]
pdl    = "{}"
{}
[[steps.steps]]
launch = "gemm"
grid   = ["BLOCKS"]
block  = ["THREADS"]
shared = "SHARED"
{}
args   = [
  {{ tensor_map = {{ buffer = "w + pair*N*K", shape = ["N", "K"], box = [{}, {}], swizzle = "128b", l2_promotion = "256b" }} }},
  {{ tensor_map = {{ buffer = "a", box = [{}, {}], swizzle = "128b" }} }},
  "y + (pair + 1)*M*N", "N", {{ f32 = {} }} ]
)toml",
      chained ? "auto" : "off",
      tuning.carveout < 0 ? std::string()
                          : fmt::format("preferred_shared_memory_carveout = {}", tuning.carveout),
      plan.split > 1 ? fmt::format("cluster = [{}]", plan.split) : std::string(), plan.rows,
      kBoxBytes / shape.element(), shape.batch, kBoxBytes / shape.element(), shape.scale());
  return Program::from_text(text, "gemm.toml", BATON_SOURCE_DIR "/bench/kernels");
}

}  // namespace baton::bench
