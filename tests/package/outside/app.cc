// Prints what the embedded kernels compute; whoever runs it checks the numbers against its own.
#include <cstdio>

#include "affine.h"
#include "kernels.baton.h"
#include "minus.h"
#ifdef HAS_COMPILED
#include "compiled.baton.h"
#endif

namespace {

void print(const char* name, const std::vector<float>& values) {
  std::printf("%s", name);
  for (float value : values) std::printf(" %g", static_cast<double>(value));
  std::printf("\n");
}

}  // namespace

int main() {
  try {
    std::vector<float> values(100);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    print("plus", run_affine(kernels::affine(), values, 3.0f));
    print("minus", minus(values, 3.0f));
    // Asked for twice, it is the same bytes in the same place.
    std::printf("same %d\n", kernels::affine().bytes().data() == kernels::affine().bytes().data() &&
                                 &kernels::affine() == &kernels::affine());
#ifdef HAS_COMPILED
    const baton::ImageFacts facts = baton::read_facts(compiled::half_cubin());
    std::printf("cubin %s %s\n", facts.arch.c_str(), facts.kernels.at(0).name.c_str());
    const baton::Device device = baton::Device::open("sim");
    const baton::Kernel half = baton::Module::load(device, compiled::half_ptx()).kernel("half_of");
    const auto y = baton::Buffer<float>::of(device, values);
    const baton::Stream stream(device);
    half.launch({.grid = 2, .block = 64, .stream = stream}, y, 100);
    stream.synchronize();
    print("half", y.download());
#endif
  } catch (const baton::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
