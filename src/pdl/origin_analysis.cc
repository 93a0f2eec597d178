#include "pdl/origin_analysis.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "pdl/instruction.h"
#include "pdl/value_effect.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;
using Space = Operation::Space;

// low_bits() takes no more than these. Allocations begin at multiples of it (CUDA C++ Programming
// Guide, "Device Memory Accesses").
constexpr std::uint64_t kAlignment = 256;

// The origins of all registers and of local memory: a sparse analysis that takes every operation as
// reached.
class OriginAnalysis {
 public:
  using Value = OriginSet;
  using Solver = ptx::SparseSolver<OriginAnalysis>;

  OriginAnalysis(const Code& code, KernelOrigins& out)
      : code_(code), out_(out), pool_(out.pool), values_(code.values()) {
    give_what_is_never_written();
    find_parts();
    Solver solver(*this, code.order, code.users, values_);
    for (std::uint32_t at = 0; at < code.operations.size(); ++at) solver.reach(at);
    solver.run();
    out.evaluations = solver.evaluations();
    for (const Operation& operation : code.operations) collect(operation);
  }

  bool join(OriginSet& into, const OriginSet& from) { return pool_.join(into, from); }

  void evaluate(std::uint32_t at, Solver& solver) {
    solver_ = &solver;
    const Operation& operation = code_.operations[at];
    for (std::size_t k = 0; k < operation.kept.size(); ++k) {
      define(operation.defines[k], OriginSet(values_[operation.kept[k]]));
    }
    switch (operation.kind) {
      case Kind::kPass:
        return pass(operation);
      case Kind::kLoad:
        return load(operation);
      case Kind::kStore:
        return store(operation);
      case Kind::kAtomic:
        store(operation);
        define_all(operation, loaded(operation));
        for (const OriginId id : of(operation.address)) tell_place(operation, id, false);
        return;
      case Kind::kOpen:
        return define_all(operation, {OriginPool::kUnknown});
      case Kind::kCompute:
        return compute(operation);
      case Kind::kWait:
      case Kind::kTrigger:
      case Kind::kBarrier:
      case Kind::kBranch:
      case Kind::kEnd:
      case Kind::kTrap:
      case Kind::kNothing:
        // Barriers that reduce give a number of threads, or whether a predicate holds.
        return define_all(operation, mixed_over_lanes(operation));
    }
  }

 private:
  static bool is_access(const Operation& operation) {
    return operation.kind == Kind::kLoad || operation.kind == Kind::kStore ||
           operation.kind == Kind::kAtomic;
  }

  // Whatever it holds comes from no address.
  void give_what_is_never_written() {
    std::vector<bool> written(code_.registers);
    for (const Operation& operation : code_.operations) {
      for (const std::uint32_t id : operation.defines) written[id] = true;
    }
    for (std::uint32_t id = 0; id < code_.registers; ++id) {
      if (!written[id]) values_[id] = {OriginPool::kNumber};
    }
  }

  // A parameter of a call is one register. Elements of different sizes may be written to it and
  // read.
  void find_parts() {
    std::unordered_map<std::uint32_t, unsigned> widths;
    for (const Operation& operation : code_.operations) {
      if (operation.kind != Kind::kPass) continue;
      const std::uint32_t passed = passed_of(operation);
      const auto known = widths.try_emplace(passed, operation.width).first;
      if (known->second != operation.width) in_parts_.insert(passed);
    }
  }
  static bool takes(const Operation& operation) { return operation.instruction->opcode == "ld"; }
  static std::uint32_t passed_of(const Operation& operation) {
    return takes(operation) ? operation.sources.back().id : operation.defines.back();
  }

  OriginSet loaded(const Operation& operation) {
    return {pool_.loaded(operation.width != 0 && operation.width <= 32)};
  }
  OriginSet from(SourceKind kind, std::uint32_t id = 0, std::uint32_t offset = 0) {
    return {pool_.of({.kind = kind, .id = id, .offset = offset})};
  }

  OriginSet of(const ValueSource& source) {
    switch (source.kind) {
      case ValueSource::Kind::kRegister:
        return values_[source.id];
      case ValueSource::Kind::kConstant:
        return {source.bits == 0 ? OriginPool::kNull : OriginPool::kNumber};
      case ValueSource::Kind::kParam:
        return from(SourceKind::kParamSpace, source.id);
      case ValueSource::Kind::kVariable:
        return from(SourceKind::kVariable, source.id);
      case ValueSource::Kind::kConst:
        return from(SourceKind::kConst, source.id);
      case ValueSource::Kind::kShared:
        return from(SourceKind::kShared);
      case ValueSource::Kind::kLocal:
        return from(SourceKind::kLocal);
      case ValueSource::Kind::kAnything:
        return {OriginPool::kUnknown};
      case ValueSource::Kind::kSpecial:
      case ValueSource::Kind::kOther:
        break;
    }
    return {OriginPool::kNumber};
  }

