#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "driver/simulator.h"
#include "sim/engine/exec.h"

namespace baton::sim {

// All findings of an engine: in the order first seen, equal ones (same kind, kernel and place)
// merged. Thread-safe.
class FindingLog {
 public:
  void add(driver::Finding finding);
  // Counts one more of an equal finding; false where there is none yet, so that the caller need
  // compose its message only once.
  bool count_again(const std::string& kind, const std::string& kernel, const std::string& where);
  std::vector<driver::Finding> list() const;
  std::vector<driver::Finding> take();

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  mutable std::mutex mutex_;
  std::vector<driver::Finding> findings_;
  std::map<Key, std::size_t> index_;
};

// Records a finding about the thread in `lane` at instruction `i`.
void report(Exec* x, const Insn* i, int lane, driver::Finding::Severity severity, const char* kind,
            const std::string& message);
// The same for an error that ends the grid with `code`. Returns null, as a handler must then.
const Insn* fault(Exec* x, const Insn* i, int lane, CUresult code, const char* kind,
                  const std::string& message);

}  // namespace baton::sim
