#pragma once

#include <functional>
#include <string>
#include <vector>

#include "baton/program.h"
#include "bind/buffers.h"
#include "bind/plan.h"

namespace baton {

// The setup steps of a program, planned as a program of their own: they are executed once for a
// binding, with full edges. Weights that they make are ordinary buffers to them.
class PlannedSetup {
 public:
  // The program must have setup steps. Throws what make_plan throws.
  PlannedSetup(const Program& program,
               const std::function<Kernel(const std::string& name)>& kernel,
               bind::ParamNaming naming);

  const bind::Plan& plan() const { return plan_; }
  // Whether a setup step uses the buffer, by its number.
  bool uses_buffer(std::size_t buffer) const { return buffers_[buffer]; }
  // Whether a setup step depends on the symbol, by its number.
  bool uses_symbol(std::size_t symbol) const;
  // A table for the setup steps: shapes and addresses of `table`, with the setup's roles.
  bind::BufferTable table(const bind::BufferTable& table) const;

 private:
  Program program_;
  bind::Plan plan_;
  std::vector<bool> buffers_;
};

}  // namespace baton
