// The feed-forward halves of all layers of a language model, batch 1: RMSNorm, matvec, SiLU,
// matvec, with bf16 weights that are read once, so that memory sets the pace. How much of its
// bandwidth do streams, graphs and programmatic edges reach, and what does placement = "even" give?
//
// All arms run the same kernels (kernels/decode.cu) on the same weights; they differ in the
// executor, in where the kernels wait, and in how early blocks find room. Every sample's result is
// compared bit by bit between arms, and one layer with a reference on the host. Arms take turns.
// Printed are medians, the share of what a kernel that only reads reaches on the same weights in
// the same rounds, the share of the nominal bandwidth, and the median paired difference to the
// graph without PDL with its 95 % interval.
//
// A matvec's ring in shared memory is as deep as two blocks on a multiprocessor leave room for,
// unless --stages says how deep.
//
//   decode_chain [--device D] [--models 1b,8b,KxIxL] [--rounds N] [--stages N] [--trigger SUM]
//                [--blocks N] [--norm-threads N]

#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "bandwidth.h"
#include "baton/baton.h"
#include "baton/cuda.h"
#include "options.h"
#include "paired.h"
#include "turns.h"

namespace {

using namespace baton;

constexpr int kWarps = 16;

struct Model {
  std::string name;
  std::int64_t hidden = 0, inner = 0, layers = 0;

  std::int64_t up() const { return layers * 2 * inner * hidden; }
  std::int64_t down() const { return layers * hidden * inner; }
  std::int64_t bytes() const { return 2 * (up() + down() + layers * hidden); }
};

struct Tuning {
  int stages = 0;  // 0: as many as there is room for
  int trigger = 15, blocks = 0, norm_threads = 0;
  std::int64_t room = 0;  // shared memory that a block may take, in bytes

  // 16-byte copies that each lane of a matvec has in flight.
  std::int64_t stages_for(std::int64_t columns) const {
    if (stages != 0) return stages;
    return std::clamp<std::int64_t>((room - 2 * columns) / stage_bytes(), 1, kMostStages);
  }
  // The ring and the vector.
  std::int64_t shared_for(std::int64_t columns) const {
    return stages_for(columns) * stage_bytes() + 2 * columns;
  }

 private:
  static constexpr std::int64_t kMostStages = 32;
  static constexpr std::int64_t stage_bytes() { return std::int64_t{kWarps} * 32 * 16; }
};

std::string prelude(const Tuning& tuning, int pdl, std::int64_t columns) {
  return fmt::format("#define PDL {}\n#define TRIGGER {}\n#define STAGES {}\n", pdl, tuning.trigger,
                     tuning.stages_for(columns));
}

// How the kernels wait, and whether their early blocks are spread evenly.
struct Overlap {
  int pdl = 0;  // of kernels/decode.cu
  bool even = false;
};

Program decode_program(const Model& model, const Tuning& tuning, const Overlap& overlap) {
  std::string text = fmt::format(
      "[symbols]\nK = {}\nI = {}\nL = {}\nBLOCKS = {}\nNORM = {}\nUP_SHARED = {}\nDOWN_SHARED = "
      "{}\n",
      model.hidden, model.inner, model.layers, tuning.blocks, tuning.norm_threads,
      tuning.shared_for(model.hidden), tuning.shared_for(model.inner));
  const auto buffer = [&](const char* name, const char* dtype, const char* shape,
                          const char* role) {
    text += fmt::format("[buffers.{}]\ndtype = \"{}\"\nshape = {}\nrole = \"{}\"\n", name, dtype,
                        shape, role);
  };
  buffer("x", "f32", "[\"K\"]", "inout");
  text += "init = \"random\"\n";
  buffer("norm", "bf16", "[\"L\", \"K\"]", "weight");
  buffer("up", "bf16", "[\"L\", \"2*I\", \"K\"]", "weight");
  buffer("down", "bf16", "[\"L\", \"K\", \"I\"]", "weight");
  buffer("normed", "bf16", "[\"K\"]", "scratch");
  buffer("hidden", "f32", "[\"2*I\"]", "scratch");
  buffer("active", "bf16", "[\"I\"]", "scratch");
  for (const std::string kernel : {"rmsnorm", "silu", "matvec_put", "matvec_add"}) {
    const std::int64_t columns = kernel == "matvec_add" ? model.inner : model.hidden;
    text +=
        fmt::format("[kernels.{}]\nsource = \"decode.cu\"\nentry = \"{}\"\nprelude = '''{}'''\n",
                    kernel, kernel, prelude(tuning, overlap.pdl, columns));
    if (overlap.even) text += "launch = { placement = \"even\" }\n";
  }
  text += R"toml([[steps]]
repeat = "L"
index  = "layer"
[[steps.steps]]
launch = "rmsnorm"
grid   = [1]
block  = ["NORM"]
args   = ["x", "norm + layer*K", "normed", "K"]
[[steps.steps]]
launch = "matvec_put"
grid   = ["BLOCKS"]
block  = [512]
shared = "UP_SHARED"
args   = ["up + layer*2*I*K", "normed", "hidden", "2*I", "K", { f32 = "4/sqrt(K)"}]
[[steps.steps]]
launch = "silu"
grid   = ["ceildiv(I, 128)"]
block  = [128]
args   = ["hidden", "active", "I"]
[[steps.steps]]
launch = "matvec_add"
grid   = ["BLOCKS"]
block  = [512]
shared = "DOWN_SHARED"
args   = ["down + layer*K*I", "active", "x", "K", "I", { f32 = "4/sqrt(I)" }]
)toml";
  return Program::from_text(text, "decode.toml", BATON_SOURCE_DIR "/bench/kernels");
}

