#include "session/memory/tensor_stack.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>

#include "base/array/array.h"
#include "base/array/float_convert.h"
#include "base/error.h"
#include "base/text/text.h"
#include "bind/binding.h"
#include "bind/shards.h"
#include "program/tensor_pattern.h"

namespace baton {
namespace {

// The fastest of those that were measured (docs/benchmarks-host.md).
constexpr std::uint64_t kMostChunkBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kPartBytes = std::uint64_t{256} << 10;  // that one thread reads at once
constexpr unsigned kMostThreads = 16;

// The buffer's part of one of its tensors.
bind::BoundBuffer part_of_tensor(const bind::BoundBuffer& buffer) {
  bind::BoundBuffer part;
  part.definition = buffer.definition;
  part.shape = buffer.shape;
  part.shards = buffer.shards;
  if (TensorPattern(buffer.definition->tensor).is_stacked()) {
    part.shape.erase(part.shape.begin());
    std::erase_if(part.shards, [](const bind::BoundShard& shard) { return shard.axis == 0; });
    for (bind::BoundShard& shard : part.shards) --shard.axis;
  }
  part.bytes = bind::bytes_of(part.shape, buffer.definition->dtype);
  part.elements = static_cast<std::int64_t>(part.bytes / part.element_size());
  return part;
}

}  // namespace

UploadStaging::UploadStaging(const Device& device, std::uint64_t most_bytes)
    : chunk_bytes_(std::clamp<std::uint64_t>(most_bytes, 1, kMostChunkBytes)),
      team_(std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads)) {
  for (int i = 0; i < 2; ++i) {
    chunks_.push_back({PinnedMemory(device, chunk_bytes_), Event(device, false)});
  }
}

bool UploadStaging::serves(std::uint64_t most_bytes) const {
  return std::min(most_bytes, kMostChunkBytes) <= chunk_bytes_;
}

UploadStaging::~UploadStaging() {
  for (Chunk& chunk : chunks_) {
    try {
      if (chunk.is_used) chunk.copied.synchronize();
    } catch (const Error&) {
      // The copy failed, so that it does not read the chunk any more.
    }
  }
}

void* UploadStaging::next() {
  current_ = (current_ + 1) % chunks_.size();
  Chunk& chunk = chunks_[current_];
  if (chunk.is_used) chunk.copied.synchronize();
  return chunk.memory.data();
}

void UploadStaging::copy(std::uint64_t bytes, const Memory& to, std::uint64_t offset,
                         const Stream& stream) {
  Chunk& chunk = chunks_[current_];
  to.upload(chunk.memory.data(), bytes, offset, stream);
  chunk.copied.record(stream);
  chunk.is_used = true;
}

// A stack divides its first dimension into tensors; other dimensions divide each tensor.
namespace {

// What makes a tensor fit that does not.
std::string remedy(const SafeTensor& tensor, const std::vector<std::int64_t>& shape,
                   bool converts) {
  if (tensor.shape != shape) return "name another tensor, or give the buffer its shape";
  if (converts) return "convert = true converts it";
  if (tensor.dtype) {
    return fmt::format("give the buffer the dtype {}, or save the tensor in another one",
                       to_string(*tensor.dtype));
  }
  return "no buffer has that dtype; save the tensor in another one";
}

}  // namespace

TensorStack::TensorStack(std::shared_ptr<const SafetensorsModel> model,
                         const bind::BoundBuffer& buffer)
    : model_(std::move(model)),
      buffer_(buffer.definition->name),
      where_(buffer.definition->where),
      dtype_(buffer.definition->dtype),
      part_(part_of_tensor(buffer)) {
  const ProgramBuffer& definition = *buffer.definition;
  const TensorPattern pattern(definition.tensor);
  const std::vector<std::int64_t> shape = bind::whole_shape(part_);
  std::int64_t first = 0, count = 1;
  if (pattern.is_stacked()) {
    count = buffer.shape.front();
    const bool is_divided = !buffer.shards.empty() && buffer.shards.front().axis == 0;
    if (is_divided) first = static_cast<std::int64_t>(buffer.shards.front().rank) * count;
  }
  for (std::int64_t index = first; index < first + count; ++index) {
    const std::string name = pattern.name(index);
    const SafetensorsModel::Place place = model_->tensor(name);
    const SafeTensor& tensor = *place.tensor;
    const bool is_near = tensor.dtype && is_float(*tensor.dtype) && is_float(definition.dtype);
    const bool fits = tensor.dtype == definition.dtype || (is_near && definition.convert);
    if (!fits || tensor.shape != shape) {
      throw error(ErrorCode::kInvalidInput,
                  "the tensor \"{}\" of {} is {} {}, the buffer {} wants {} {}; {}",
                  printable(name), definition.file.string(), printable(tensor.dtype_name),
                  shape_text(tensor.shape), definition.name, to_string(definition.dtype),
                  shape_text(shape), remedy(tensor, shape, is_near && !fits));
    }
    tensors_.push_back(place);
  }
}

void TensorStack::upload(const Memory& memory, UploadStaging& staging, const Stream& stream,
                         const Uploaded& uploaded) const {
  std::uint64_t offset = 0;
  for (const SafetensorsModel::Place& place : tensors_) {
    upload(place, memory, offset, staging, stream, uploaded);
    offset += part_.bytes;
  }
}

void TensorStack::upload(const SafetensorsModel::Place& place, const Memory& memory,
                         std::uint64_t offset, UploadStaging& staging, const Stream& stream,
                         const Uploaded& uploaded) const {
  const DType dtype = *place.tensor->dtype;
  const std::uint64_t from = size_of(dtype), to = size_of(dtype_);
  const auto elements = static_cast<std::uint64_t>(part_.elements);
  const std::uint64_t most = std::max<std::uint64_t>(staging.chunk_bytes() / to, 1);
  std::optional<FloatConversion> conversion;
  std::vector<std::byte> read;
  if (dtype != dtype_) {
    conversion.emplace(dtype, dtype_);
    read.resize(std::min(most, elements) * from);
  }
  const std::uint64_t each = kPartBytes / from;
  for (std::uint64_t first = 0; first < elements;) {
    const std::uint64_t count = std::min(most, elements - first);
    auto* const target = static_cast<std::byte*>(staging.next());
    std::byte* const source = conversion ? read.data() : target;
    staging.team().run((count + each - 1) / each, [&](std::size_t part) {
      const std::uint64_t start = part * each, elements_of_part = std::min(each, count - start);
      bind::for_each_run(part_, first + start, elements_of_part,
                         [&](auto begin, auto length, auto in_whole) {
                           place.file->read(*place.tensor, in_whole * from, length * from,
                                            source + (begin - first) * from);
                         });
      if (!conversion) return;
      convert(*conversion, dtype, source + start * from, first + start, elements_of_part,
              target + start * to);
    });
    staging.copy(count * to, memory, offset + first * to, stream);
    if (uploaded) uploaded(count * to);
    first += count;
  }
}

void TensorStack::convert(const FloatConversion& conversion, DType from, const std::byte* read,
                          std::uint64_t first, std::uint64_t count, std::byte* target) const {
  const std::uint64_t done = conversion.convert(read, count, target);
  if (done == count) return;
  std::uint64_t bits = 0;
  std::memcpy(&bits, read + done * size_of(from), size_of(from));
  throw error_at(
      where_, ErrorCode::kInvalidInput,
      "the element {} of a tensor of the buffer {} is {}, which {} does not hold; give the "
      "buffer a dtype that does",
      first + done, buffer_, decode_float(from, bits), to_string(dtype_));
}

}  // namespace baton
