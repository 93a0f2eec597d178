#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ptx/ast.h"

namespace baton::image {

// What a kernel and everything it can reach by calls use.
struct Reached {
  std::optional<std::uint32_t> static_shared;  // bytes of static shared memory, laid out in order
  std::optional<bool> waits;                   // griddepcontrol.wait
  std::optional<bool> triggers;                // griddepcontrol.launch_dependents
  std::optional<bool> grid_sync;               // %envreg1 or %envreg2
  std::optional<bool> polls;                   // see ptx_polls.h
  // As far as it is seen:
  int thread_axes = 1;                       // up to the last axis of %tid that is read
  int block_axes = 1;                        // likewise of %ctaid
  bool dynamic_shared = false;               // names an extern variable in shared memory
  bool is_open = false;                      // something is called that cannot be seen
  std::vector<const ptx::Function*> called;  // functions with bodies, without the kernel
};

// Answers for the kernels of one module; each function is looked at once. Not thread-safe. The
// module must outlive it.
class PtxReach {
 public:
  explicit PtxReach(const ptx::ParsedModule& module);
  ~PtxReach();

  // Unknown is what an indirect call, a call of an unknown external function, or a body that does
  // not parse leaves open.
  Reached from(const ptx::Function& kernel);

  // Why facts are missing: bodies that do not parse.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  struct Summary;
  class Reader;
  const Summary& summary(const ptx::Function& function);

  // Kernels times functions: real modules stay far below, a hostile one ends here.
  static constexpr std::size_t kMaxVisits = std::size_t{1} << 24;

  const ptx::ParsedModule& module_;
  struct Tables;
  std::unique_ptr<Tables> tables_;
  std::vector<std::string> remarks_;
  std::size_t visits_ = 0;
};

}  // namespace baton::image