float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

float to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  bits += 0x7FFF + (bits >> 16 & 1);
  return from_bf16(static_cast<std::uint16_t>(bits >> 16));
}

// As make_weights has it.
float weight(std::uint64_t i) {
  const auto hash = static_cast<unsigned>(i * 0x9E3779B97F4A7C15ull >> 56);
  return to_bf16((static_cast<float>(hash) - 127.5f) / 256.0f);
}

// What the first layer makes of x.
std::vector<double> reference(const Model& model, const std::vector<float>& x) {
  const auto k = static_cast<std::size_t>(model.hidden), n = static_cast<std::size_t>(model.inner);
  double squares = 0;
  for (const float value : x) squares += double{value} * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(k) + 1e-5);
  std::vector<float> normed(k), active(n);
  for (std::size_t i = 0; i < k; ++i) {
    normed[i] = to_bf16(static_cast<float>(x[i] * scale * weight(i)));
  }
  const auto up = [&](std::size_t row) {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += double{weight(row * k + i)} * normed[i];
    return 4 / std::sqrt(static_cast<double>(k)) * sum;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const double gate = up(i);
    active[i] = to_bf16(static_cast<float>(gate / (1 + std::exp(-gate)) * up(i + n)));
  }
  std::vector<double> result(x.begin(), x.end());
  for (std::size_t row = 0; row < k; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += double{weight(row * n + i)} * active[i];
    result[row] += 4 / std::sqrt(static_cast<double>(n)) * sum;
  }
  return result;
}

// The weights of all layers, once for all arms.
class Weights {
 public:
  Weights(const Device& device, const Model& model, const Module& module)
      : model_(model),
        stream_(device),
        sink_(device, sizeof(unsigned)),
        read_(compile(device, Source::from_file(BATON_SOURCE_DIR "/bench/kernels/read_all.cu"))
                  .kernel("read_all")),
        begin_(device),
        end_(device),
        processors_(device.limits().multiprocessors) {
    const Kernel make = module.kernel("make_weights");
    for (const std::int64_t count : {model.layers * model.hidden, model.up(), model.down()}) {
      const Memory& memory = memories_.emplace_back(device, static_cast<std::size_t>(2 * count));
      make.launch({.grid = processors_ * 8, .block = 256, .stream = stream_},
                  DevicePointer<void>{memory.address()}, static_cast<std::uint64_t>(count));
    }
    stream_.synchronize();
  }

  // Of the first layers.
  Bindings bindings(std::int64_t layers) const {
    const std::int64_t k = model_.hidden, n = model_.inner;
    Bindings result;
    result.memory = {{"norm", {DType::kBF16, {layers, k}, memories_[0].address()}},
                     {"up", {DType::kBF16, {layers, 2 * n, k}, memories_[1].address()}},
                     {"down", {DType::kBF16, {layers, k, n}, memories_[2].address()}}};
    return result;
  }

