#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ptx/cfg.h"

namespace baton::sim {

// What an instruction does to the registers that wgmma uses, or that copies of those are.
struct WgmmaStep {
  enum class Kind : std::uint8_t {
    kOther,
    kCopy,      // reads[0] becomes writes[0], and nothing else happens
    kMultiply,  // writes: the accumulator; reads: a
    kFence,
    kCommit,
    kWait,
  };
  Kind kind = Kind::kOther;
  std::uint32_t shape = 0;  // of kMultiply: of the accumulator
  std::uint32_t left = 0;   // of kWait: groups that may be under way
  // Of kOther: moves a constant. Compilers put that anywhere before an operation, also after the
  // program's fence.
  bool is_constant = false;
  std::vector<std::uint32_t> reads, writes;
};

// Where the rules of PTX for the registers of wgmma may be broken on some path (PTX ISA 9.0,
// "wgmma.mma_async", "wgmma.fence", "wgmma.wait_group"). A forward analysis; whether it happens is
// found out at run time, at the places that this names (async/wgmma_registers.h).
class WgmmaFlow {
 public:
  // A step for each instruction of the graph.
  WgmmaFlow(const ptx::ControlFlow& flow, const std::vector<WgmmaStep>& steps);

  // Whether the instruction may access a register that an operation may still have in use.
  bool may_be_busy(std::uint32_t instruction) const { return busy_[instruction]; }
  // Whether there is any such access: then operations note what they use.
  bool is_followed() const { return any_busy_; }
  // Of kMultiply: whether one of its registers may have been written with no fence since.
  bool may_lack_fence(std::uint32_t instruction) const { return unfenced_[instruction]; }
  // Whether such a wgmma uses the register.
  bool is_used_unfenced(std::uint32_t reg) const {
    const auto found = number_.find(reg);
    return found != number_.end() && used_unfenced_[found->second];
  }
  // Of kMultiply: the registers that make it so.
  const std::vector<std::uint32_t>& conflicts(std::uint32_t instruction) const {
    static const std::vector<std::uint32_t> kNone;
    const auto found = conflicts_.find(instruction);
    return found == conflicts_.end() ? kNone : found->second;
  }
  bool follows(std::uint32_t reg) const { return number_.contains(reg); }
  bool is_clean() const { return !any_busy_ && !any_unfenced_; }

 private:
  // Of a register: how many groups were committed since an operation, and one more; 0 while none
  // has it in use. The least of several, as the latest operation is over last.
  struct RegisterState {
    std::uint8_t reader = 0;
    std::uint8_t adder = 0;
    bool is_written = false;  // since the last fence
    std::uint32_t shape = 0;  // which shape the product that adds has
  };
  using State = std::vector<RegisterState>;

  static bool join(RegisterState& into, const RegisterState& from);
  void apply(std::uint32_t instruction, State& state, bool notes);
  void apply_other(std::uint32_t instruction, State& state, bool notes);
  void apply_multiply(std::uint32_t instruction, State& state, bool notes);

  const std::vector<WgmmaStep>& steps_;
  std::unordered_map<std::uint32_t, std::uint32_t> number_;  // of the registers that are followed
  std::vector<bool> busy_, unfenced_;                        // by instruction
  std::vector<bool> used_unfenced_;                          // by number
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> conflicts_;
  bool any_busy_ = false, any_unfenced_ = false;
};

}  // namespace baton::sim
