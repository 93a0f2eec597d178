// The program of decode_layer.toml built in C++. A Program is a value: built once, checked when it
// is built, then prepared for a device and run as often as one likes.
#include <baton/executable.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

using baton::BufferInit;
using baton::BufferRole;
using baton::DType;

baton::Program decode_layer() {
  baton::ProgramBuilder builder("decode_layer");
  const baton::Expression k = builder.symbol("K", 2048);
  const baton::Expression n = builder.symbol("N", 5632);

  const auto input = [&](const char* name, DType dtype, std::vector<baton::Expression> shape,
                         BufferRole role) {
    builder.buffer({.name = name,
                    .dtype = dtype,
                    .shape = std::move(shape),
                    .role = role,
                    .init = BufferInit::kRandom});
  };
  input("x", DType::kF32, {k}, BufferRole::kInput);
  input("norm", DType::kF16, {k}, BufferRole::kWeight);
  input("up", DType::kF16, {n, k}, BufferRole::kWeight);
  input("down", DType::kF16, {k, n}, BufferRole::kWeight);
  builder.buffer({.name = "normed", .shape = {k}});
  builder.buffer({.name = "hidden", .shape = {n}});
  builder.buffer({.name = "active", .shape = {n}});
  builder.buffer({.name = "out", .shape = {k}, .role = BufferRole::kOutput});

  const auto kernel = [&](const char* name, const char* entry) {
    builder.kernel({.name = name,
                    .origin = baton::KernelOrigin::kSource,
                    .file = BATON_EXAMPLE_DIR "/decode_layer.cu",
                    .entry = entry});
  };
  kernel("rmsnorm", "rmsnorm<__half>");
  kernel("matvec", "matvec");
  kernel("silu", "silu");

  const auto inverse_root = [](const char* symbol) {
    return baton::TypedValue{DType::kF32,
                             baton::FloatExpression(std::string("1/sqrt(") + symbol + ")")};
  };
  builder.launch(
      {.kernel = "rmsnorm", .grid = {1}, .block = {256}, .args = {"x", "norm", "normed", k, 1e-5}});
  builder.launch({.kernel = "matvec",
                  .grid = {ceildiv(n, 8)},
                  .block = {256},
                  .args = {"up", "normed", "hidden", n, k, inverse_root("K")}});
  builder.launch({.kernel = "silu",
                  .grid = {ceildiv(n, 256)},
                  .block = {256},
                  .args = {"hidden", "active", n}});
  builder.launch({.kernel = "matvec",
                  .grid = {ceildiv(k, 8)},
                  .block = {256},
                  .args = {"down", "active", "out", k, n, inverse_root("N")}});
  return builder.build();
}

void run() {
  const baton::Program program = decode_layer();
  baton::Executable layer = baton::Executable::prepare(program, baton::Device::open());
  std::printf("device: %s\n", layer.device().spec().c_str());

  // The symbols could be given other values here, and the inputs arrays of the caller's.
  layer.bind();
  baton::RunOptions options;
  options.repeat = 3;
  const baton::RunReport& report = layer.run(options);
  for (const baton::StepReport& step : report.steps) {
    std::printf("%-8s %8.3f ms\n", step.label.c_str(), 1e3 * step.best_seconds.value_or(0));
  }

  const baton::Array& out = layer.output("out");
  float first[4];
  std::memcpy(first, out.bytes.data(), sizeof(first));
  std::printf("out = %g %g %g %g ...\n", first[0], first[1], first[2], first[3]);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const baton::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return baton::exit_status(error.code());
  }
}
