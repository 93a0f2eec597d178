#include "gemm_data.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>

namespace baton::bench {

namespace {

std::size_t bytes(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

}  // namespace

Source kernel_source(const char* file, std::string prelude) {
  Source source = Source::from_file(fmt::format("{}/bench/kernels/{}", BATON_SOURCE_DIR, file));
  source.prelude = std::move(prelude);
  return source;
}

GemmData::GemmData(const Device& device, const GemmShape& shape)
    : shape_(shape),
      stream_(device),
      begin_(device),
      end_(device),
      module_(compile(
          device, kernel_source("gemm_reference.cu", fmt::format("#define FP8 {:d}", shape.fp8)))),
      read_all_(compile(device, kernel_source("read_all.cu", "")).kernel("read_all")),
      processors_(device.limits().multiprocessors),
      weights_(device, bytes(shape.pairs * shape.weights() * shape.element())),
      norm_(device, bytes(2 * shape.columns)),
      rows_(device, bytes(2 * (shape.pairs + 1) * shape.outs())),
      normed_(device, bytes(shape.batch * shape.columns * shape.element())),
      scales_(device, bytes(4 * shape.batch)),
      wrong_(device, 2 * sizeof(unsigned)) {
  make(shape.fp8 ? "make_bytes" : "make_values", weights_, shape.pairs * shape.weights());
  make("make_values", norm_, shape.columns);
  make("make_values", rows_, shape.outs());
  stream_.synchronize();
}

CUdeviceptr GemmData::weights(std::int64_t pair) const {
  return weights_.address() + bytes(pair * shape_.weights() * shape_.element());
}

CUdeviceptr GemmData::rows(std::int64_t pair) const {
  return rows_.address() + bytes(2 * pair * shape_.outs());
}

Bindings GemmData::bindings() const {
  const DType type = shape_.fp8 ? DType::kF8E4M3 : DType::kBF16;
  Bindings result;
  result.memory = {{"y", {DType::kBF16, {shape_.pairs + 1, shape_.batch, shape_.rows}, rows(0)}},
                   {"norm", {DType::kBF16, {shape_.columns}, norm()}},
                   {"w", {type, {shape_.pairs, shape_.rows, shape_.columns}, weights(0)}},
                   {"a", {type, {shape_.batch, shape_.columns}, normed()}}};
  return result;
}

void GemmData::forget() const {
  rows_.fill(0xFFFF, 2, bytes(shape_.pairs * shape_.outs()), bytes(2 * shape_.outs()), stream_);
  stream_.synchronize();
}

std::vector<std::uint16_t> GemmData::last() const {
  std::vector<std::uint16_t> result(bytes(shape_.outs()));
  rows_.download(result.data(), 2 * result.size(), bytes(2 * shape_.pairs * shape_.outs()),
                 stream_);
  stream_.synchronize();
  return result;
}

Difference GemmData::difference(float tolerance) const {
  const auto count = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const Kernel scales = module_.kernel("row_scales"), compare = module_.kernel("compare");
  wrong_.fill(0, sizeof(unsigned), 2, 0, stream_);
  for (std::int64_t pair = 0; pair < shape_.pairs; ++pair) {
    scales.launch({.grid = count(shape_.batch), .block = 32, .stream = stream_},
                  DevicePointer<const void>{rows(pair)}, DevicePointer<void>{scales_.address()},
                  count(shape_.rows), count(shape_.columns));
    compare.launch({.grid = ceil_div(count(shape_.rows), 8u), .block = 256, .stream = stream_},
                   DevicePointer<const void>{rows(pair)}, DevicePointer<const void>{norm()},
                   DevicePointer<const void>{scales_.address()},
                   DevicePointer<const void>{weights(pair)},
                   DevicePointer<const void>{rows(pair + 1)}, count(shape_.batch),
                   count(shape_.rows), count(shape_.columns), count(shape_.rows), shape_.scale(),
                   tolerance, DevicePointer<void>{wrong_.address()});
  }
  unsigned wrong[2] = {};
  wrong_.download(wrong, sizeof(wrong), 0, stream_);
  stream_.synchronize();
  Difference result{wrong[0], 0};
  std::memcpy(&result.greatest, wrong + 1, sizeof(result.greatest));
  return result;
}

double GemmData::read() {
  begin_.record(stream_);
  read_all_.launch({.grid = processors_ * 8, .block = 256, .stream = stream_},
                   DevicePointer<const void>{weights(0)},
                   static_cast<std::uint64_t>(weights_.bytes() / 16),
                   DevicePointer<void>{wrong_.address()});
  end_.record(stream_);
  end_.synchronize();
  return elapsed_seconds(begin_, end_);
}

void GemmData::make(const char* kernel, const Memory& memory, std::int64_t count) const {
  module_.kernel(kernel).launch({.grid = processors_ * 8, .block = 256, .stream = stream_},
                                DevicePointer<void>{memory.address()},
                                static_cast<std::uint64_t>(count));
}

}  // namespace baton::bench
