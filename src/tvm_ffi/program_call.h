#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tvm_ffi/handle.h"
#include "tvm_ffi/host_tensors.h"
#include "tvm_ffi/program_parts.h"
#include "tvm_ffi/target.h"

namespace baton::tvm_ffi {

// A value that a call gives to a buffer or a symbol.
using GivenValue = std::variant<const baton_tensor*, std::int64_t>;
// By name. Each refers to the caller's arguments.
using GivenValues = std::map<std::string_view, GivenValue>;

// Reads the arguments of a call: tensors by position, then ints for symbols, then pairs of a name
// and a value. None leaves the buffer or the symbol to the program. Throws Failure.
GivenValues read_arguments(const ProgramParts& parts, std::span<const Any> arguments);

// A program with values and buffers of its own. Thread-safe: calls of several threads follow each
// other.
class ProgramCall {
 public:
  // Throws Failure.
  ProgramCall(const ProgramParts& parts, OpenDevice& device, const baton_program* loaded,
              std::int32_t executor);

  // Enqueues one run on the current stream. On the simulated GPU the tensors may be in host memory;
  // then the call waits for its results. Throws Failure.
  void run(const GivenValues& values, const Target& target);

 private:
  // A tensor that the program was bound to.
  struct BoundTensor {
    void* address;
    baton_dtype dtype;
    baton_dl_device device;
    std::vector<std::int64_t> shape;

    explicit BoundTensor(const baton_tensor& tensor);
    bool is_same(const BoundTensor& other) const;
  };
  // All values that it was bound to.
  struct Bound {
    std::map<std::string, BoundTensor, std::less<>> tensors;
    std::map<std::string, std::int64_t, std::less<>> symbols;
  };

  void run_on_host(const GivenValues& values);
  void set_and_enqueue(const GivenValues& values, const baton_stream* stream);
  bool unset_others(const GivenValues& values);
  bool set_tensor(const std::string& name, const baton_tensor& tensor, Bound& next);
  bool set_symbol(const std::string& name, std::int64_t value, Bound& next);
  void enqueue(const baton_stream* stream, bool bind);
  void enqueue_in_order(const baton_stream* stream);
  bool has_memory_of_its_own(const GivenValues& values) const;

  const ProgramParts& parts_;
  OpenDevice& device_;
  std::mutex mutex_;
  ProgramHandle program_;
  std::optional<Bound> bound_;              // nothing after a call that failed
  std::set<std::string, std::less<>> set_;  // the names that have a value in `program_`
  EventHandle done_;  // recorded after each run that leaves something in the program's own memory
  const baton_stream* last_stream_ = nullptr;
  bool in_own_memory_ = false;
};

}  // namespace baton::tvm_ffi
