#pragma once

#include <cuda.h>

#include <string_view>

namespace baton::sim {

// The options of cuLibraryLoadData, as far as they say where the compiler's messages go.
class JitLog {
 public:
  // Throws Refusal(CUDA_ERROR_INVALID_VALUE) for arrays that are missing or options that do not
  // exist. Options that steer the compiler have no effect.
  JitLog(const CUjit_option* options, void** values, unsigned count);

  bool has_error_buffer() const { return error_.buffer != nullptr && error_.size != nullptr; }
  // Writes the message, cut to the buffer, with its NUL, and its length into the size option.
  void write_error(std::string_view message) const { error_.write(message); }
  void write_info(std::string_view message) const { info_.write(message); }

 private:
  struct Buffer {
    char* buffer = nullptr;
    void** size = nullptr;  // the option's value: capacity in, bytes written out
    void write(std::string_view message) const;
  };
  Buffer error_;
  Buffer info_;
};

}  // namespace baton::sim
