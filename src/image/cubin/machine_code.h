#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "image/cubin/cubin.h"

namespace baton::image {

// Whether kernels of a cubin wait and trigger (programmatic dependent launch), by the opcodes of
// everything they can reach. Answers only for linked files and for architectures whose encoding was
// looked at; each section is scanned once. The cubin must outlive it. Not thread-safe.
class MachineCode {
 public:
  explicit MachineCode(const Cubin& cubin);

  struct Found {
    std::optional<bool> waits;
    std::optional<bool> triggers;
  };
  Found from(std::uint32_t kernel_symbol);

 private:
  struct Scan {
    bool is_done = false;
    bool is_readable = false;
    bool waits = false;
    bool triggers = false;
  };
  const Scan& scan(std::uint16_t section);
  void read_call_graph();

  // Kernels times functions: real files stay far below, a hostile one ends here.
  static constexpr std::size_t kMaxVisits = std::size_t{1} << 24;

  const Cubin& cubin_;
  std::vector<Scan> scans_;                                     // by section
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_;  // caller, callee; sorted
  std::vector<std::uint32_t> indirect_;                         // callers; sorted
  std::vector<bool> seen_;
  std::size_t visits_ = 0;
};

}  // namespace baton::image
