#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/array/safetensors_model.h"
#include "base/system/thread_team.h"
#include "baton/buffer.h"
#include "bind/buffers.h"
#include "session/memory/float_conversion.h"

namespace baton {

// Page-locked memory through which files get to the device, a chunk at a time: one chunk is read
// while another is copied. One thread at a time.
class UploadStaging {
 public:
  UploadStaging(const Device& device, std::uint64_t most_bytes);
  // Waits for the copies.
  ~UploadStaging();

  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  // Whether chunks for `most_bytes` would be no larger than these.
  bool serves(std::uint64_t most_bytes) const;
  // Threads that fill a chunk together: one alone reads slower than the device copies.
  ThreadTeam& team() { return team_; }
  // A chunk whose last copy has completed.
  void* next();
  // Enqueues the copy of the chunk that `next` returned.
  void copy(std::uint64_t bytes, const Memory& to, std::uint64_t offset, const Stream& stream);

 private:
  struct Chunk {
    PinnedMemory memory;
    Event copied;
    bool is_used = false;
  };

  std::uint64_t chunk_bytes_;
  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;
  ThreadTeam team_;
};

// The contents of a buffer in .safetensors files: one tensor, or a stack of them. Of a sharded
// buffer only the rank's part is read.
class TensorStack {
 public:
  using Uploaded = std::function<void(std::uint64_t bytes)>;

  // The buffer's definition names the tensors. Throws kNotFound for a tensor that the model lacks,
  // and kInvalidInput for another shape than the buffer's, and another dtype unless it is a float
  // that is to be converted.
  TensorStack(std::shared_ptr<const SafetensorsModel> model, const bind::BoundBuffer& buffer);

  std::uint64_t bytes() const { return part_.bytes * tensors_.size(); }
  // Reads the tensors and enqueues their copies. `uploaded` gets the bytes of each copy, unless it
  // is empty. Throws what the file's reading throws, and
  // kInvalidInput for an element that is beyond the range of the buffer's dtype.
  void upload(const Memory& memory, UploadStaging& staging, const Stream& stream,
              const Uploaded& uploaded) const;

 private:
  void upload(const SafetensorsModel::Place& place, const Memory& memory, std::uint64_t offset,
              UploadStaging& staging, const Stream& stream, const Uploaded& uploaded) const;
  // Elements [first, first + count) of a tensor, `read` and converted into `target`.
  void convert(const FloatConversion& conversion, DType from, const std::byte* read,
               std::uint64_t first, std::uint64_t count, std::byte* target) const;

  std::shared_ptr<const SafetensorsModel> model_;
  std::string buffer_;                            // its name
  SourceLocation where_;                          // of the buffer in the program
  DType dtype_;                                   // of the buffer
  bind::BoundBuffer part_;                        // the part of one tensor
  std::vector<SafetensorsModel::Place> tensors_;  // in the order of the buffer
};

}  // namespace baton
