#pragma once

// What each instruction of a kernel's own body does that matters to the places of a wait and of a
// trigger. The functions that an instruction calls count as part of it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/footprint/footprint.h"
#include "pdl/order/early_work.h"
#include "ptx/cfg.h"
#include "ptx/flat.h"

namespace baton::overlap {

// The place before all instructions and labels of a body.
inline constexpr std::uint32_t kTop = kNone;

bool is_call(const Operation& operation);
std::string_view verb_of(const AccessGroup& access);  // "reads memory"

// Immutable. The footprint, which has code, must outlive it.
class BodyEffects {
 public:
  struct Effect {
    std::uint32_t dependent = kNone;  // the first operation that may not be early
    bool loads = false;               // from global memory, or waits: a trigger comes after it
  };

  BodyEffects(const Footprint& footprint, const EarlyWork& early);

  const Code& code() const { return code_; }
  const ptx::FlatFunction& body() const { return body_; }
  const ptx::ControlFlow& flow() const { return flow_; }

  // By instruction of the body.
  std::uint32_t size() const { return static_cast<std::uint32_t>(effects_.size()); }
  const Effect& operator[](std::uint32_t at) const { return effects_[at]; }

  // For any operation: null if it accesses no memory that other launches see.
  const AccessGroup* access(std::uint32_t operation) const { return access_of_[operation]; }
  // Whether it accesses memory in a way that must come after the wait.
  bool depends(std::uint32_t operation) const { return depends_[operation]; }
  // Whether the operation must come after the wait, whatever memory it accesses: functions of the
  // runtime print and allocate in the order of launches.
  bool is_side_effect(const Operation& operation) const;

  std::string place_of(std::uint32_t operation) const {
    return code_.place(code_.operations[operation]);
  }

 private:
  bool is_failed_assertion(const Operation& operation) const;
  void note_call(std::uint32_t at, std::vector<bool>& seen);
  void note(Effect& effect, std::uint32_t operation) const;

  const Code& code_;
  const ptx::FlatFunction body_;
  const ptx::ControlFlow flow_;
  std::vector<const AccessGroup*> access_of_;  // by operation
  std::vector<bool> depends_;                  // by operation
  std::vector<Effect> effects_;                // by instruction of the body
};

}  // namespace baton::overlap
