#include "trace/launch_records.h"

#include <algorithm>
#include <utility>

namespace baton::trace {

LaunchRecords::LaunchRecords(const Device& device, std::uint64_t blocks)
    : blocks_(std::min(blocks, kMostBlocks)), memory_(device, blocks_ * sizeof(BlockRecord)) {}

void LaunchRecords::begin() {
  steps_.clear();
  used_ = crowded_out_ = repeated_ = 0;
}

DeviceAddress LaunchRecords::add(NotedStep launch, bool is_instrumented) {
  DeviceAddress address = 0;
  if (is_instrumented && launch.blocks() > blocks_ - used_) {
    ++crowded_out_;
  } else if (is_instrumented) {
    launch.records = used_;
    address = memory_.address() + used_ * sizeof(BlockRecord);
    used_ += launch.blocks();
  }
  steps_.push_back(std::move(launch));
  return address;
}

void LaunchRecords::add_repeated(NotedStep launch, bool is_instrumented) {
  if (is_instrumented) ++repeated_;
  add(std::move(launch), false);
}

void LaunchRecords::add_move(std::uint64_t number, std::string kind) {
  NotedStep& step = steps_.emplace_back();
  step.number = number;
  step.move = std::move(kind);
}

void LaunchRecords::clear(const Stream& stream) {
  if (blocks_ == 0) return;
  memory_.fill(0, 8, blocks_ * sizeof(BlockRecord) / 8, 0, stream);
}

std::vector<BlockRecord> LaunchRecords::read(const Stream& stream) const {
  std::vector<BlockRecord> records(used_);
  if (used_ != 0) memory_.download(records.data(), used_ * sizeof(BlockRecord), 0, stream);
  stream.synchronize();
  return records;
}

}  // namespace baton::trace
