// What a link costs in a chain of dependent kernels: launched into a stream and as a graph, each by
// hand, with bare driver calls, and by Baton's executors, with full and with programmatic edges; as
// a graph of kernels without PDL that Baton rewrites; and in one cooperative grid that meets at a
// barrier instead.
//
// Every kernel adds 1 to what the one before it wrote, so the result tells whether any of them read
// too early; every sample is checked. A sample is one chain between two events, with full edges
// before and after it, after another one that warms the caches. Arms work on the same memory, and
// take turns, in an order that turns too. The types of graphs' edges are read back from the driver.
// Printed are microseconds a link, medians over the rounds, and of Baton's arms the median paired
// difference to the same by hand with its 95 % interval.
//
//   graph_chain [--device D] [--links N] [--sizes N,N,...] [--rounds N] [--trigger none|loads|top]
//     [--memory shared|own]

#include <fmt/core.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "baton/baton.h"
#include "driver/driver.h"
#include "graph_edges.h"
#include "options.h"
#include "paired.h"
#include "runtime/context.h"
#include "turns.h"

namespace {

using namespace baton;
using baton::bench::median;
using baton::bench::paired_difference;

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kMostBlocks = 528;  // four for each SM of an H200

// Four floats a thread and step. PDL: the wait stands before the first access of memory; TRIGGER
// says where the next kernel is let in.
const char* const kSource = R"(
#include <baton/device/pdl.cuh>
#include <cooperative_groups.h>
template <bool kPdl>
__device__ void add_one(const float4* from, float4* to, unsigned count) {
  if (kPdl && TRIGGER == 2) baton::device::pdl_trigger();
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  if (kPdl) baton::device::pdl_wait();
  for (unsigned i = first; i < count; i += gridDim.x * blockDim.x) {
    float4 value = from[i];
    if (kPdl && TRIGGER == 1 && i + gridDim.x * blockDim.x >= count) baton::device::pdl_trigger();
    value.x += 1; value.y += 1; value.z += 1; value.w += 1;
    to[i] = value;
  }
}
extern "C" __global__ void plain(const float4* from, float4* to, unsigned count) {
  add_one<false>(from, to, count);
}
extern "C" __global__ void waits(const float4* from, float4* to, unsigned count) {
  add_one<true>(from, to, count);
}
// All links in one cooperative grid, apart by the runtime's barrier.
extern "C" __global__ void synchronized(float4* x, float4* y, unsigned count, unsigned links,
                                        unsigned*, unsigned) {
  for (unsigned link = 0; link < links; ++link) {
    add_one<false>(link % 2 ? y : x, link % 2 ? x : y, count);
    cooperative_groups::this_grid().sync();
  }
}
// The same with a barrier of its own: each block counts itself in, and looks until all have. The
// count is never taken back; it was `before` at the start.
extern "C" __global__ void counted(float4* x, float4* y, unsigned count, unsigned links,
                                   unsigned* arrived, unsigned before) {
  for (unsigned link = 0; link < links; ++link) {
    add_one<false>(link % 2 ? y : x, link % 2 ? x : y, count);
    before += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
      } while (static_cast<int>(seen - before) < 0);
    }
    __syncthreads();
  }
}
)";

struct Shape {
  std::int64_t floats = 0;  // a multiple of four
  std::uint32_t links = 0;  // an even number: the last result is where the first input was
  std::string trigger;
  bool own_memory = false;  // each arm's

  std::uint32_t vectors() const { return static_cast<std::uint32_t>(floats / 4); }
  std::uint32_t blocks() const {
    return std::min((vectors() + kThreads - 1) / kThreads, kMostBlocks);
  }
};

// What arms work on. Where it lies decides how near the cache is and how much of several MiB stays
// there, so arms that are compared share it.
struct Memories {
  Memories(const Device& device, const Shape& shape)
      : x(device, static_cast<std::size_t>(shape.floats)),
        y(device, static_cast<std::size_t>(shape.floats)),
        stream(device) {}

  void begin() const {
    x.upload(std::vector<float>(x.size(), 1.0f), stream);
    stream.synchronize();
  }

  Buffer<float> x, y;
  Stream stream;
};