  void define(std::uint32_t id, const OriginSet& value) { solver_->define(id, value); }
  void define_all(const Operation& operation, const OriginSet& value) {
    for (const std::uint32_t id : operation.defines) define(id, value);
  }

  template <typename Function>
  OriginSet each(const OriginSet& a, Function function) {
    OriginSet result;
    for (const OriginId id : a) pool_.join(result, function(id));
    return result;
  }
  template <typename Function>
  OriginSet each_pair(const OriginSet& a, const OriginSet& b, Function function) {
    OriginSet result;
    for (const OriginId x : a) {
      for (const OriginId y : b) pool_.join(result, function(x, y));
    }
    return result;
  }
  OriginSet add(const OriginSet& a, const OriginSet& b) {
    return each_pair(a, b, [&](OriginId x, OriginId y) { return pool_.add(x, y); });
  }
  OriginSet subtract(const OriginSet& a, const OriginSet& b) {
    return each_pair(a, b, [&](OriginId x, OriginId y) { return pool_.subtract(x, y); });
  }
  OriginSet mix(const OriginSet& a, const OriginSet& b) {
    return each_pair(a, b, [&](OriginId x, OriginId y) { return pool_.mix(x, y); });
  }
  // What is computed of 64 bits.
  OriginSet widened(const Operation& operation, const OriginSet& value) {
    if (operation.width != 64) return value;
    return each(value, [&](OriginId id) { return pool_.widen(id); });
  }
  OriginSet either(OriginSet a, const OriginSet& b) {
    pool_.join(a, b);
    return a;
  }

  // Any function of the operands. Empty while one of them is not defined.
  OriginSet mixed(const Operation& operation) {
    OriginSet result = {OriginPool::kNumber};
    for (const ValueSource& source : operation.sources) result = mix(result, of(source));
    return negated_by(operation, widened(operation, result));
  }
  // A product with a negative constant, and bits that one turns, are taken for a negated value.
  OriginSet negated_by(const Operation& operation, const OriginSet& value) {
    const bool negates = std::ranges::any_of(operation.sources, [&](const ValueSource& source) {
      return source.kind == ValueSource::Kind::kConstant && operation.width != 0 &&
             operation.width <= 64 && (source.bits >> (operation.width - 1) & 1) != 0;
    });
    return negates ? subtract({OriginPool::kNumber}, value) : value;
  }
  OriginSet mixed_over_lanes(const Operation& operation) {
    OriginSet all = {OriginPool::kNumber};
    for (const ValueSource& source : operation.sources) {
      const OriginSet one = of(source);
      if (one.empty()) return {};
      pool_.join(all, one);
    }
    return {pool_.collapse(all)};
  }

  // --- Calls -------------------------------------------------------------------------------------

  void pass(const Operation& operation) {
    for (const ValueSource& source : operation.sources) {
      OriginSet value = of(source);
      if (takes(operation) && in_parts_.contains(passed_of(operation)) && !value.empty()) {
        pool_.join(value, pool_.widen(pool_.collapse(value)));
      }
      define_all(operation, value);
    }
  }

  // --- Memory ------------------------------------------------------------------------------------

  bool has(OriginId id, AddressSource::Kind kind) const {
    return std::ranges::any_of(pool_[id].sources,
                               [&](const AddressSource& source) { return source.kind == kind; });
  }
  // Whether the address lies there, if parameters that are added are indexes.
  bool is_certainly(OriginId id, AddressSource::Kind kind) const {
    return std::ranges::all_of(pool_[id].sources, [&](const AddressSource& source) {
      return source.kind == kind && source.ways == AddressSource::kWhole;
    });
  }

