#pragma once

#include <cstdio>
#include <string_view>

namespace baton::cli {

// Standard output, for one command. The process has at most one that is reserved.
class StandardOutput {
 public:
  // Where `reserved` is true, only `write` reaches standard output. What kernels and libraries
  // print there goes to standard error until this object is destroyed.
  explicit StandardOutput(bool reserved);
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  // Writes all of it. A closed pipe is not an error: nothing reads the rest. Throws kInvalidInput
  // for another reason, such as a full disk.
  void write(std::string_view text);

 private:
  std::FILE* own_ = nullptr;  // the real standard output, where it is reserved
};

}  // namespace baton::cli