  // How long a kernel takes that does nothing but read them all, in seconds.
  double read() {
    begin_.record(stream_);
    for (const Memory& memory : memories_) {
      read_.launch({.grid = processors_ * 8, .block = 256, .stream = stream_},
                   DevicePointer<const void>{memory.address()},
                   static_cast<std::uint64_t>(memory.bytes() / 16),
                   DevicePointer<void>{sink_.address()});
    }
    end_.record(stream_);
    end_.synchronize();
    return elapsed_seconds(begin_, end_);
  }

 private:
  const Model model_;
  Stream stream_;
  Memory sink_;
  Kernel read_;
  Event begin_, end_;
  std::uint32_t processors_;
  std::vector<Memory> memories_;  // norm, up, down
};

Executable prepare(const Device& device, const Model& model, const Tuning& tuning,
                   const Overlap& overlap, ExecutorKind executor) {
  PrepareOptions options;
  options.executor = executor;
  options.pdl = overlap.pdl == 0 ? PdlMode::kOff : PdlMode::kAuto;
  return Executable::prepare(decode_program(model, tuning, overlap), device, options);
}

std::vector<float> floats(const Array& array) {
  std::vector<float> result(array.bytes.size() / sizeof(float));
  std::memcpy(result.data(), array.bytes.data(), array.bytes.size());
  return result;
}

// The first layer alone, checked against the host's reference.
void check_layer(const Device& device, Model model, const Tuning& tuning, const Overlap& overlap,
                 const Weights& weights) {
  model.layers = 1;
  std::vector<float> x(static_cast<std::size_t>(model.hidden));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = weight(i + 7);
  Array input{DType::kF32, {model.hidden}, std::string(4 * x.size(), '\0')};
  std::memcpy(input.bytes.data(), x.data(), input.bytes.size());
  Bindings bindings = weights.bindings(1);
  bindings.inputs = {{"x", std::move(input)}};
  Executable executable = prepare(device, model, tuning, overlap, ExecutorKind::kGraph);
  executable.bind(std::move(bindings));
  executable.run();
  const std::vector<float> got = floats(executable.output("x"));
  const std::vector<double> want = reference(model, x);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::abs(got[i] - want[i]) <= 2e-2 + 2e-2 * std::abs(want[i])) continue;
    throw Error(ErrorCode::kMismatch,
                fmt::format("{}: element {} of one layer is {}, the reference has {}", model.name,
                            i, got[i], want[i]));
  }
}

struct Arm {
  std::string name;
  Overlap overlap;
  ExecutorKind executor = ExecutorKind::kGraph;
};

const std::vector<Arm> kArms = {
    {"stream", {0}, ExecutorKind::kStream},
    {"graph", {0}},
    {"graph, PDL", {1}},
    {"graph, PDL, even", {1, true}},
    {"graph, PDL, weights before the wait", {2}},
    {"graph, PDL, weights before it, even", {2, true}},
};
constexpr std::size_t kPlainGraph = 1;

void check_edges(const Device& device, const Model& model, const Arm& arm,
                 const RunReport& report) {
  if (!report.graph) return;
  const bool early = arm.overlap.pdl != 0 && device.architecture() >= 90;
  const auto want = static_cast<std::uint64_t>(early ? 4 * model.layers - 1 : 0);
  if (report.graph->programmatic_edges == want) return;
  throw Error(ErrorCode::kMismatch, fmt::format("{}: {} programmatic edges, not {}", arm.name,
                                                report.graph->programmatic_edges, want));
}

// Shared memory for each of two blocks on one multiprocessor, in bytes, less a little for small
// kernels beside them.
std::int64_t room_for_two(const Device& device) {
  constexpr std::int64_t kSmallKernels = 4096;
  const std::int64_t reserved =
      device.attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  const auto all = static_cast<std::int64_t>(device.limits().shared_per_multiprocessor);
  return (all - kSmallKernels) / 2 - reserved;
}