void check_result(const std::vector<float>& got, const Shape& shape, const std::string& arm) {
  const auto want = static_cast<float>(shape.links + 1);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want) continue;
    throw Error(ErrorCode::kMismatch,
                fmt::format("{}: element {} is {}, not {}", arm, i, got[i], want));
  }
}

// One way to execute the chain.
class Arm {
 public:
  virtual ~Arm() = default;
  // Executes it twice and gives how long the second time took, in seconds. The first one starts
  // from ones, and its result is checked.
  virtual double sample() = 0;
  // Programmatic edges of its graph, as the driver has them; none where there is no graph.
  virtual std::optional<std::uint64_t> programmatic_edges() const { return std::nullopt; }
};

// As a program with the driver alone does it.
class ByHand : public Arm {
 public:
  ByHand(const Device& device, const Shape& shape, const Memories& memories, const Kernel& kernel,
         bool pdl)
      : device_(device),
        shape_(shape),
        memories_(memories),
        pdl_(pdl),
        kernel_(kernel),
        function_(kernel.native_function()),
        begin_(device),
        end_(device) {
    addresses_[0] = memories.x.memory().address();
    addresses_[1] = memories.y.memory().address();
  }

  double sample() override {
    const ContextGuard guard(device_);
    memories_.begin();
    submit();
    stream().synchronize();
    check_result(memories_.x.download(), shape_, "by hand");
    begin_.record(stream());
    submit();
    end_.record(stream());
    end_.synchronize();
    return elapsed_seconds(begin_, end_);
  }

 protected:
  virtual void submit() = 0;

  // The arguments of the link of that number.
  void** arguments(std::uint32_t link) {
    pointers_[0] = &addresses_[link % 2];
    pointers_[1] = &addresses_[(link + 1) % 2];
    pointers_[2] = &count_;
    return pointers_;
  }
  const driver::Driver& driver() const { return device_.driver(); }
  const Stream& stream() const { return memories_.stream; }

  Device device_;
  const Shape shape_;
  const Memories& memories_;
  const bool pdl_;
  Kernel kernel_;
  CUfunction function_;

 private:
  Event begin_, end_;
  CUdeviceptr addresses_[2];
  unsigned count_ = shape_.vectors();
  void* pointers_[3] = {};
};

class StreamByHand : public ByHand {
 public:
  using ByHand::ByHand;

 private:
  void submit() override {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{};
    config.gridDimX = shape_.blocks();
    config.blockDimX = kThreads;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream().native();
    config.attrs = &attribute;
    for (std::uint32_t link = 0; link < shape_.links; ++link) {
      config.numAttrs = pdl_ && link > 0 ? 1 : 0;
      BATON_DRIVER_CALL(driver(), cuLaunchKernelEx, &config, function_, arguments(link), nullptr);
    }
  }
};

class GraphByHand : public ByHand {
 public:
  GraphByHand(const Device& device, const Shape& shape, const Memories& memories,
              const Kernel& kernel, bool pdl)
      : ByHand(device, shape, memories, kernel, pdl) {
    const ContextGuard guard(device_);
    BATON_DRIVER_CALL(driver(), cuGraphCreate, &graph_, 0);
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function_;
    params.gridDimX = shape_.blocks();
    params.blockDimX = kThreads;
    params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
    CUgraphEdgeData edge{};
    if (pdl_) {
      edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    }
    CUgraphNode last = nullptr;
    for (std::uint32_t link = 0; link < shape_.links; ++link) {
      params.kernelParams = arguments(link);
      CUgraphNode node = nullptr;
      BATON_DRIVER_CALL(driver(), cuGraphAddKernelNode, &node, graph_, nullptr, 0, &params);
      if (link > 0) {
        BATON_DRIVER_CALL(driver(), cuGraphAddDependencies, graph_, &last, &node, &edge, 1);
      }
      last = node;
    }
    BATON_DRIVER_CALL(driver(), cuGraphInstantiateWithFlags, &exec_, graph_, 0);
  }
  ~GraphByHand() override {
    const ContextGuard guard(device_);
    BATON_DRIVER_CALL_QUIETLY(driver(), cuGraphExecDestroy, exec_);
    BATON_DRIVER_CALL_QUIETLY(driver(), cuGraphDestroy, graph_);
  }

  std::optional<std::uint64_t> programmatic_edges() const override {
    return bench::programmatic_edges(device_, graph_);
  }

