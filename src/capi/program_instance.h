#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "baton/executable.h"
#include "capi/exclusive_use.h"

namespace baton::capi {

// A program as C uses it: values are set one by one, and take effect with the next bind, run or
// check. One thread at a time.
class ProgramInstance {
 public:
  ProgramInstance(LoadedProgram program, ExecutorKind executor)
      : executable_(std::move(program), executor) {}

  const LoadedProgram& loaded() const { return executable_.loaded(); }
  const Program& program() const { return executable_.program(); }
  const Executable& executable() const { return executable_; }

  // Throw kNotFound with the nearest name for a symbol or buffer that the program lacks.
  void set(std::string_view symbol, std::int64_t value);
  void set(std::string_view buffer, Array contents);
  void set(std::string_view buffer, DeviceArray memory);
  void unset(std::string_view name);

  bool is_bound() const { return bound_; }
  void bind();
  // Binds first if something was set since.
  const RunReport& run(const RunOptions& options);
  CheckReport check() const { return loaded().check(bindings()); }

  // Throws kNotFound with the nearest name.
  const ProgramBuffer& buffer(std::string_view name) const;

 private:
  using BufferValue = std::variant<Array, DeviceArray>;
  Bindings bindings() const;

  Executable executable_;
  std::map<std::string, std::int64_t, std::less<>> symbols_;
  std::map<std::string, BufferValue, std::less<>> buffers_;
  bool bound_ = false;
  bool changed_ = false;  // since the last bind
};

struct ProgramContent {
  ProgramInstance instance;
  ExclusiveUse use{};
};

}  // namespace baton::capi