void measure(const Device& device, const Model& model, const Tuning& tuning, int rounds) {
  constexpr int kNormFloats = 16;  // that one thread of rmsnorm has room for
  if (model.hidden > kNormFloats * tuning.norm_threads) {
    throw Error(ErrorCode::kInvalidInput,
                fmt::format("--norm-threads {}: {} floats take at least {} threads",
                            tuning.norm_threads, model.hidden, model.hidden / kNormFloats));
  }
  Source source = Source::from_file(BATON_SOURCE_DIR "/bench/kernels/decode.cu");
  source.prelude = prelude(tuning, 0, model.hidden);
  Weights weights(device, model, compile(device, source));
  for (const Arm& arm : kArms) check_layer(device, model, tuning, arm.overlap, weights);

  std::vector<Executable> executables;
  for (const Arm& arm : kArms) {
    Executable& executable =
        executables.emplace_back(prepare(device, model, tuning, arm.overlap, arm.executor));
    executable.bind(weights.bindings(model.layers));
  }
  std::string result;
  const auto sample = [&](std::size_t arm) {
    if (arm == kArms.size()) return weights.read();
    const RunReport& report = executables[arm].run({.repeat = 2, .time_steps = false});
    const std::string& bytes = executables[arm].output("x").bytes;
    if (result.empty()) result = bytes;
    if (bytes != result) {
      throw Error(ErrorCode::kMismatch, kArms[arm].name + ": the result differs from others'");
    }
    check_edges(device, model, kArms[arm], report);
    return report.run_seconds.back();
  };
  const auto times = bench::take_turns(kArms.size() + 1, rounds, sample);

  const auto bytes = static_cast<double>(model.bytes());
  const double read = bench::median(times.back());
  const double nominal = bytes / bench::nominal_bandwidth(device);
  fmt::print(
      "\n{}: {} layers of {} and {}, {:.2f} GB of weights, {} rounds; rings of {} and {} stages\n",
      model.name, model.layers, model.hidden, model.inner, bytes / 1e9, rounds,
      tuning.stages_for(model.hidden), tuning.stages_for(model.inner));
  fmt::print("  {:<36} {:10.1f} us, {:.2f} TB/s\n", "reading alone", 1e6 * read,
             bytes / read / 1e12);
  for (std::size_t i = 0; i < kArms.size(); ++i) {
    const double time = bench::median(times[i]);
    const auto difference = bench::paired_difference(times[i], times[kPlainGraph]);
    const double whole = bench::median(times[kPlainGraph]) / 100;
    fmt::print(
        "  {:<36} {:10.1f} us, {:5.1f} % of measured, {:5.1f} % of nominal   {:+.1f} % [{:+.1f}, "
        "{:+.1f}]\n",
        kArms[i].name, 1e6 * time, 100 * read / time, 100 * nominal / time,
        difference.median / whole, difference.low / whole, difference.high / whole);
  }
}

Model model_named(const std::string& name) {
  if (name == "1b") return {"Llama-3.2-1B", 2048, 8192, 16};
  if (name == "8b") return {"Llama-3-8B", 4096, 14336, 32};
  Model model{name};
  if (std::sscanf(name.c_str(), "%ldx%ldx%ld", &model.hidden, &model.inner, &model.layers) == 3 &&
      model.hidden % 256 == 0 && model.inner % 256 == 0 && model.hidden > 0 && model.inner > 0 &&
      model.layers > 0) {
    return model;
  }
  throw Error(
      ErrorCode::kInvalidInput,
      fmt::format("--models {}: it takes 1b, 8b, or HIDDENxINNERxLAYERS with multiples of 256",
                  name));
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Options options(argc, argv);
  const Device device = Device::open(options.text("--device", "cuda"));
  Tuning tuning;
  tuning.stages = options.number("--stages", 0);
  tuning.trigger = options.number("--trigger", 15);
  tuning.norm_threads = options.number("--norm-threads", 512);
  tuning.blocks = options.number("--blocks", static_cast<int>(device.limits().multiprocessors));
  tuning.room = room_for_two(device);
  fmt::print(
      "{} ({}), driver of CUDA {}.{}; {} blocks, triggers at the top: {}, RMSNorm of {} threads\n",
      device.spec(), device.name(), device.driver_version() / 1000,
      device.driver_version() % 1000 / 10, tuning.blocks, tuning.trigger, tuning.norm_threads);
  std::istringstream models(options.text("--models", "1b,8b"));
  for (std::string name; std::getline(models, name, ',');) {
    measure(device, model_named(name), tuning, options.number("--rounds", 30));
  }
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