 private:
  void submit() override { BATON_DRIVER_CALL(driver(), cuGraphLaunch, exec_, stream().native()); }

  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
};

// One cooperative grid that stays on the device for all links.
class OneGrid : public ByHand {
 public:
  OneGrid(const Device& device, const Shape& shape, const Memories& memories, const Kernel& kernel)
      : ByHand(device, shape, memories, kernel, false), arrived_(device, 1) {
    arrived_.upload(std::vector<unsigned>{0}, stream());
    stream().synchronize();
  }

 private:
  void submit() override {
    kernel_.launch({.grid = shape_.blocks(),
                    .block = kThreads,
                    .stream = stream(),
                    .attributes = {cooperative()}},
                   DevicePointer<void>{memories_.x.memory().address()},
                   DevicePointer<void>{memories_.y.memory().address()}, shape_.vectors(),
                   shape_.links, arrived_.data(), before_);
    before_ += shape_.blocks() * shape_.links;
  }

  Buffer<unsigned> arrived_;
  unsigned before_ = 0;
};

std::string trigger_number(const std::string& trigger) {
  return trigger == "loads" ? "1" : trigger == "top" ? "2" : "0";
}

Program chain_program(const Shape& shape, const char* kernel) {
  std::string text = fmt::format("[symbols]\nN = {}\nLINKS = {}\nBLOCKS = {}\n", shape.floats,
                                 shape.links, shape.blocks());
  for (const char* name : {"x", "y"}) {
    text += fmt::format("[buffers.{}]\ndtype = \"f32\"\nshape = [\"N\"]\nrole = \"inout\"\n", name);
  }
  text += fmt::format(
      "[kernels.step]\nentry = \"{}\"\nprelude = \"#define TRIGGER {}\"\ntext = '''{}'''\n", kernel,
      trigger_number(shape.trigger), kSource);
  text += fmt::format("[[steps]]\nrepeat = \"LINKS/2\"\n");
  for (const char* args : {"\"x\", \"y\"", "\"y\", \"x\""}) {
    text += fmt::format(
        "[[steps.steps]]\nlaunch = \"step\"\ngrid = [\"BLOCKS\"]\nblock = [{}]\nargs = [{}, "
        "\"N/4\"]\n",
        kThreads, args);
  }
  return Program::from_text(text, "chain.toml", ".");
}

class ByBaton : public Arm {
 public:
  ByBaton(const Device& device, const Shape& shape, const Memories& memories, ExecutorKind executor,
          bool pdl)
      : ByBaton(device, shape, memories, pdl ? "waits" : "plain",
                {.executor = executor, .pdl = pdl ? PdlMode::kAuto : PdlMode::kOff}) {}
  // Of the kernel without a wait, which Baton gives one.
  ByBaton(const Device& device, const Shape& shape, const Memories& memories, RewriteMode rewrite)
      : ByBaton(device, shape, memories, "plain",
                {.executor = ExecutorKind::kGraph, .rewrite = rewrite}) {}

  double sample() override {
    memories_.begin();
    RunOptions options;
    options.repeat = 2;
    options.time_steps = false;
    options.after_run = [this](std::uint64_t run) {
      if (run == 0) check_result(memories_.x.download(), shape_, "Baton");
    };
    return executable_.run(options).run_seconds.back();
  }

  std::optional<std::uint64_t> programmatic_edges() const override {
    const std::optional<GraphReport>& graph = executable_.report().graph;
    return graph ? std::optional(graph->programmatic_edges) : std::nullopt;
  }

 private:
  ByBaton(const Device& device, const Shape& shape, const Memories& memories, const char* kernel,
          const PrepareOptions& options)
      : shape_(shape),
        memories_(memories),
        executable_(Executable::prepare(chain_program(shape, kernel), device, options)) {
    const auto given = [&](const Buffer<float>& buffer) {
      return DeviceArray{DType::kF32, {shape.floats}, buffer.memory().address()};
    };
    executable_.bind({.memory = {{"x", given(memories.x)}, {"y", given(memories.y)}}});
  }

  const Shape shape_;
  const Memories& memories_;
  Executable executable_;
};

struct NamedArm {
  std::string name;
  std::unique_ptr<Arm> arm;
  bool pdl = false;
  std::string reference = {};  // the same by hand
};

