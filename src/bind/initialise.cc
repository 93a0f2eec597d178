#include "bind/initialise.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/array/float_convert.h"
#include "base/error.h"
#include "bind/random.h"
#include "bind/shards.h"
#include "program/scalar.h"

namespace baton::bind {
namespace {

// Small enough to stay in a core's cache between being made and being copied, and for the copy's
// staging to reuse memory: touching new memory takes longer than the copy.
constexpr std::uint64_t kChunkBytes = 256 << 10;

// Makes the elements part by part: `make` writes `count` of them from number `first` of the whole
// on.
template <typename Make>
void upload_parts(const BoundBuffer& buffer, const Stream& stream, Make&& make) {
  const std::uint64_t size = buffer.element_size();
  const auto elements = static_cast<std::uint64_t>(buffer.elements);
  const std::uint64_t part = std::min(kChunkBytes / size, elements);
  const auto staging = std::make_unique_for_overwrite<unsigned char[]>(part * size);
  for (std::uint64_t first = 0; first < elements; first += part) {
    const std::uint64_t count = std::min(part, elements - first);
    for_each_run(buffer, first, count, [&](auto begin, auto length, auto offset) {
      make(offset, length, staging.get() + (begin - first) * size);
    });
    buffer.memory->upload(staging.get(), count * size, first * size, stream);
  }
}

void fill(const BoundBuffer& buffer, std::int64_t value, const Stream& stream) {
  buffer.memory->fill(*encode_exact(buffer.definition->dtype, value),
                      static_cast<unsigned>(buffer.element_size()),
                      static_cast<std::size_t>(buffer.elements), 0, stream);
}

// `make` takes the buffer's sequence, the first element, their number and the target.
template <typename Make>
void upload_random(const BoundBuffer& buffer, std::uint64_t seed, const Stream& stream,
                   Make&& make) {
  const RandomSequence sequence(seed, buffer.definition->name);
  upload_parts(buffer, stream,
               [&](std::uint64_t first, std::uint64_t count, unsigned char* target) {
                 make(sequence, first, count, target);
               });
}

void make_arange(DType dtype, std::uint64_t first, std::uint64_t count, unsigned char* target) {
  const std::size_t size = size_of(dtype);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t value = first + i;
    const std::uint64_t bits =
        is_float(dtype) ? encode_float(dtype, static_cast<double>(value)) : value;
    std::memcpy(target + i * size, &bits, size);
  }
}

}  // namespace

bool depends_on_seed(const ProgramBuffer& buffer) {
  switch (buffer.init) {
    case BufferInit::kRandom:
    case BufferInit::kNormal:
    case BufferInit::kUniform:
      return true;
    case BufferInit::kNone:
    case BufferInit::kZeros:
    case BufferInit::kOnes:
    case BufferInit::kArange:
    case BufferInit::kFile:
      return false;
  }
  return false;
}

void check_arange(const BoundBuffer& buffer) {
  const ProgramBuffer& definition = *buffer.definition;
  if (definition.init != BufferInit::kArange || is_float(definition.dtype)) return;
  std::int64_t last = buffer.elements;
  for (const BoundShard& shard : buffer.shards) last *= static_cast<std::int64_t>(shard.ranks);
  --last;
  if (last <= greatest(definition.dtype)) return;
  throw error_at(definition.where, ErrorCode::kInvalidInput,
                 "arange of buffer {} counts to {}, {} holds {} at the most", definition.name, last,
                 to_string(definition.dtype), greatest(definition.dtype));
}

void initialise(const BoundBuffer& buffer, const Array* given, std::uint64_t seed,
                const Stream& stream) {
  if (buffer.bytes == 0) return;
  const ProgramBuffer& definition = *buffer.definition;
  if (given != nullptr) {
    buffer.memory->upload(given->bytes.data(), given->bytes.size(), 0, stream);
    return;
  }
  switch (definition.init) {
    case BufferInit::kZeros:
      return fill(buffer, 0, stream);
    case BufferInit::kOnes:
      return fill(buffer, 1, stream);
    case BufferInit::kArange:
      return upload_parts(buffer, stream, [&](auto first, auto count, unsigned char* target) {
        make_arange(definition.dtype, first, count, target);
      });
    case BufferInit::kRandom:
      return upload_random(buffer, seed, stream, [&](auto& sequence, auto... part) {
        sequence.generate(definition.dtype, part...);
      });
    case BufferInit::kNormal:
      return upload_random(buffer, seed, stream, [&](auto& sequence, auto... part) {
        sequence.generate_normal(definition.dtype, definition.deviation, part...);
      });
    case BufferInit::kUniform:
      return upload_random(buffer, seed, stream, [&](auto& sequence, auto... part) {
        sequence.generate_uniform(definition.dtype, definition.low, definition.high, part...);
      });
    case BufferInit::kFile:  // comes as `given`
    case BufferInit::kNone:
      return;
  }
}

}  // namespace baton::bind
