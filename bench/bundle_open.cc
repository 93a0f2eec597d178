// Opening a bundle of many kernels, and loading it, beside reading and hashing the same file, and
// beside loading the same program from its own files. The ways take turns; times are medians.
//
//   bundle_open [--device D] [--kernels N] [--kilobytes N] [--rounds N] [--image ptx|cubin]
//
// With `--image cubin` the kernels are machine code, which ptxas makes for the device. The
// simulated GPU loads none.

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/hash/hash.h"
#include "baton/baton.h"
#include "bundle/definitions.h"
#include "options.h"
#include "paired.h"
#include "runtime/context.h"
#include "trace/ptxas_test.h"
#include "turns.h"

namespace {

using namespace baton;
using Clock = std::chrono::steady_clock;

// A kernel of eight parameters whose text has about that size. What it computes stays in its
// machine code.
std::string kernel_text(int number, int kilobytes) {
  std::string text = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel_{}(", number);
  for (int i = 0; i < 8; ++i) {
    text += fmt::format("{}.param .u64 kernel_{}_param_{}", i == 0 ? "" : ", ", number, i);
  }
  text += fmt::format(
      ") {{\n.reg .u32 %r<3>;\n.reg .u64 %rd<2>;\nld.param.u64 %rd1, [kernel_{}_param_0];\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 1;\n",
      number);
  while (text.size() < static_cast<std::size_t>(kilobytes) << 10) {
    text += fmt::format("mad.lo.u32 %r2, %r2, %r1, {};\n", text.size());
  }
  return text + "st.global.u32 [%rd1], %r2;\nret;\n}\n";
}

// Machine code of a kernel for the device's architecture, beside its PTX.
void assemble(const std::filesystem::path& ptx, const Device& device) {
  const auto ptxas = trace::find_ptxas();
  if (!ptxas) {
    throw error(ErrorCode::kNotFound, "there is no ptxas; put the folder of the toolkit's on PATH");
  }
  auto cubin = ptx;
  cubin.replace_extension("cubin");
  const std::string command = fmt::format("{} -arch={} -o {} {}", ptxas->string(),
                                          device.compile_arch(), cubin.string(), ptx.string());
  if (std::system(command.c_str()) != 0) {
    throw error(ErrorCode::kCompile, "this command failed: {}", command);
  }
}

// `kind` is "ptx" or "cubin".
std::string write_program(const std::filesystem::path& folder, const Device& device,
                          const std::string& kind, int kernels, int kilobytes) {
  std::string toml = "name = \"many\"\n[buffers.x]\ndtype = \"f32\"\nshape = [1]\n";
  std::string steps;
  for (int i = 0; i < kernels; ++i) {
    const auto ptx = folder / fmt::format("{}.ptx", i);
    write_file_atomically(ptx, kernel_text(i, kilobytes));
    if (kind == "cubin") assemble(ptx, device);
    toml += fmt::format("[kernels.kernel_{0}]\n{1} = \"{0}.{1}\"\n", i, kind);
    steps += fmt::format(
        "[[steps]]\nlaunch = \"kernel_{}\"\ngrid = [1]\nblock = [1]\n"
        "args = [\"x\", \"x\", \"x\", \"x\", \"x\", \"x\", \"x\", \"x\"]\n",
        i);
  }
  return toml + steps;
}

void load_bare(const Device& device, const std::vector<Image>& images) {
  const driver::Driver& driver = device.driver();
  const ContextGuard guard(device);
  std::vector<CUlibrary> libraries;
  for (std::size_t i = 0; i < images.size(); ++i) {
    CUkernel kernel = nullptr;
    BATON_DRIVER_CALL(driver, cuLibraryLoadData, &libraries.emplace_back(),
                      images[i].bytes().data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    BATON_DRIVER_CALL(driver, cuLibraryGetKernel, &kernel, libraries.back(),
                      fmt::format("kernel_{}", i).c_str());
    // A program resolves its kernels when it is loaded.
    CUfunction function = nullptr;
    int registers = 0;
    BATON_DRIVER_CALL(driver, cuKernelGetFunction, &function, kernel);
    BATON_DRIVER_CALL(driver, cuFuncGetAttribute, &registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
  }
  for (CUlibrary library : libraries) BATON_DRIVER_CALL(driver, cuLibraryUnload, library);
}

using Ways = std::vector<std::pair<const char*, std::function<void()>>>;

// Prints each way's time and its ratio to the first. A sample is the mean of several calls.
void compare(const Ways& ways, int calls, int rounds) {
  const auto samples = bench::take_turns(ways.size(), rounds, [&](std::size_t arm) {
    const auto start = Clock::now();
    for (int call = 0; call < calls; ++call) ways[arm].second();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls;
  });
  for (std::size_t arm = 0; arm < ways.size(); ++arm) {
    const double median = bench::median(samples[arm]);
    fmt::print("{:>10.1f} us  {:>7.4f}  {}\n", median, median / bench::median(samples[0]),
               ways[arm].first);
  }
}

void measure(const bench::Options& options) {
  const Device device = Device::open(options.text("--device", "sim"));
  const int kernels = options.number("--kernels", 100);
  const int rounds = options.number("--rounds", 31);
  const TemporaryDirectory folder;
  const auto program_file = folder.path() / "p.toml";
  const auto bundle_file = folder.path() / "p.baton";
  const std::string kind = options.text("--image", "ptx");
  write_file_atomically(program_file, write_program(folder.path(), device, kind, kernels,
                                                    options.number("--kilobytes", 50)));
  write_bundle(Program::from_file(program_file), bundle_file);
  const std::uint64_t bytes = std::filesystem::file_size(bundle_file);

  std::vector<Image> images;
  for (int i = 0; i < kernels; ++i) {
    images.push_back(Image::from_file(folder.path() / fmt::format("{}.{}", i, kind)));
  }
  fmt::print("{} kernels as {}, {} KiB, on {}\n", kernels, kind, bytes >> 10, device.spec());
  compare({{"read() of the file and SHA-256", [&] { sha256(read_file(bundle_file)); }},
           {"Bundle::open: the index read and checked", [&] { Bundle::open(bundle_file); }},
           {"Bundle::open with Verify::kAll", [&] { Bundle::open(bundle_file, Verify::kAll); }},
           {"opened, and every image checked by XXH3",
            [&] {
              const Bundle bundle = Bundle::open(bundle_file);
              for (const BundlePart& part : bundle.parts()) bundle.bytes(part.name);
            }},
           {"opened, and the program read and resolved, with all facts",
            [&] {
              const Bundle bundle = Bundle::open(bundle_file);
              bundle::read_definitions(bundle, bundle.program(), device);
            }}},
          20, rounds);
  compare(
      {{"all libraries loaded and functions resolved by the bare driver",
        [&] { load_bare(device, images); }},
       {"loaded from the bundle", [&] { LoadedProgram::load(Bundle::open(bundle_file), device); }},
       {"loaded from the program's files",
        [&] { LoadedProgram::load(Program::from_file(program_file), device); }}},
      1, rounds);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    measure(bench::Options(argc, argv));
  } catch (const Error& failure) {
    fmt::print(stderr, "error: {}\n", failure.what());
    return exit_status(failure.code());
  }
}
