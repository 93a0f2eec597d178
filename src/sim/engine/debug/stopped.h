#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/run/state.h"

namespace baton::sim {

// A cluster's threads while an instruction of one of its warps is about to be executed. Threads
// have numbers from 1 on, block by block.
class Stopped {
 public:
  Stopped(Exec* x, const Insn* i) : x_(x), i_(i) {}

  // Those that have not exited.
  std::vector<std::uint32_t> threads() const;
  bool is_thread(std::uint32_t thread) const { return find(thread).has_value(); }
  // The first one of those that are about to execute the instruction.
  std::uint32_t current() const;
  // Of a lane of the warp.
  std::uint32_t thread_of(int lane) const;
  const Warp* warp_of(std::uint32_t thread) const;

  // "block (0, 0, 0), thread (3, 0, 0)".
  std::string name_of(std::uint32_t thread) const;
  // "norm.cu:12:7".
  std::string place_of(std::uint32_t thread) const;
  // The line of the PTX, and the instruction there.
  std::uint32_t line_of(std::uint32_t thread) const;
  std::string instruction_of(std::uint32_t thread) const;
  // The functions that the thread is in, the innermost first, with their places.
  std::vector<std::string> calls_of(std::uint32_t thread) const;

  struct Register {
    std::string name;
    std::uint8_t bits = 32;
    std::uint64_t value = 0;
  };
  // Of the innermost function.
  std::vector<Register> registers_of(std::uint32_t thread) const;
  // Changes one of these. False where there is none of that name, or the value does not fit in it.
  bool set_register(std::uint32_t thread, std::string_view name, std::string_view value) const;
  // Of a generic address as the thread has it; fewer bytes where memory ends.
  std::string memory(std::uint32_t thread, std::uint64_t address, std::uint64_t bytes) const;
  // Changes memory there. False, and nothing is changed, where some of it is not there or is a
  // parameter's.
  bool set_memory(std::uint32_t thread, std::uint64_t address, std::string_view bytes) const;
  // Lines of the source around the thread's place, its own marked; of the PTX where the source is
  // not on this machine.
  std::string source_of(std::uint32_t thread) const;

 private:
  struct Place {
    const BlockState* block;
    Warp* warp;
    int lane;
    const CallFrame* frame;
    const Insn* pc;
  };
  std::optional<Place> find(std::uint32_t thread) const;
  const Site* site_of(const CallFrame& frame, const Insn* pc) const;
  // Where shared memory or the thread's local one has the byte; null: neither has it.
  std::byte* own_byte(const Place& place, std::uint64_t address) const;
  void note_own_write(const Place& place, std::uint64_t address) const;
  std::optional<std::byte> byte_at(const Place& place, std::uint64_t address) const;

  Exec* x_;
  const Insn* i_;
};

}  // namespace baton::sim