  void load(const Operation& operation) {
    if (operation.defines.empty()) return;
    const OriginSet address = of(operation.address);
    for (const OriginId id : address) {
      const bool in_params = has(id, SourceKind::kParamSpace);
      const bool is_local = operation.space == Space::kLocal || has(id, SourceKind::kLocal);
      // A pointer to local memory may have been stored, and loaded again.
      const bool may_be_local =
          is_local || (operation.space == Space::kGeneric && !has_known_place(id));
      if (in_params) load_param(operation, id);
      if (may_be_local) load_local(operation);
      const bool is_elsewhere = !(in_params && is_certainly(id, SourceKind::kParamSpace)) &&
                                !(is_local && is_certainly(id, SourceKind::kLocal));
      if (is_elsewhere) define_all(operation, loaded(operation));
      tell_place(operation, id, in_params || may_be_local);
    }
    // Other operands decide what is read, too: the stride of a matrix, coordinates of a texture.
    for (const ValueSource& source : operation.sources) {
      for (const OriginId id : of(source)) tell(operation, pool_.mix(id, OriginPool::kNumber));
    }
  }
  // What decides the place that is read has gone into what is read. What was loaded has gone into
  // what is loaded in any case, unless the memory `is_known`.
  void tell_place(const Operation& operation, OriginId address, bool is_known) {
    const OriginId index = pool_.index_of(address);
    if (!is_only_loaded(index) || is_known) tell(operation, index);
  }
  void tell(const Operation& operation, OriginId decides) {
    if (decides != OriginPool::kUnknown && pool_[decides].sources.empty()) return;
    define_all(operation, add(loaded(operation), {decides}));
  }
  bool is_only_loaded(OriginId id) const {
    return id != OriginPool::kUnknown &&
           std::ranges::all_of(pool_[id].sources, [](const AddressSource& source) {
             return source.kind == SourceKind::kLoaded;
           });
  }

  // Whether it is an address in a space that is not that of local memory.
  bool has_known_place(OriginId id) const {
    if (id == OriginPool::kUnknown) return false;
    return std::ranges::any_of(pool_[id].sources, [](const AddressSource& source) {
      return source.kind != SourceKind::kLoaded && source.kind != SourceKind::kLocal;
    });
  }

  void load_local(const Operation& operation) {
    const OriginSet& same = values_[code_.local_memory(operation.width)];
    define_all(operation, same);
    // Elements of other sizes are parts of this one, or it is a part of them.
    OriginSet all = same;
    bool differs = false;
    for (const std::uint32_t cell : code_.local_memories()) {
      if (values_[cell].empty() || cell == code_.local_memory(operation.width)) continue;
      differs = true;
      pool_.join(all, values_[cell]);
    }
    if (differs) define_all(operation, {pool_.widen(pool_.collapse(all))});
  }

  void load_param(const Operation& operation, OriginId address) {
    for (const AddressSource& at : std::vector<AddressSource>(pool_[address].sources)) {
      if (at.kind != SourceKind::kParamSpace) continue;
      for (std::size_t k = 0; k < operation.defines.size(); ++k) {
        define(operation.defines[k], param_element(operation, at.id, k, pool_[address].is_exact));
      }
    }
  }

  // The `k`-th element that the operation loads from a parameter.
  // `is_direct`: from the parameter's own address and the instruction's offset.
  OriginSet param_element(const Operation& operation, std::uint32_t id, std::size_t k,
                          bool is_direct) {
    const ptx::Variable& param = code_.kernel->params[id];
    const std::uint64_t size = param_size(param);
    const std::int64_t first = operation.instruction->operands[1].offset;
    const unsigned bytes = operation.width / 8;
    std::uint32_t offset = AddressSource::kAnyOffset;
    if (is_direct) {
      const std::int64_t at = first + static_cast<std::int64_t>(k * bytes);
      if (at < 0 || static_cast<std::uint64_t>(at) + bytes > size) return {OriginPool::kUnknown};
      offset = static_cast<std::uint32_t>(at);
    }
    if (!is_direct && param.extents.empty()) return {OriginPool::kUnknown};
    if (size < 8) return {OriginPool::kNumber};
    const bool is_aligned = !is_direct || offset % 8 == 0;
    if (operation.width == 64 && is_aligned) return from(SourceKind::kParam, id, offset);
    if (operation.width == 32 && (!is_direct || offset % 4 == 0)) {
      return from(SourceKind::kParamWord, id, offset);
    }
    if (operation.width == 8 || operation.width == 16) {
      const std::uint32_t word = is_direct ? offset & ~3u : offset;
      return mix(from(SourceKind::kParamWord, id, word), {OriginPool::kNumber});
    }
    return {OriginPool::kUnknown};
  }

