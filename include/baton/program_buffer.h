#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/dtype.h"
#include "baton/expression.h"

namespace baton {

class HeldBytes;

enum class BufferRole : std::uint8_t {
  kInput,
  kWeight,  // gets its contents once; no step writes it
  kOutput,
  kInout,
  kScratch,
  kState,  // gets its contents once, and keeps what the steps write from run to run
  kCache,  // a state with rows below a counter that no step writes (ProgramBuffer::frozen)
};
// kNormal and kUniform are random like kRandom, with a distribution of their own (ProgramBuffer).
enum class BufferInit : std::uint8_t {
  kNone,
  kZeros,
  kOnes,
  kArange,
  kRandom,
  kFile,
  kNormal,
  kUniform,
};

BATON_API std::string_view to_string(BufferRole role) noexcept;
BATON_API std::string_view to_string(BufferInit init) noexcept;

// A __device__ or __constant__ variable in the module of one of the program's kernels.
struct ModuleVariable {
  std::string kernel = {};  // the kernel's name in the program
  std::string name = {};    // as Module::variable takes it
  friend bool operator==(const ModuleVariable& a, const ModuleVariable& b) {
    return a.kernel == b.kernel && a.name == b.name;
  }
};

// The rows of a cache that no launch writes: those below a counter in another buffer, whose value
// the steps change. Launches may read them before their wait. "pos[0]" names a counter.
struct BATON_API FrozenRows {
  std::string counter = {};  // a buffer of integers
  std::int64_t element = 0;  // of that buffer
  std::size_t axis = 0;      // the dimension of the cache that counts its rows
  SourceLocation where = {};

  // Parses "pos[0]". Throws kInvalidInput.
  static FrozenRows from_text(std::string_view text, SourceLocation where = {});
  std::string text() const;  // "pos[0]"
  friend bool operator==(const FrozenRows& a, const FrozenRows& b) {
    return a.counter == b.counter && a.element == b.element && a.axis == b.axis;
  }
};

// Each rank of a group has one part of a whole array, which is divided along a dimension: the first
// rank has the first part. Ranks with equal numbers in that group have equal parts. The buffer's
// shape is the shape of its part.
struct BufferShard {
  std::size_t axis = 0;
  std::string group = {};  // empty: all ranks
  SourceLocation where = {};

  friend bool operator==(const BufferShard& a, const BufferShard& b) {
    return a.axis == b.axis && a.group == b.group;
  }
};

struct ProgramBuffer {
  std::string name = {};
  DType dtype = DType::kF32;
  std::vector<Expression> shape = {};  // empty for one element
  BufferRole role = BufferRole::kScratch;
  BufferInit init = BufferInit::kNone;
  double deviation = 0;  // kNormal: the standard deviation of a float dtype, with mean 0
  // kUniform: floats in [low, high); integers from low to high, both included.
  double low = 0, high = 0;
  // kFile: a .npy; with `tensor` a .safetensors, or the .json index of a model in several of these.
  std::filesystem::path file = {};
  // kFile: a tensor of the model. "layers.{layer}.w" names one for each element of the first
  // dimension, counted from 0: the buffer is a stack of them. Empty: the file is a .npy.
  std::string tensor = {};
  // With `tensor`: whether a tensor of another float dtype is converted to `dtype`, rounded to
  // nearest. Otherwise it is an error.
  bool convert = false;
  // kFile: the bytes of the file if they came with the program, in a bundle. `file` is not read.
  std::shared_ptr<const HeldBytes> contents = {};
  // The bytes of the .safetensors files of an index, by the names that it gives them.
  std::map<std::string, std::shared_ptr<const HeldBytes>, std::less<>> content_shards = {};
  // The buffer is this variable, or its beginning, and has no memory of its own.
  std::optional<ModuleVariable> variable = {};
  // kCache: the rows that no launch writes. Empty for every other role.
  std::optional<FrozenRows> frozen = {};
  // Its contents at the start of a run are this rank's part of an array: of an input, of a file, or
  // of the array that `init` makes. Several of these have different axes and different groups.
  std::vector<BufferShard> shards = {};
  // An output, inout or state buffer: a .npy file with the contents that a run should leave.
  // `Executable::compare_expected` reads it. Empty: none.
  std::filesystem::path expect = {};
  SourceLocation where = {};
};

BATON_API bool operator==(const ProgramBuffer& a, const ProgramBuffer& b);

}  // namespace baton
