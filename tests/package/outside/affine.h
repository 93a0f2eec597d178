#pragma once

#include <baton/baton.h>

#include <vector>

// Launches the kernel `affine` of an image over `values`, on the simulated GPU.
inline std::vector<float> run_affine(const baton::Image& image, const std::vector<float>& values,
                                     float factor) {
  const baton::Device device = baton::Device::open("sim");
  const baton::Kernel affine = baton::Module::load(device, image).kernel("affine");
  const auto y = baton::Buffer<float>::of(device, values);
  const auto n = static_cast<unsigned>(values.size());
  const baton::Stream stream(device);
  affine.launch({.grid = baton::ceil_div(n, 64u), .block = 64, .stream = stream}, y, factor, n);
  stream.synchronize();
  return y.download();
}
