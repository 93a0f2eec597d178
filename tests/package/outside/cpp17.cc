// A program in C++17: what an engine does with Baton, compiled without a warning.
#include <baton/baton.h>

#include <cstdio>
#include <vector>

#if BATON_VERSION_MAJOR == 0 && BATON_VERSION_MINOR < 1
#error "a version before this interface"
#endif

namespace {

constexpr const char* kScale =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry scale(.param .u64 y, .param .f32 a) {\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .f32 %f<4>;\n"
    "ld.param.u64 %rd1, [y]; ld.param.f32 %f1, [a]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "ld.global.f32 %f2, [%rd3]; mul.f32 %f3, %f2, %f1; st.global.f32 [%rd3], %f3; ret; }\n";

bool launches(const baton::Device& device) {
  const baton::Image image = baton::Image::from_bytes(kScale, "scale.ptx");
  const baton::Kernel scale = baton::Module::load(device, image).kernel("scale");
  const std::vector<float> values(64, 2.0f);
  const auto y = baton::Buffer<float>::of(device, values);
  const baton::Stream stream(device);
  baton::LaunchConfig config;
  config.grid = 1;
  config.block = 64;
  config.stream = stream;
  config.attributes.set(baton::priority(0));
  scale.launch(config, y, 3.0f);
  baton::LaunchPlan plan = baton::LaunchPlan::make(scale, config, y, 2.0f);
  plan.launch();
  plan.set(1, 0.5f);
  plan.launch();
  stream.synchronize();
  return y.download() == std::vector<float>(64, 6.0f);
}

bool runs_a_program(const baton::Device& device) {
  baton::ProgramBuilder builder("cpp17");
  const baton::Expression n = builder.symbol("N", 32);
  baton::ProgramBuffer y;
  y.name = "y";
  y.shape = {n};
  y.role = baton::BufferRole::kInout;
  y.init = baton::BufferInit::kOnes;
  builder.buffer(y);
  baton::ProgramKernel kernel;
  kernel.name = "scale";
  kernel.origin = baton::KernelOrigin::kImage;
  kernel.image = baton::Image::from_bytes(kScale, "scale.ptx");
  builder.kernel(kernel);
  baton::LaunchStep step;
  step.kernel = "scale";
  step.grid = {1};
  step.block = {n};
  step.args = {"y", 5.0};
  builder.launch(step);
  const baton::LoadedProgram loaded = baton::LoadedProgram::load(builder.build(), device);
  baton::Executable executable(loaded);
  executable.bind();
  executable.set({{"N", 32}});
  const baton::Stream stream(device);
  executable.initialise(stream);
  executable.enqueue(stream);
  executable.wait(stream);
  return executable.run().findings.empty() && executable.output("y").elements() == 32;
}

bool fails_as_a_value() {
  const auto device = baton::attempt([] { return baton::Device::open("nonsense"); });
  const auto nothing = baton::attempt([] {});
  return !device && device.error()->code() == baton::ErrorCode::kInvalidInput && nothing.ok();
}

}  // namespace

int main() {
  try {
    const baton::Device device = baton::Device::open("sim:tiny");
    if (launches(device) && runs_a_program(device) && fails_as_a_value()) {
      std::puts("all right");
      return 0;
    }
  } catch (const baton::Error& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
  }
  return 1;
}
