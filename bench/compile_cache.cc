// What the compile cache saves, in this process and in one of its own, and how compiling and
// looking up grow with the number of kernels in a source.
//
//   compile_cache [--baton build/release/baton] [--rounds 15] [--kernels 1000]

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "baton/compile.h"
#include "baton/device.h"
#include "baton/module.h"
#include "options.h"
#include "paired.h"

extern char** environ;

namespace baton::bench {
namespace {

namespace fs = std::filesystem;

constexpr char kArch[] = "sm_90";

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Case {
  const char* name;
  std::string text;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"saxpy, no header",
       "extern \"C\" __global__ void saxpy(float* y, const float* x, float a, int n) {\n"
       "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
       "  if (i < n) y[i] += a * x[i];\n"
       "}\n"},
      {"half and bfloat16",
       "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
       "extern \"C\" __global__ void mix(__half* y, const __nv_bfloat16* x, int n) {\n"
       "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
       "  if (i < n) y[i] = __hfma(y[i], __float2half(__bfloat162float(x[i])), y[i]);\n"
       "}\n"},
      {"cooperative groups",
       "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
       "namespace cg = cooperative_groups;\n"
       "extern \"C\" __global__ void sum(float* y, const float* x, int n) {\n"
       "  auto tile = cg::tiled_partition<32>(cg::this_thread_block());\n"
       "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
       "  float all = cg::reduce(tile, i < n ? x[i] : 0.0f, cg::plus<float>());\n"
       "  if (tile.thread_rank() == 0) y[i / 32] = all;\n"
       "}\n"},
  };
  return all;
}

// A folder with a cache that is thrown away; `fresh` gives the next empty one.
class Caches {
 public:
  void fresh() { use(folder_.path() / std::to_string(++count_)); }
  void warm() { use(folder_.path() / "warm"); }
  const fs::path& folder() const { return folder_.path(); }

 private:
  static void use(const fs::path& path) { setenv("BATON_CACHE_DIR", path.c_str(), 1); }

  TemporaryDirectory folder_;
  int count_ = 0;
};

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "compile_cache: %s\n", what);
  std::exit(1);
}

void print_pair(const char* name, const std::vector<double>& misses,
                const std::vector<double>& hits) {
  std::printf("| %s | %.1f | %.2f | %.0f |\n", name, median(misses) * 1e3, median(hits) * 1e3,
              median(misses) / median(hits));
}

void compare_in_process(Caches& caches, int rounds) {
  std::printf("\n| in one process | compile, ms | hit, ms | ratio |\n| --- | --- | --- | --- |\n");
  for (const Case& each : cases()) {
    const Source source = Source::from_text(each.text, "k.cu");
    const auto compiled = [&] { return compile(source, {.arch = kArch}); };
    caches.warm();
    compiled();  // NVRTC is loaded once, before anything is measured
    std::vector<double> misses;
    std::vector<double> hits;
    for (int round = 0; round < rounds; ++round) {
      caches.fresh();
      misses.push_back(seconds_of([&] { check(!compiled().cache_hit, "a hit"); }));
      caches.warm();
      hits.push_back(seconds_of([&] { check(compiled().cache_hit, "no hit"); }));
    }
    print_pair(each.name, misses, hits);
  }
}

