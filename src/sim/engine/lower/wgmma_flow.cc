#include "sim/engine/lower/wgmma_flow.h"

#include <algorithm>
#include <deque>

namespace baton::sim {
namespace {

constexpr std::uint8_t kMostAge = 64;  // groups that are distinguished

std::uint8_t older(std::uint8_t age) {
  return age == 0 ? age : std::min<std::uint8_t>(static_cast<std::uint8_t>(age + 1), kMostAge);
}

// The age of the later operation, where there is one.
std::uint8_t later(std::uint8_t a, std::uint8_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// What is left of it after a wait for all groups but `left`. Age 1 has no group yet.
std::uint8_t after_wait(std::uint8_t age, std::uint32_t left) {
  return age >= 2 && age - 2u >= left ? 0 : age;
}

}  // namespace

WgmmaFlow::WgmmaFlow(const ptx::ControlFlow& flow, const std::vector<WgmmaStep>& steps)
    : steps_(steps), busy_(steps.size()), unfenced_(steps.size()) {
  const auto follow = [&](std::uint32_t reg) {
    return number_.try_emplace(reg, static_cast<std::uint32_t>(number_.size())).second;
  };
  for (const WgmmaStep& step : steps) {
    if (step.kind != WgmmaStep::Kind::kMultiply) continue;
    for (const std::uint32_t reg : step.writes) follow(reg);
    for (const std::uint32_t reg : step.reads) follow(reg);
  }
  if (number_.empty()) return;
  for (bool grows = true; grows;) {
    grows = false;
    for (const WgmmaStep& step : steps) {
      if (step.kind == WgmmaStep::Kind::kCopy && number_.contains(step.reads[0])) {
        grows = follow(step.writes[0]) || grows;
      }
    }
  }
  used_unfenced_.resize(number_.size());

  const auto& blocks = flow.blocks();
  std::vector<State> states(blocks.size() + 1, State(number_.size()));
  std::vector<bool> is_pending(blocks.size() + 1), was_reached(blocks.size() + 1);
  std::deque<std::uint32_t> pending = {0};
  is_pending[0] = was_reached[0] = true;
  while (!pending.empty()) {
    const std::uint32_t block = pending.front();
    pending.pop_front();
    is_pending[block] = false;
    if (block == flow.exit()) continue;
    State state = states[block];
    for (std::uint32_t k = blocks[block].begin; k < blocks[block].end; ++k) apply(k, state, false);
    for (const std::uint32_t next : flow.successors(block)) {
      bool changed = !was_reached[next];
      was_reached[next] = true;
      for (std::size_t reg = 0; reg < state.size(); ++reg) {
        changed = join(states[next][reg], state[reg]) || changed;
      }
      if (!changed || is_pending[next]) continue;
      is_pending[next] = true;
      pending.push_back(next);
    }
  }
  for (std::uint32_t block = 0; block < blocks.size(); ++block) {
    if (!was_reached[block]) continue;
    State state = states[block];
    for (std::uint32_t k = blocks[block].begin; k < blocks[block].end; ++k) apply(k, state, true);
  }
}

bool WgmmaFlow::join(RegisterState& into, const RegisterState& from) {
  const RegisterState before = into;
  into.reader = later(into.reader, from.reader);
  // Accumulators of different shapes in one register are none that may be added to.
  if (into.adder != 0 && from.adder != 0 && into.shape != from.shape) {
    into.shape = UINT32_MAX;
  } else if (from.adder != 0) {
    into.shape = from.shape;
  }
  into.adder = later(into.adder, from.adder);
  into.is_written = into.is_written || from.is_written;
  return into.reader != before.reader || into.adder != before.adder ||
         into.is_written != before.is_written || into.shape != before.shape;
}

void WgmmaFlow::apply(std::uint32_t instruction, State& state, bool notes) {
  const WgmmaStep& step = steps_[instruction];
  switch (step.kind) {
    case WgmmaStep::Kind::kOther:
      return apply_other(instruction, state, notes);
    case WgmmaStep::Kind::kCopy: {
      const auto to = number_.find(step.writes[0]);
      if (to == number_.end()) return;
      const auto from = number_.find(step.reads[0]);
      if (from == number_.end()) return apply_other(instruction, state, notes);
      state[to->second] = state[from->second];
      return;
    }
    case WgmmaStep::Kind::kMultiply:
      return apply_multiply(instruction, state, notes);
    case WgmmaStep::Kind::kFence:
      for (RegisterState& reg : state) reg.is_written = false;
      return;
    case WgmmaStep::Kind::kCommit:
      for (RegisterState& reg : state) {
        reg.reader = older(reg.reader);
        reg.adder = older(reg.adder);
      }
      return;
    case WgmmaStep::Kind::kWait:
      for (RegisterState& reg : state) {
        reg.reader = after_wait(reg.reader, step.left);
        reg.adder = after_wait(reg.adder, step.left);
      }
      return;
  }
}

void WgmmaFlow::apply_other(std::uint32_t instruction, State& state, bool notes) {
  const WgmmaStep& step = steps_[instruction];
  bool is_busy = false;
  for (const std::uint32_t reg : step.reads) {
    const auto found = number_.find(reg);
    if (found != number_.end()) is_busy = is_busy || state[found->second].adder != 0;
  }
  for (const std::uint32_t reg : step.writes) {
    const auto found = number_.find(reg);
    if (found == number_.end()) continue;
    RegisterState& written = state[found->second];
    is_busy = is_busy || written.adder != 0 || written.reader != 0;
    written = {};
    written.is_written = !step.is_constant;
  }
  if (!notes || !is_busy) return;
  busy_[instruction] = any_busy_ = true;
}

void WgmmaFlow::apply_multiply(std::uint32_t instruction, State& state, bool notes) {
  const WgmmaStep& step = steps_[instruction];
  bool is_unfenced = false, is_busy = false;
  const auto use = [&](std::uint32_t reg, bool adds) {
    const std::uint32_t number = number_.at(reg);
    RegisterState& used = state[number];
    // Operations of one shape are ordered by themselves.
    const bool is_same = adds && used.adder != 0 && used.shape == step.shape;
    const bool conflicts =
        adds ? used.reader != 0 || (used.adder != 0 && !is_same) : used.adder != 0;
    if (conflicts && notes) conflicts_[instruction].push_back(reg);
    is_busy = is_busy || conflicts;
    if (used.is_written && notes) used_unfenced_[number] = true;
    is_unfenced = is_unfenced || used.is_written;
    if (adds) {
      used.adder = 1;
      used.shape = step.shape;
    } else {
      used.reader = 1;
    }
  };
  for (const std::uint32_t reg : step.reads) use(reg, false);
  for (const std::uint32_t reg : step.writes) use(reg, true);
  if (!notes) return;
  if (is_unfenced) unfenced_[instruction] = any_unfenced_ = true;
  if (is_busy) busy_[instruction] = any_busy_ = true;
}

}  // namespace baton::sim
