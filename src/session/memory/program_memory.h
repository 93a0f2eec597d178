#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/array.h"
#include "baton/bindings.h"
#include "baton/stream.h"
#include "bind/buffers.h"
#include "session/loaded_program.h"
#include "session/memory/tensor_stack.h"

namespace baton {

// The buffers of a bound program: their memory, and the contents that they get. One thread at a
// time.
class ProgramMemory {
 public:
  using Arrays = std::map<std::string, Array, std::less<>>;  // by buffer

  explicit ProgramMemory(const LoadedProgramState& state);

  const bind::BufferTable& table() const { return *table_; }

  // What a binding needs, read and checked, while the memory stays as it is.
  struct Next {
    Arrays contents;
    std::map<std::string, TensorStack, std::less<>> tensors;  // by buffer, instead of an array
    std::vector<bool> kept;   // by buffer: its memory and its contents stay
    std::vector<bool> given;  // by buffer: its contents come with the binding
    // By buffer: a weight that another executable has in memory. Its contents were not read.
    std::vector<std::shared_ptr<const Memory>> shared;
    std::shared_ptr<Allocator> allocator;
    std::function<void(const UploadProgress&)> progress;
  };
  // Reads the files that the program names, and checks them and the given arrays against the
  // buffers of `table`. Takes the arrays out of `given`. What stays is not read.
  Next read(Bindings& given, const bind::BufferTable& table) const;

  // Allocates the buffers of `table`, uploads on `stream` what gets its contents once, and waits
  // for that. Throws kOutOfMemory; nothing is allocated then.
  void allocate(bind::BufferTable table, Next next, std::uint64_t seed, const Stream& stream);
  // From now on a simulated GPU reports kernels that write constant buffers; during the setup, but
  // those that the setup makes.
  void protect(bool in_setup) const;
  // Tells a simulated GPU the frozen rows of caches; none for the setup.
  void freeze(bool in_setup) const;
  // Keeps all memory, for a table of equal shapes in the same memory.
  void keep(Next next, std::uint64_t seed);
  // Whether `allocate` would neither move nor renew anything but what each run initialises.
  bool stays(const bind::BufferTable& table, const Next& next) const;

  // Enqueues the first contents of the buffers that each run initialises.
  void initialise(const Stream& stream);
  // Enqueues the first contents of a state buffer, by its number.
  void reset(std::size_t buffer, const Stream& stream);
  // Whether `initialise` was called since the last binding that brought contents.
  bool is_initialised() const { return is_initialised_; }

  // Makes the caller's memory the buffer's.
  void adopt(std::size_t buffer, DeviceAddress address);

  // The contents of the results, and of the buffers in `more`; without `with_states`, only those of
  // results that are neither states nor caches. They are complete when the stream's work is done.
  // Throws kNotFound for a name that is none.
  Arrays download(const Stream& stream, std::span<const std::string> more, bool with_states) const;
  // Waits for the stream's work, and downloads the buffer of that number.
  Array contents_of(std::size_t buffer, const Stream& stream) const;
  // The number of a buffer. Throws kNotFound.
  std::size_t number_of(std::string_view buffer) const;
  // Warnings about outputs that no step wrote. `written`: by buffer, whether a step that is
  // executed may write it.
  std::vector<std::string> unwritten(const Arrays& outputs, const std::vector<bool>& written) const;

 private:
  bool stays(const bind::BoundBuffer& wanted, const Bindings& given) const;
  // Whether setup steps make the buffer's contents.
  bool is_made(std::size_t buffer) const;
  // The key of a weight that executables may share, by its number.
  std::optional<WeightPool::Key> shared_key(const bind::BufferTable& table, std::size_t buffer,
                                            const Next& next, std::uint64_t seed) const;
  // The memory of a buffer that is not kept.
  Memory memory_of(const bind::BoundBuffer& buffer, const Next& next) const;
  Memory variable(const bind::BoundBuffer& buffer) const;
  const Array* contents(const ProgramBuffer& buffer) const;
  // Enqueues the first contents of a buffer.
  // `uploaded`: gets the bytes that are on their way, a part at a time.
  void fill(const bind::BoundBuffer& buffer, const Stream& stream,
            std::optional<UploadStaging>& staging,
            const std::function<void(std::uint64_t)>& uploaded = {}) const;

  const LoadedProgramState& state_;
  std::unique_ptr<bind::BufferTable> table_;  // a tape refers to it
  bool allocated_ = false;
  Arrays contents_;
  std::map<std::string, TensorStack, std::less<>> tensors_;
  std::vector<bool> given_;               // by buffer: its contents came with the last binding
  std::shared_ptr<Allocator> allocator_;  // of the last binding
  std::uint64_t seed_ = 0;
  bool is_initialised_ = false;
};

}  // namespace baton
