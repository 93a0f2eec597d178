// saxpy from C++: compile a source at run time, launch its kernel, read the result back. The same
// program runs on a GPU and, where there is none, on the simulated one.
#include <baton/baton.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

void run() {
  const int n = 1'000'003;
  const baton::Device device = baton::Device::open();
  std::printf("device: %s (%s)\n", device.spec().c_str(), device.name().c_str());

  const baton::Module module =
      baton::compile(device, baton::Source::from_file(BATON_EXAMPLE_DIR "/saxpy.cu"));
  const baton::Kernel saxpy = module.kernel("saxpy");

  std::vector<float> host_x(n), host_y(n);
  for (int i = 0; i < n; ++i) {
    host_x[i] = 0.5f * static_cast<float>(i % 100);
    host_y[i] = static_cast<float>(i % 7);
  }
  const auto x = baton::Buffer<float>::of(device, host_x);
  const auto y = baton::Buffer<float>::of(device, host_y);

  // Arguments go in as they are: their count, sizes and kinds are checked against the kernel's.
  const baton::Stream stream(device);
  saxpy.launch({.grid = baton::ceil_div(n, 256), .block = 256, .stream = stream}, y, x, 2.0f, n);
  stream.synchronize();

  const std::vector<float> result = y.download();
  for (int i = 0; i < n; ++i) {
    const float want = 2.0f * host_x[i] + host_y[i];
    if (result[i] != want) {
      throw baton::Error(baton::ErrorCode::kMismatch, "y[" + std::to_string(i) + "] is " +
                                                          std::to_string(result[i]) +
                                                          ", expected " + std::to_string(want));
    }
  }
  std::printf("all %d results are right\n", n);
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
