// Binding a program whose weights come from a .safetensors file, beside copies of as many bytes
// from page-locked memory, and beside reading the file by one thread. The file is in the page
// cache. The ways take turns; times are medians.
//
//   weight_load [--device D] [--megabytes N] [--layers N] [--convert 1] [--rounds N]

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/array/safetensors.h"
#include "base/file/file.h"
#include "baton/baton.h"
#include "options.h"
#include "paired.h"
#include "turns.h"

namespace {

using namespace baton;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kElementBytes = 2;
constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 20;

struct Model {
  std::filesystem::path file;
  int layers = 0;
  std::uint64_t elements = 0;  // of a layer
  std::uint64_t bytes() const { return elements * kElementBytes * static_cast<unsigned>(layers); }
};

// bf16 tensors of numbers between 1 and 2.
void write_model(const Model& model) {
  std::string header = "{";
  std::uint64_t at = 0;
  for (int layer = 0; layer < model.layers; ++layer) {
    const std::uint64_t end = at + model.elements * kElementBytes;
    header += fmt::format(
        "{}\"layers.{}.w\":{{\"dtype\":\"BF16\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
        layer == 0 ? "" : ",", layer, model.elements, at, end);
    at = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::ofstream out(model.file, std::ios::binary);
  const std::uint64_t length = header.size();
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out << header;
  std::vector<std::uint16_t> block(kBlockBytes / kElementBytes);
  for (std::size_t i = 0; i < block.size(); ++i) {
    block[i] = static_cast<std::uint16_t>(0x3f80 + i * 2654435761u % 128);
  }
  for (std::uint64_t done = 0; done < at;) {
    const std::uint64_t bytes = std::min(kBlockBytes, at - done);
    out.write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(bytes));
    done += bytes;
  }
  if (!out) throw Error(ErrorCode::kInvalidInput, "cannot write " + model.file.string());
}

Program program_of(const Model& model, bool converts) {
  const auto ptx = model.file.parent_path() / "touch.ptx";
  write_file_atomically(ptx,
                        ".version 8.0\n.target sm_80\n.address_size 64\n"
                        ".visible .entry touch(.param .u64 touch_param_0) { ret; }\n");
  const auto file = model.file.parent_path() / "p.toml";
  write_file_atomically(
      file, fmt::format("name = \"weights\"\n[buffers.w]\ndtype = \"{}\"\nshape = [{}, {}]\n"
                        "role = \"weight\"\nfile = \"{}\"\ntensor = \"layers.{{layer}}.w\"\n{}"
                        "[kernels.touch]\nptx = \"touch.ptx\"\n"
                        "[[steps]]\nlaunch = \"touch\"\ngrid = [1]\nblock = [1]\nargs = [\"w\"]\n",
                        converts ? "f16" : "bf16", model.layers, model.elements,
                        model.file.filename().string(), converts ? "convert = true\n" : ""));
  return Program::from_file(file);
}

double seconds(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void measure(const bench::Options& options) {
  const Device device = Device::open(options.text("--device", "sim"));
  const TemporaryDirectory folder;
  Model model{folder.path() / "m.safetensors", options.number("--layers", 32)};
  model.elements = (static_cast<std::uint64_t>(options.number("--megabytes", 1024)) << 20) /
                   kElementBytes / static_cast<unsigned>(model.layers);
  write_model(model);
  const bool converts = options.number("--convert", 0) != 0;
  const LoadedProgram loaded = LoadedProgram::load(program_of(model, converts), device);
  const SafetensorsFile file(model.file);
  const Stream stream(device);
  PinnedMemory block(device, std::min(kBlockBytes, model.bytes()));
  std::memset(block.data(), 0, block.bytes());
  // Calls `use` with the parts of `bytes` bytes that the block takes.
  const auto each_block = [&](std::uint64_t bytes, const auto& use) {
    for (std::uint64_t done = 0; done < bytes; done += block.bytes()) {
      use(done, std::min<std::uint64_t>(block.bytes(), bytes - done));
    }
  };
  const auto copy_all = [&] {
    const Memory memory(device, model.bytes());
    return seconds([&] {
      each_block(model.bytes(), [&](std::uint64_t at, std::uint64_t bytes) {
        memory.upload(block.data(), bytes, at, stream);
      });
      stream.synchronize();
    });
  };
  const auto read_all = [&] {
    return seconds([&] {
      for (const auto& [name, tensor] : file.tensors()) {
        each_block(tensor.bytes, [&](std::uint64_t at, std::uint64_t bytes) {
          file.read(tensor, at, bytes, block.data());
        });
      }
    });
  };
  const auto bind = [&] {
    Executable executable(loaded);
    return seconds([&] { executable.bind(); });
  };
  const auto sample = [&](std::size_t arm) {
    return arm == 0 ? copy_all() : arm == 1 ? read_all() : bind();
  };
  const int rounds = options.number("--rounds", 7);
  const auto samples = bench::take_turns(3, rounds, sample);
  const char* const names[] = {"copies from page-locked memory", "the file read by one thread",
                               converts ? "bind, converted to f16" : "bind"};
  fmt::print("{} tensors, {} MiB, on {} ({})\n", model.layers, model.bytes() >> 20, device.spec(),
             device.name());
  const double plain = bench::median(samples[0]);
  for (std::size_t arm = 0; arm < samples.size(); ++arm) {
    const double median = bench::median(samples[arm]);
    fmt::print("{:>9.1f} ms  {:>6.1f} GB/s  {:>6.2f}  {}\n", median * 1e3,
               static_cast<double>(model.bytes()) / median / 1e9, median / plain, names[arm]);
  }
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
