#include "peer/epilogue_kernels.h"

#include <array>
#include <string>

#include "baton/image.h"
#include "peer/division.h"
#include "peer/kernels.h"
#include "peer/peer_memory.h"

namespace baton::peer {
namespace {

constexpr std::uint32_t kMostBlocksOfFinish = 1024;

}  // namespace

// In the order of the kernel's parameters.
struct EpilogueKernels::Arguments {
  DeviceAddress results = 0;
  unsigned long long elements = 0, of_block = 0;
  unsigned of_round = 0;
  Epilogue epilogue;

  std::array<void*, 5> places = {&results, &elements, &of_block, &of_round, &epilogue};
};

EpilogueKernels::EpilogueKernels(const Device& device)
    : device_(device),
      module_(Module::load(device, Image::from_static(kernels_ptx(false), "<all-reduces>"))),
      arguments_(std::make_unique<Arguments>()) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) plan_of(dtype);
}
EpilogueKernels::~EpilogueKernels() = default;

LaunchPlan& EpilogueKernels::plan_of(DType dtype) {
  const auto found = plans_.find(dtype);
  if (found != plans_.end()) return found->second;
  LaunchConfig config;
  config.grid = Dim3(1);
  config.block = Dim3(kThreads);
  config.stream = device_;
  // Placeholders: each launch brings its own.
  Arguments& a = *arguments_;
  const auto argument = [](const auto& value) {
    return Argument{&value, sizeof(value), false, std::nullopt};
  };
  const std::array<Argument, 5> arguments = {argument(a.results), argument(a.elements),
                                             argument(a.of_block), argument(a.of_round),
                                             argument(a.epilogue)};
  const Kernel kernel = module_.kernel("baton_finish_" + std::string(suffix_of(dtype).value()));
  return plans_.emplace(dtype, LaunchPlan(kernel, config, arguments)).first->second;
}

OwnLaunch EpilogueKernels::launch_of(const Step& step) {
  const Division division =
      division_of(step.count, size_of(step.dtype), step.epilogue.row, kMostBlocksOfFinish);
  Arguments& arguments = *arguments_;
  arguments.results = step.results;
  arguments.elements = step.count;
  arguments.of_block = division.of_block;
  arguments.of_round = division.of_round;
  arguments.epilogue = step.epilogue;
  LaunchPlan& plan = plan_of(step.dtype);
  plan.set_grid(Dim3(division.blocks));
  return {&plan, arguments.places.data()};
}

}  // namespace baton::peer