  static std::uint64_t param_size(const ptx::Variable& param) {
    std::uint64_t bits = 0;
    for (const char c : param.type) {
      if (c >= '0' && c <= '9') bits = bits * 10 + static_cast<std::uint64_t>(c - '0');
    }
    std::uint64_t bytes = bits / 8;
    for (const std::int64_t extent : param.extents) {
      bytes *= extent > 0 ? static_cast<std::uint64_t>(extent) : 0;
    }
    return bytes;
  }

  void store(const Operation& operation) {
    const bool is_local = operation.space == Space::kLocal;
    bool reaches = is_local;
    if (operation.space == Space::kGeneric) {
      for (const OriginId id : of(operation.address)) {
        reaches |= has(id, SourceKind::kLocal) || !has_known_place(id);
      }
    }
    if (!reaches) return;
    for (const ValueSource& source : operation.sources) {
      define(code_.local_memory(operation.width), of(source));
    }
    // What decides the place that is written can be told from what is where afterwards.
    for (const OriginId id : of(operation.address)) {
      const OriginId index = pool_.index_of(id);
      if (index != OriginPool::kNumber) define(code_.local_memory(operation.width), {index});
    }
  }

  // --- Computation -------------------------------------------------------------------------------

  void compute(const Operation& operation) {
    if (operation.defines.empty() || operation.instruction == nullptr) return;
    const ptx::Instruction& i = *operation.instruction;
    if (i.opcode == "call") return define_all(operation, {OriginPool::kUnknown});
    if (unpacks(operation)) return unpack(operation);
    const ptx::Form* const form = ptx::form_of(i);
    OriginSet result = computed(operation, value_effect(i, form));
    if (!is_computation(form)) pool_.join(result, loaded(operation));
    if (reads_carry(i)) result = with_carry(result);
    if (writes_carry(i)) define(code_.carry(), mix(result, {OriginPool::kNumber}));
    define_all(operation, result);
  }

  // Whether the result comes from the operands alone: that of an mbarrier comes from memory, and
  // that of wgmma from shared memory, too.
  static bool is_computation(const ptx::Form* form) {
    return form != nullptr && form->access == ptx::Form::Access::kNone &&
           (form->kind == ptx::Form::Kind::kPure || form->kind == ptx::Form::Kind::kCarry ||
            form->kind == ptx::Form::Kind::kLanes);
  }

  OriginSet computed(const Operation& operation, ValueEffect effect) {
    const std::vector<ValueSource>& from = operation.sources;
    const bool is_binary = from.size() == 2, is_ternary = from.size() == 3;
    switch (effect) {
      case ValueEffect::kUnknown:
        return either(mixed(operation), loaded(operation));
      case ValueEffect::kMix:
        break;
      case ValueEffect::kMixLanes:
        return mixed_over_lanes(operation);
      case ValueEffect::kProperty:
        if (from.size() == 1) {
          return each(of(from[0]), [&](OriginId id) { return pool_.property(id); });
        }
        break;
      case ValueEffect::kCopy:
        if (from.size() == 1) return of(from[0]);
        break;
      case ValueEffect::kPlace:
        if (is_binary) return add(of(from[0]), mix({OriginPool::kNumber}, of(from[1])));
        break;
      case ValueEffect::kShuffle:
        if (!from.empty()) return of(from[0]);  // the others are conditions
        break;
      case ValueEffect::kMove:
        return moved(operation);
      case ValueEffect::kConvert:
        if (from.size() == 1) return converted(operation);
        break;
      case ValueEffect::kAdd:
        if (is_binary) return add(of(from[0]), of(from[1]));
        break;
      case ValueEffect::kSubtract:
        if (is_binary) return subtract(of(from[0]), of(from[1]));
        break;
      case ValueEffect::kNegate:
        if (from.size() == 1) return subtract({OriginPool::kNumber}, of(from[0]));
        break;
      case ValueEffect::kMultiplyAdd:
        if (is_ternary) {
          return add(of(from[2]),
                     negated_by(operation, widened(operation, mix(of(from[0]), of(from[1])))));
        }
        break;
      case ValueEffect::kMask:
        if (is_binary) return masked(operation);
        break;
      case ValueEffect::kToggle:
        if (is_binary && is_small(from[1])) return of(from[0]);
        if (is_binary && is_small(from[0])) return of(from[1]);
        if (is_binary) {
          const OriginSet toggled = each_pair(
              of(from[0]), of(from[1]), [&](OriginId a, OriginId b) { return pool_.toggle(a, b); });
          return negated_by(operation, widened(operation, toggled));
        }
        break;
      case ValueEffect::kChoose:
        if (is_binary) return chosen(of(from[0]), of(from[1]));
        break;
      case ValueEffect::kSelect:
        if (is_ternary) return either(of(from[0]), of(from[1]));
        break;
      case ValueEffect::kCompare:
        return compared(operation);
    }
    return mixed(operation);
  }