void measure(const Device& device, const Shape& shape, int rounds) {
  Source source = Source::from_text(kSource, "chain.cu");
  source.prelude = "#define TRIGGER " + trigger_number(shape.trigger);
  const Module module = compile(device, source);
  std::deque<Memories> places;
  const auto memories = [&]() -> const Memories& {
    return places.empty() || shape.own_memory ? places.emplace_back(device, shape) : places.back();
  };
  std::vector<NamedArm> arms;
  for (const bool pdl : {false, true}) {
    const Kernel kernel = module.kernel(pdl ? "waits" : "plain");
    const std::string edges = pdl ? ", PDL" : "";
    const auto add = [&](const std::string& name, std::unique_ptr<Arm> arm,
                         const std::string& reference) {
      arms.push_back(
          {name + edges, std::move(arm), pdl, reference.empty() ? "" : reference + edges});
    };
    add("stream by hand", std::make_unique<StreamByHand>(device, shape, memories(), kernel, pdl),
        "");
    add("stream, Baton",
        std::make_unique<ByBaton>(device, shape, memories(), ExecutorKind::kStream, pdl),
        "stream by hand");
    add("graph by hand", std::make_unique<GraphByHand>(device, shape, memories(), kernel, pdl), "");
    add("graph, Baton",
        std::make_unique<ByBaton>(device, shape, memories(), ExecutorKind::kGraph, pdl),
        "graph by hand");
  }
  for (const RewriteMode mode :
       {RewriteMode::kWait, RewriteMode::kLoads, RewriteMode::kExit, RewriteMode::kTop}) {
    arms.push_back({fmt::format("graph, rewritten: {}", to_string(mode)),
                    std::make_unique<ByBaton>(device, shape, memories(), mode), true});
  }
  for (const auto& [name, kernel] : {std::pair("one grid, grid.sync", "synchronized"),
                                     std::pair("one grid, own barrier", "counted")}) {
    arms.push_back(
        {name, std::make_unique<OneGrid>(device, shape, memories(), module.kernel(kernel))});
  }
  const auto samples = bench::take_turns(arms.size(), rounds, [&](std::size_t arm) {
    return arms[arm].arm->sample() * 1e6 / shape.links;
  });
  std::map<std::string, std::vector<double>> times;
  for (std::size_t i = 0; i < arms.size(); ++i) times[arms[i].name] = samples[i];
  fmt::print("\n{} floats, {} blocks of {}, {} links, {} rounds\n", shape.floats, shape.blocks(),
             kThreads, shape.links, rounds);
  for (const NamedArm& arm : arms) {
    fmt::print("  {:<23} {:9.3f} us a link", arm.name, median(times.at(arm.name)));
    if (!arm.reference.empty()) {
      const auto difference = paired_difference(times.at(arm.name), times.at(arm.reference));
      const double whole = median(times.at(arm.reference));
      fmt::print("   {:+.1f} % [{:+.1f}, {:+.1f}]", 100 * difference.median / whole,
                 100 * difference.low / whole, 100 * difference.high / whole);
    }
    if (const auto edges = arm.arm->programmatic_edges()) {
      fmt::print("   {} programmatic edges", *edges);
      const std::uint64_t want = arm.pdl && device.architecture() >= 90 ? shape.links - 1 : 0;
      if (*edges != want) {
        throw Error(ErrorCode::kMismatch,
                    fmt::format("{}: {} programmatic edges, not {}", arm.name, *edges, want));
      }
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const baton::bench::Options options(argc, argv);
  const Device device = Device::open(options.text("--device", "cuda"));
  const int rounds = options.number("--rounds", 30);
  const std::string trigger = options.text("--trigger", "none");
  const int links = options.number("--links", 1000) / 2 * 2;
  const bool own_memory = options.text("--memory", "shared") == "own";
  fmt::print("{} ({}), driver of CUDA {}.{}, trigger: {}\n", device.spec(), device.name(),
             device.driver_version() / 1000, device.driver_version() % 1000 / 10, trigger);
  std::istringstream sizes(options.text("--sizes", "16384,262144,1048576,4194304,16777216"));
  for (std::string size; std::getline(sizes, size, ',');) {
    const Shape shape{std::max(std::atoll(size.c_str()) / 4 * 4, 4LL),
                      static_cast<std::uint32_t>(std::max(links, 2)), trigger, own_memory};
    measure(device, shape, rounds);
  }
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
