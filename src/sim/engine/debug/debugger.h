#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "driver/simulator.h"
#include "sim/engine/debug/gdb_connection.h"
#include "sim/engine/isa/insn.h"

namespace baton::sim {

struct Exec;
struct GridState;
struct Warp;
class Stopped;

// Lets GDB look at kernels while they run: by its remote protocol it stops them at a launch, a line
// or a finding, shows the threads of the cluster that is stopped, their registers and memory, and
// lets a warp execute an instruction. The engine's threads call it; while it is stopped, they wait.
class Debugger {
 public:
  explicit Debugger(std::uint16_t port) : port_(port) {}

  // A grid is launched. The first one waits for GDB to connect to the port of this machine. If
  // another process has the port, nothing stops, and standard error says so.
  void begin(const GridState& grid);
  // The warp is about to execute the instruction. (op_debug calls it.)
  void before(Exec* x, const Insn* i);
  // The instruction faults. It has no effect, and the grid ends when GDB goes on.
  void fault(Exec* x, const Insn* i, int lane, const driver::Finding& finding);
  // Something was found that is not a fault: stops at the next instruction.
  void note(const driver::Finding& finding);

 private:
  enum class Resume : std::uint8_t { kNo, kYes };

  bool stops_at_line(Exec* x, const Insn* i);
  void stop(const Stopped& stopped, std::uint32_t thread, int signal, std::string_view why);
  Resume answer(const Stopped& stopped, const std::string& packet, int signal);
  Resume resume(const Stopped& stopped, const std::string& packet);
  std::string query(const Stopped& stopped, const std::string& packet);
  std::string monitor(const Stopped& stopped, const std::string& command);
  std::string add_line(std::string_view line);
  void detach();

  struct Line {
    std::string file;  // empty: of the PTX
    std::uint32_t line = 0;
  };

  std::mutex mutex_;  // guards all of it: one warp is stopped at a time
  const std::uint16_t port_;
  GdbConnection connection_;
  bool is_attached_ = false;
  bool has_ended_ = false;  // GDB is gone: everything runs on
  bool stops_at_launches_ = true;
  bool stops_at_findings_ = true;
  std::uint64_t launched_ = 0;  // the grid whose first instruction is to come; 0: none
  const Warp* stepped_ = nullptr;
  std::vector<Line> lines_;
  std::unordered_map<const Insn*, std::uint32_t> line_at_;  // which of lines_ from 1 on; 0: none
  std::unordered_map<const Warp*, std::uint32_t> last_line_;
  std::string found_;         // what was found and not told yet
  std::string told_;          // why it is stopped
  std::uint32_t thread_ = 1;  // that GDB asks about
  std::uint32_t until_poll_ = 0;
};

// Tells x->grid's debugger. r[4] is the number of the instruction, as for op_join.
const Insn* op_debug(Exec* x, const Insn* i);

}  // namespace baton::sim