  // Which of the two it is tells how they compare.
  OriginSet chosen(const OriginSet& a, const OriginSet& b) {
    const OriginSet outcome =
        each_pair(a, b, [&](OriginId x, OriginId y) { return pool_.compare(x, y); });
    if (outcome.empty()) return {};
    const OriginSet one = either(a, b);
    return outcome == OriginSet{OriginPool::kNumber} ? one : add(one, outcome);
  }

  static bool is_small(const ValueSource& source) {
    return source.kind == ValueSource::Kind::kConstant && source.bits < kAlignment;
  }

  // x & ~15 is next to x; x & 15 tells its alignment.
  OriginSet masked(const Operation& operation) {
    const std::uint64_t all = operation.width == 64   ? UINT64_MAX
                              : operation.width == 32 ? UINT32_MAX
                                                      : 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const ValueSource& mask = operation.sources[k];
      if (mask.kind != ValueSource::Kind::kConstant || all == 0) continue;
      const OriginSet value = of(operation.sources[1 - k]);
      if ((~mask.bits & all) < kAlignment) return value;
      if ((mask.bits & all) < kAlignment) {
        return each(value, [&](OriginId id) { return pool_.low_bits(id); });
      }
    }
    return mixed(operation);
  }

  // mov.b64 {low, high}, a
  static bool unpacks(const Operation& operation) {
    return operation.instruction->opcode == "mov" && operation.width == 64 &&
           operation.sources.size() == 1 && operation.defines.size() == 2;
  }
  void unpack(const Operation& operation) {
    const OriginSet value = of(operation.sources[0]);
    define(operation.defines[0], each(value, [&](OriginId id) { return pool_.low(id); }));
    define(operation.defines[1], each(value, [&](OriginId id) { return pool_.high(id); }));
  }

  OriginSet moved(const Operation& operation) {
    const std::vector<ValueSource>& from = operation.sources;
    const std::size_t written = operation.defines.size();
    if (from.size() == 1 && written == 1) return of(from[0]);
    // Each half of 128 bits is 64 bits that are moved as they are.
    const bool of_quads = operation.width == 128 && from.size() + written == 3;
    if (of_quads && from.size() == 1) return of(from[0]);
    if (of_quads) return either(of(from[0]), of(from[1]));
    if (operation.width == 64 && from.size() == 2 && written == 1) {
      return each_pair(of(from[0]), of(from[1]),
                       [&](OriginId low, OriginId high) { return pool_.join_halves(low, high); });
    }
    return mixed(operation);
  }

  OriginSet converted(const Operation& operation) {
    const auto bits_of = [](std::string_view type) {
      return type == "u64" || type == "s64" || type == "b64"   ? 64
             : type == "u32" || type == "s32" || type == "b32" ? 32
                                                               : 0;
    };
    const auto& modifiers = operation.instruction->modifiers;
    const OriginSet value = of(operation.sources[0]);
    if (modifiers.size() != 2) return mixed(operation);
    const int to = bits_of(modifiers[0]), source = bits_of(modifiers[1]);
    if (to == 0 || source == 0) return mixed(operation);
    if (to >= source) return value;
    return each(value, [&](OriginId id) { return pool_.low(id); });
  }

  OriginSet compared(const Operation& operation) {
    const std::vector<ValueSource>& from = operation.sources;
    if (from.size() < 2) return mixed(operation);
    OriginSet result = each_pair(of(from[0]), of(from[1]),
                                 [&](OriginId a, OriginId b) { return pool_.compare(a, b); });
    for (std::size_t k = 2; k < from.size(); ++k) result = mix(result, of(from[k]));
    return result;
  }

  // The carry tells how two values compare: part of what they are.
  OriginSet with_carry(const OriginSet& sum) {
    return add(sum, mix(values_[code_.carry()], {OriginPool::kNumber}));
  }

  // --- Results -----------------------------------------------------------------------------------

  void collect(const Operation& operation) {
    out_.addresses.push_back(is_access(operation) ? of(operation.address) : OriginSet());
    if (operation.guard != kNone) note(out_.conditions, values_[operation.guard]);
    if (operation.instruction == nullptr) return;
    if (operation.kind == Kind::kBranch) {
      for (const ValueSource& source : operation.sources) note(out_.conditions, of(source));
    }
    if (operation.kind == Kind::kCompute) {
      const ptx::Instruction& i = *operation.instruction;
      const ValueEffect effect = value_effect(i, ptx::form_of(i));
      const std::size_t decides = effect == ValueEffect::kSelect    ? 2
                                  : effect == ValueEffect::kShuffle ? 1
                                                                    : SIZE_MAX;
      for (std::size_t k = decides; k < operation.sources.size(); ++k) {
        note(out_.conditions, of(operation.sources[k]));
      }
      if (effect == ValueEffect::kMask || effect == ValueEffect::kToggle) note_aligned(operation);
    }
    note_stored(operation);
  }

  void note_aligned(const Operation& operation) {
    if (operation.sources.size() != 2) return;
    const std::uint64_t all = operation.width == 32 ? UINT32_MAX : UINT64_MAX;
    for (std::size_t k = 0; k < 2; ++k) {
      const ValueSource& source = operation.sources[k];
      const bool is_constant = source.kind == ValueSource::Kind::kConstant;
      // x - (x & -256), too, is what x & 255 is.
      const bool clears = is_constant && (~source.bits & all) < kAlignment;
      if (clears || is_small(source)) note(out_.aligned, of(operation.sources[1 - k]));
    }
  }

  void note(OriginSet& into, const OriginSet& origins) {
    for (const OriginId id : origins) {
      if (id == OriginPool::kUnknown || !pool_[id].sources.empty()) pool_.join(into, id);
    }
  }

  // What an operation may leave in memory: what it writes, and where.
  void note_stored(const Operation& operation) {
    const bool writes = operation.kind == Kind::kStore || operation.kind == Kind::kAtomic;
    const bool leaves =
        writes || operation.kind == Kind::kNothing ||
        (operation.kind == Kind::kLoad && operation.defines.empty()) ||
        (operation.kind == Kind::kCompute && !is_computation(ptx::form_of(*operation.instruction)));
    // Other instructions have operands that decide what they leave, and where: strides,
    // coordinates.
    const std::string_view name = operation.instruction->opcode;
    const bool leaves_values = name == "st" || name == "atom" || name == "red";
    for (const ValueSource& source : operation.sources) {
      if (leaves && leaves_values) note_stored(of(source));
      if (leaves && !leaves_values) note_deciding(of(source));
    }
    if (!writes) return;
    for (const OriginId id : of(operation.address)) {
      const OriginId index = pool_.index_of(id);
      if (!is_only_loaded(index)) pool_.join(out_.stored, index);
    }
  }
  // Places of the block tell of no buffer.
  void note_deciding(const OriginSet& origins) {
    for (const OriginId id : origins) {
      const std::vector<AddressSource>& sources = pool_[id].sources;
      const bool is_harmless = std::ranges::all_of(sources, [&](const AddressSource& source) {
        return source.kind == SourceKind::kShared || source.kind == SourceKind::kLocal ||
               source.kind == SourceKind::kParamSpace || source.kind == SourceKind::kLoaded ||
               (sources.size() == 1 && source.ways == AddressSource::kWhole);
      });
      if (id == OriginPool::kUnknown || !is_harmless) {
        pool_.join(out_.stored, pool_.mix(id, OriginPool::kNumber));
      }
    }
  }
  // An address that is stored as it is can be loaded as an address only.
  void note_stored(const OriginSet& origins) {
    for (const OriginId id : origins) {
      const std::vector<AddressSource>& sources = pool_[id].sources;
      const auto addresses = std::ranges::count_if(
          sources, [](const AddressSource& source) { return source.kind != SourceKind::kLoaded; });
      const bool is_address =
          addresses == 1 && sources.size() == 1 && (sources[0].ways & AddressSource::kMixed) == 0;
      if (id == OriginPool::kUnknown || (addresses != 0 && !is_address)) {
        pool_.join(out_.stored, id);
      }
    }
  }

  const Code& code_;
  KernelOrigins& out_;
  OriginPool& pool_;
  std::vector<OriginSet> values_;               // by register and Code::local_memory()
  std::unordered_set<std::uint32_t> in_parts_;  // of what calls pass
  Solver* solver_ = nullptr;                    // that evaluates
};

}  // namespace

KernelOrigins find_origins(const Code& code) {
  KernelOrigins result;
  OriginAnalysis(code, result);
  return result;
}

}  // namespace baton::overlap