// Seconds that its processors were busy.
double run(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = 1;
  rusage used{};
  check(posix_spawn(&child, pointers[0], &files, nullptr, pointers.data(), environ) == 0 &&
            wait4(child, &status, 0, &used) == child && status == 0,
        "the command line fails");
  posix_spawn_file_actions_destroy(&files);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// By the clock, and by the processors' time, which other load disturbs less.
struct Times {
  std::vector<double> clock;
  std::vector<double> processors;

  void add(const std::vector<std::string>& words) {
    double busy = 0;
    clock.push_back(seconds_of([&] { busy = run(words); }));
    processors.push_back(busy);
  }
};

void compare_processes(Caches& caches, const std::string& baton, int rounds) {
  std::printf("\n| baton compile | compile, ms | hit, ms | ratio |\n| --- | --- | --- | --- |\n");
  for (const Case& each : cases()) {
    const fs::path file = caches.folder() / "k.cu";
    write_file_atomically(file, each.text);
    const std::vector<std::string> words = {baton, "compile", file.string(), "--arch", kArch};
    caches.warm();
    run(words);
    Times misses;
    Times hits;
    for (int round = 0; round < rounds; ++round) {
      caches.fresh();
      misses.add(words);
      caches.warm();
      hits.add(words);
    }
    print_pair(each.name, misses.clock, hits.clock);
    print_pair("the same, processors' time", misses.processors, hits.processors);
  }
}

// The example as it is: a million elements.
void run_saxpy(Caches& caches, const std::string& baton, int rounds) {
  const std::string program = std::string(BATON_SOURCE_DIR) + "/examples/saxpy/saxpy.toml";
  const std::vector<std::string> words = {baton, "run", program, "--device", "sim"};
  caches.warm();
  run(words);
  std::vector<double> runs;
  std::vector<double> starts;
  for (int round = 0; round < 2 * rounds; ++round) {
    runs.push_back(seconds_of([&] { run(words); }));
    starts.push_back(seconds_of([&] { run({baton, "--version"}); }));
  }
  std::printf("\n| whole process | median, ms | fastest, ms |\n| --- | --- | --- |\n");
  for (const auto& [name, times] :
       {std::pair{"baton run saxpy.toml, cached", runs}, std::pair{"baton --version", starts}}) {
    std::printf("| %s | %.1f | %.1f |\n", name, median(times) * 1e3,
                *std::min_element(times.begin(), times.end()) * 1e3);
  }
}

void count_up(Caches& caches, int most) {
  std::printf(
      "\n| kernels | source, KiB | compile, ms | per kernel, ms | hit, ms | per kernel, us | load, "
      "ms "
      "| per kernel, us | find each, ms | per kernel, us |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  const Device device = Device::open("sim");
  for (int kernels : {10, 100, 1000, 4000}) {
    if (kernels > most) break;
    std::string text;
    CompileOptions options{.arch = kArch};
    for (int i = 0; i < kernels; ++i) {
      const std::string number = std::to_string(i);
      std::string name = "k";
      name += number;
      text += "template <int N> __global__ void ";
      text += name;
      text +=
          "(float* y, const float* x, int n) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (i < n) y[i] += N * x[i];\n}\n";
      name += '<';
      name += number;
      name += '>';
      options.entries.push_back(std::move(name));
    }
    const Source source = Source::from_text(text, "many.cu");
    caches.fresh();
    std::optional<Compiled> made;
    const double miss = seconds_of([&] { made = compile(source, options); });
    check(!made->cache_hit, "a hit");
    const double hit = seconds_of([&] { made = compile(source, options); });
    check(made->cache_hit, "no hit");
    std::optional<Module> module;
    const double load = seconds_of([&] { module = Module::load(device, *made); });
    const double look_up = seconds_of([&] {
      for (const std::string& entry : options.entries) module->kernel(entry);
    });
    std::printf("| %d | %.0f", kernels, static_cast<double>(text.size()) / 1024);
    std::printf(" | %.0f | %.2f", miss * 1e3, miss * 1e3 / kernels);
    for (const double each : {hit, load, look_up}) {
      std::printf(" | %.2f | %.1f", each * 1e3, each * 1e6 / kernels);
    }
    std::printf(" |\n");
    std::fflush(stdout);
  }
}

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const fs::path beside = fs::canonical("/proc/self/exe").parent_path().parent_path() / "baton";
  const std::string baton = options.text("--baton", beside.string());
  const int rounds = options.number("--rounds", 15);
  unsetenv("BATON_CACHE_SIZE");
  Caches caches;
  compare_in_process(caches, rounds);
  if (fs::exists(baton)) {
    compare_processes(caches, baton, rounds);
    run_saxpy(caches, baton, rounds);
  }
  count_up(caches, options.number("--kernels", 1000));
  return 0;
}

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
  return baton::bench::main(argc, argv);
}
