#pragma once

#include <memory>
#include <string_view>

#include "baton/allocator.h"
#include "baton/executable.h"
#include "core/object.h"
#include "core/one_thread.h"

namespace baton::python {

// The contents of a baton._core.Executable.
struct ExecutableValue {
  std::unique_ptr<Executable> executable;
  // Of the last bind; null: the driver. Outputs of calls come from it too.
  std::shared_ptr<Allocator> allocator = {};
  OneThread users = {};
  static constexpr std::string_view kName = "bound program";
  Executable* operator->() const { return executable.get(); }
};

inline ExecutableValue& executable_in(PyObject* self) {
  return value_of<ExecutableValue>(self);
}

}  // namespace baton::python
