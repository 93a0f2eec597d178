#include "sim/engine/lower/builder.h"

#include <algorithm>

#include "sim/engine/lower/liveness.h"
#include "sim/engine/run/access_count.h"
#include "sim/engine/run/control.h"

namespace baton::sim {

FunctionBuilder::FunctionBuilder(DecodedFunction* function, bool keep_apart)
    : function_(function), keep_apart_(keep_apart) {
  slots_.push_back({Kind::kNowhere, 16, 0, 0, 0});
}

SlotId FunctionBuilder::add_register(std::uint8_t width) {
  slots_.push_back({Kind::kRegister, width, 0, 0, 0});
  return static_cast<SlotId>(slots_.size() - 1);
}

SlotId FunctionBuilder::fixed(Kind kind, std::uint8_t width, std::uint64_t a, std::uint32_t b) {
  const auto [at, added] =
      fixed_.try_emplace(Key{kind, width, a, b}, static_cast<SlotId>(slots_.size()));
  if (added) slots_.push_back({kind, width, 0, a, b});
  return at->second;
}

SlotId FunctionBuilder::constant(std::uint8_t width, std::uint64_t bits) {
  if (width == 4) bits &= 0xffffffff;
  return fixed(Kind::kConstant, width, bits, 0);
}
std::optional<std::uint64_t> FunctionBuilder::constant_in(SlotId slot) const {
  if (slots_[slot].kind != Kind::kConstant) return std::nullopt;
  return slots_[slot].a;
}
SlotId FunctionBuilder::special(std::uint8_t width, SpecialValue special, std::uint8_t index) {
  return fixed(Kind::kSpecial, width, index, static_cast<std::uint32_t>(special));
}
SlotId FunctionBuilder::param(std::uint8_t width, std::uint32_t at, std::uint8_t bytes,
                              bool is_signed) {
  return fixed(Kind::kParam, width, at, bytes | (is_signed ? 0x100u : 0u));
}
SlotId FunctionBuilder::local_address(std::uint8_t width, std::uint32_t at, bool generic) {
  return fixed(Kind::kLocal, width, at, generic ? 1 : 0);
}
SlotId FunctionBuilder::shared_address(std::uint8_t width, std::uint64_t at) {
  return fixed(Kind::kShared, width, at, 0);
}
SlotId FunctionBuilder::dynamic_shared_address(std::uint8_t width, std::uint64_t at) {
  return fixed(Kind::kDynamicShared, width, at, 0);
}

Proto& FunctionBuilder::emit(Handler fn, std::uint32_t flat) {
  protos_.emplace_back();
  protos_.back().fn = fn;
  protos_.back().flat = flat;
  return protos_.back();
}

void FunctionBuilder::begin_flat(std::uint32_t flat) {
  if (start_.size() <= flat) start_.resize(flat + 1);
  start_[flat] = static_cast<std::uint32_t>(protos_.size());
}

void FunctionBuilder::place_fixed(std::vector<Late>* late) {
  DecodedFunction& f = *function_;
  for (Slot& slot : slots_) {
    if (slot.kind == Kind::kRegister || slot.kind == Kind::kNowhere) continue;
    slot.offset = frame_bytes_;
    frame_bytes_ += slot.width == 8 ? kSlot64 : kSlot32;
    switch (slot.kind) {
      case Kind::kConstant:
        f.constants.push_back({slot.offset, slot.width, slot.a, false});
        break;
      case Kind::kDynamicShared:
        late->push_back({f.constants.size(), slot.a});
        [[fallthrough]];
      case Kind::kShared:
        f.constants.push_back({slot.offset, slot.width, slot.a, true});
        break;
      case Kind::kSpecial:
        f.specials.push_back({slot.offset, slot.width, static_cast<SpecialValue>(slot.b),
                              static_cast<std::uint8_t>(slot.a)});
        break;
      case Kind::kParam:
        f.params.push_back({slot.offset, slot.width, static_cast<std::uint32_t>(slot.a),
                            static_cast<std::uint8_t>(slot.b & 0xff), (slot.b & 0x100) != 0});
        break;
      case Kind::kLocal:
        f.locals.push_back(
            {slot.offset, slot.width, static_cast<std::uint32_t>(slot.a), slot.b != 0});
        break;
      default:
        break;
    }
  }
}

std::vector<std::uint32_t> FunctionBuilder::successors(std::size_t k) const {
  const Proto& proto = protos_[k];
  std::vector<std::uint32_t> next;
  if (proto.target != UINT32_MAX) next.push_back(start_[proto.target]);
  if (proto.targets != nullptr) {
    for (std::uint32_t target : *proto.targets) next.push_back(start_[target]);
  }
  if (!proto.ends && k + 1 < protos_.size()) next.push_back(static_cast<std::uint32_t>(k + 1));
  return next;
}

void FunctionBuilder::place_apart() {
  for (Slot& slot : slots_) {
    if (slot.kind != Kind::kRegister) continue;
    const std::uint32_t bytes = std::max<std::uint32_t>(slot.width * kLanes, kSlot32);
    slot.offset = frame_bytes_;
    frame_bytes_ += bytes;
    function_->cleared.emplace_back(slot.offset, bytes);
  }
}

void FunctionBuilder::place_registers() {
  std::vector<LiveSlot> registers(slots_.size());
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].kind == Kind::kRegister) registers[s].width = slots_[s].width;
  }
  std::vector<LiveStep> steps(protos_.size());
  for (std::size_t k = 0; k < protos_.size(); ++k) {
    const Proto& proto = protos_[k];
    LiveStep& step = steps[k];
    step.successors = successors(k);
    const auto touch = [&](SlotId slot, bool defines) {
      if (slots_[slot].kind != Kind::kRegister) return;
      (defines ? step.writes : step.reads).push_back(slot);
    };
    for (int r = 0; r < 6; ++r) {
      if (!proto.raw[r]) touch(proto.r[r], (proto.defines >> r & 1) != 0);
    }
    for (std::size_t n = 0; n < proto.list.size(); ++n)
      touch(proto.list[n], n < proto.list_written);
    if (proto.has_guard) touch(proto.guard, false);
    // What runs for part of the lanes leaves the others' values alone.
    step.partial = proto.has_guard;
  }
  const LiveResult result = place_live(registers, steps, frame_bytes_);
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].kind == Kind::kRegister) slots_[s].offset = registers[s].offset;
  }
  function_->cleared = result.cleared;
  function_->live_registers = result.live_words;
  frame_bytes_ = result.end;
}

