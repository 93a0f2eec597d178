#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/system/thread_gate.h"
#include "baton/executable.h"

namespace baton::capi {

// A program as C uses it: values are set one by one, and take effect together with the next bind,
// enqueue, run or check. One thread at a time.
class ProgramInstance {
 public:
  ProgramInstance(LoadedProgram program, ExecutorKind executor)
      : executable_(std::move(program), executor) {}

  const LoadedProgram& loaded() const { return executable_.loaded(); }
  const Program& program() const { return executable_.program(); }
  const Device& device() const { return executable_.device(); }
  const Executable& executable() const { return executable_; }

  // Throws kNotFound with the nearest name.
  const ProgramBuffer& buffer(std::string_view name) const;

  // Throws kNotFound with the nearest name.
  void set(std::string_view symbol, std::int64_t value);
  void set(const ProgramBuffer& buffer, Array contents);
  void set(const ProgramBuffer& buffer, DeviceArray memory);
  // Throws kNotFound where nothing was set.
  void unset(std::string_view name);

  // Of the next binds; null: the driver.
  void set_allocator(std::shared_ptr<Allocator> allocator) { allocator_ = std::move(allocator); }

  using Progress = std::function<void(const UploadProgress&)>;
  void set_progress(Progress progress) { progress_ = std::move(progress); }

  bool is_bound() const { return bound_; }
  void bind();
  // Returns the executable, bound to the values that are set now: in place where that is possible,
  // and otherwise by `bind`.
  Executable& bound_anyhow();
  // The same, in place alone. Throws kInvalidInput where a bind is necessary.
  Executable& bound_in_place();
  // Returns it as it was bound last. Throws kInvalidInput before the first bind.
  Executable& bound_before();
  CheckReport check() const { return loaded().check(bindings()); }

 private:
  using BufferValue = std::variant<Array, DeviceArray>;
  Bindings bindings() const;
  void update();

  Executable executable_;
  std::vector<SymbolValue> symbols_;  // that are set; their names are the program's
  std::map<std::string, BufferValue, std::less<>> buffers_;
  std::shared_ptr<Allocator> allocator_;
  Progress progress_;
  bool bound_ = false;
  // What was set since the values were taken last:
  bool symbols_changed_ = false;
  std::vector<const ProgramBuffer*> moved_;  // to other memory of the caller
  std::string needs_bind_;                   // the first name that only a bind takes, or empty
};

struct ProgramContent {
  ProgramInstance instance;
  ThreadGate gate{};
};

}  // namespace baton::capi
