// Opening a bundle of many kernels, and loading it, beside reading and hashing the same file, and
// beside loading the same program from its own files. The ways take turns; times are medians.
//
//   bundle_open [--device D] [--kernels N] [--kilobytes N] [--rounds N]

#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "baton/baton.h"
#include "bundle/definitions.h"
#include "options.h"
#include "paired.h"
#include "runtime/context.h"
#include "turns.h"

namespace {

using namespace baton;
using Clock = std::chrono::steady_clock;

// A kernel of eight parameters whose text has about that size.
std::string kernel_text(int number, int kilobytes) {
  std::string text = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel_{}(", number);
  for (int i = 0; i < 8; ++i) {
    text += fmt::format("{}.param .u64 kernel_{}_param_{}", i == 0 ? "" : ", ", number, i);
  }
  text += ") {\n.reg .u32 %r<3>;\nmov.u32 %r1, 1;\n";
  while (text.size() < static_cast<std::size_t>(kilobytes) << 10) {
    text += fmt::format("add.u32 %r2, %r1, {};\n", text.size());
  }
  return text + "ret;\n}\n";
}

std::string write_program(const std::filesystem::path& folder, int kernels, int kilobytes) {
  std::string toml = "name = \"many\"\n[buffers.x]\ndtype = \"f32\"\nshape = [1]\n";
  std::string steps;
  for (int i = 0; i < kernels; ++i) {
    write_file_atomically(folder / fmt::format("{}.ptx", i), kernel_text(i, kilobytes));
    toml += fmt::format("[kernels.kernel_{0}]\nptx = \"{0}.ptx\"\n", i);
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
  write_file_atomically(program_file,
                        write_program(folder.path(), kernels, options.number("--kilobytes", 50)));
  write_bundle(Program::from_file(program_file), bundle_file);
  const std::uint64_t bytes = std::filesystem::file_size(bundle_file);

  std::vector<Image> images;
  for (int i = 0; i < kernels; ++i) {
    images.push_back(Image::from_file(folder.path() / fmt::format("{}.ptx", i)));
  }
  fmt::print("{} kernels, {} KiB, on {}\n", kernels, bytes >> 10, device.spec());
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