void FunctionBuilder::write_code(const std::vector<Site>& flat_sites) {
  DecodedFunction& f = *function_;
  f.code.resize(protos_.size());
  f.sites.resize(protos_.size());
  for (std::size_t k = 0; k < protos_.size(); ++k) {
    const Proto& proto = protos_[k];
    Insn& insn = f.code[k];
    insn.fn = proto.fn;
    insn.inner = proto.inner;
    if (proto.counted_bytes != 0) {
      // The guard, where there is one, comes first.
      Handler& handler = proto.has_guard && proto.inner != nullptr ? insn.inner : insn.fn;
      f.counted.resize(protos_.size());
      f.counted[k] = {handler, proto.counted_address,
                      slots_[proto.r[proto.counted_address]].width == 8, proto.counted_bytes};
      handler = op_count;
    }
    for (int r = 0; r < 6; ++r) {
      insn.r[r] = proto.raw[r] ? proto.r[r] : slots_[proto.r[r]].offset;
    }
    insn.guard = proto.has_guard ? slots_[proto.guard].offset : 0;
    insn.negated = proto.negated;
    insn.mode = proto.mode;
    insn.cache = proto.cache;
    insn.imm = proto.imm;
    if (proto.data != nullptr) {
      insn.u.data = proto.data;
    } else {
      insn.u.bits = proto.bits;
    }
    if (proto.target != UINT32_MAX) insn.u.target = f.code.data() + start_[proto.target];
    if (proto.has_list) {
      std::vector<std::uint32_t>& list = f.lists.emplace_back();
      if (proto.list_has_head) list.push_back(proto.list_head);
      for (SlotId slot : proto.list) list.push_back(slots_[slot].offset);
      insn.u.list = list.data();
    }
    if (proto.targets != nullptr) {
      std::vector<const Insn*>& targets = f.targets.emplace_back();
      for (std::uint32_t target : *proto.targets) {
        targets.push_back(f.code.data() + start_[target]);
      }
      insn.u.data = &targets;
      insn.imm = static_cast<std::int64_t>(
          reinterpret_cast<std::intptr_t>(f.lists.emplace_back(*proto.targets).data()));
    }
    if (proto.flat < flat_sites.size()) f.sites[k] = flat_sites[proto.flat];
  }
}

void FunctionBuilder::finish(const std::vector<Site>& flat_sites, std::vector<Late>* late) {
  Proto& end = emit(op_ret, static_cast<std::uint32_t>(flat_sites.size()));
  end.r[4] = static_cast<std::uint32_t>(flat_sites.size());
  end.raw[4] = true;
  end.ends = true;
  place_fixed(late);
  if (keep_apart_) {
    place_apart();
  } else {
    place_registers();
  }
  write_code(flat_sites);
  function_->frame_bytes = frame_bytes_;
}

}  // namespace baton::sim
