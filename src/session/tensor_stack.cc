#include "session/tensor_stack.h"

#include <algorithm>
#include <cstring>

#include "base/array.h"
#include "base/error.h"
#include "base/float_convert.h"
#include "base/text.h"
#include "program/tensor_pattern.h"
#include "session/float_conversion.h"

namespace baton {
namespace {

constexpr std::uint64_t kMostChunkBytes = std::uint64_t{8} << 20;

}  // namespace

UploadStaging::UploadStaging(const Device& device, std::uint64_t most_bytes)
    : chunk_bytes_(std::clamp<std::uint64_t>(most_bytes, 1, kMostChunkBytes)) {
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

TensorStack::TensorStack(std::shared_ptr<const SafetensorsFile> file,
                         const bind::BoundBuffer& buffer)
    : file_(std::move(file)),
      buffer_(buffer.definition->name),
      where_(buffer.definition->where),
      dtype_(buffer.definition->dtype),
      bytes_(buffer.bytes) {
  const ProgramBuffer& definition = *buffer.definition;
  const TensorPattern pattern(definition.tensor);
  std::vector<std::int64_t> shape = buffer.shape;
  std::int64_t count = 1;
  if (pattern.is_stacked()) {
    count = shape.front();
    shape.erase(shape.begin());
  }
  for (std::int64_t index = 0; index < count; ++index) {
    const std::string name = pattern.name(index);
    const SafeTensor& tensor = file_->tensor(name);
    const bool is_near = tensor.dtype && is_float(*tensor.dtype) && is_float(definition.dtype);
    const bool fits = tensor.dtype == definition.dtype || (is_near && definition.convert);
    if (!fits || tensor.shape != shape) {
      throw error(ErrorCode::kInvalidInput,
                  "the tensor \"{}\" of {} is {} {}, the buffer {} wants {} {}{}", printable(name),
                  definition.file.string(), printable(tensor.dtype_name), shape_text(tensor.shape),
                  definition.name, to_string(definition.dtype), shape_text(shape),
                  is_near && !fits && tensor.shape == shape ? "; convert = true converts it" : "");
    }
    tensors_.push_back(&tensor);
  }
}

void TensorStack::upload(const Memory& memory, UploadStaging& staging, const Stream& stream,
                         const Uploaded& uploaded) const {
  std::uint64_t offset = 0;
  for (const SafeTensor* tensor : tensors_) {
    if (tensor->dtype == dtype_) {
      upload(*tensor, memory, offset, staging, stream, uploaded);
    } else {
      upload_converted(*tensor, memory, offset, staging, stream, uploaded);
    }
    offset += bytes_ / tensors_.size();
  }
}

void TensorStack::upload(const SafeTensor& tensor, const Memory& memory, std::uint64_t offset,
                         UploadStaging& staging, const Stream& stream,
                         const Uploaded& uploaded) const {
  for (std::uint64_t first = 0; first < tensor.bytes;) {
    const std::uint64_t bytes = std::min(staging.chunk_bytes(), tensor.bytes - first);
    file_->read(tensor, first, bytes, staging.next());
    staging.copy(bytes, memory, offset + first, stream);
    if (uploaded) uploaded(bytes);
    first += bytes;
  }
}

void TensorStack::upload_converted(const SafeTensor& tensor, const Memory& memory,
                                   std::uint64_t offset, UploadStaging& staging,
                                   const Stream& stream, const Uploaded& uploaded) const {
  const FloatConversion conversion(*tensor.dtype, dtype_);
  const std::uint64_t from = size_of(*tensor.dtype), to = size_of(dtype_);
  const std::uint64_t count = tensor.bytes / from;
  const std::uint64_t most = std::max<std::uint64_t>(staging.chunk_bytes() / to, 1);
  std::vector<std::byte> read(std::min(most, count) * from);
  for (std::uint64_t first = 0; first < count;) {
    const std::uint64_t elements = std::min(most, count - first);
    file_->read(tensor, first * from, elements * from, read.data());
    const std::uint64_t done =
        conversion.convert(read.data(), elements, static_cast<std::byte*>(staging.next()));
    if (done != elements) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, read.data() + done * from, from);
      throw error_at(where_, ErrorCode::kInvalidInput,
                     "the element {} of a tensor of the buffer {} is {}, which {} does not hold",
                     first + done, buffer_, decode_float(*tensor.dtype, bits), to_string(dtype_));
    }
    staging.copy(elements * to, memory, offset + first * to, stream);
    if (uploaded) uploaded(elements * to);
    first += elements;
  }
}

}  // namespace baton
