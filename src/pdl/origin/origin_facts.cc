#include "pdl/origin/origin_facts.h"

#include <algorithm>
#include <string_view>

#include "pdl/code/instruction.h"
#include "pdl/code/runtime_calls.h"
#include "pdl/origin/origin_computation.h"

namespace baton::overlap {
namespace {

class FactCollector {
 public:
  FactCollector(OriginValues& values, KernelOrigins& out)
      : values_(values), pool_(values.pool()), out_(out) {}

  void collect(const Operation& operation) {
    out_.addresses.push_back(is_access(operation)     ? of(operation.address)
                             : prints_text(operation) ? of(operation.sources[0])
                                                      : OriginSet());
    if (operation.guard != kNone) note(out_.conditions, values_[operation.guard]);
    if (operation.instruction == nullptr) return;
    if (operation.kind == Operation::Kind::kBranch) {
      for (const ValueSource& source : operation.sources) note(out_.conditions, of(source));
    }
    if (operation.kind == Operation::Kind::kCompute) {
      const ptx::Instruction& i = *operation.instruction;
      const ValueEffect effect = value_effect(i, ptx::form_of(i));
      const std::size_t decides = effect == ValueEffect::kSelect    ? 2
                                  : effect == ValueEffect::kShuffle ? 1
                                                                    : SIZE_MAX;
      for (std::size_t k = decides; k < operation.sources.size(); ++k) {
        note(out_.conditions, of(operation.sources[k]));
      }
      if (effect == ValueEffect::kMask || effect == ValueEffect::kToggle) note_aligned(operation);
      if (effect == ValueEffect::kCompare || effect == ValueEffect::kChoose) {
        note_compared(operation);
      }
    }
    note_stored(operation);
  }

  // Copies that reduce compute with what memory holds: addresses that the kernel left there.
  void finish() {
    for (const OriginId id : out_.left) {
      if (reduces_memory_) pool_.join(out_.stored, pool_.mix(id, OriginPool::kNumber));
    }
  }

 private:
  OriginSet of(const ValueSource& source) { return values_.of(source); }

  void note_aligned(const Operation& operation) {
    if (operation.sources.size() != 2) return;
    const std::uint64_t all = operation.width == 32 ? UINT32_MAX : UINT64_MAX;
    for (std::size_t k = 0; k < 2; ++k) {
      const ValueSource& source = operation.sources[k];
      const bool is_constant = source.kind == ValueSource::Kind::kConstant;
      // x - (x & -256), too, is what x & 255 is.
      const bool clears = is_constant && (~source.bits & all) < kAllocationAlignment;
      if (clears || is_below_alignment(source)) note(out_.aligned, of(operation.sources[1 - k]));
    }
  }

  void note_compared(const Operation& operation) {
    if (operation.sources.size() < 2) return;
    for (const OriginId a : of(operation.sources[0])) {
      for (const OriginId b : of(operation.sources[1])) {
        if (a == b || !pool_[a].is_exact || !pool_[b].is_exact) continue;
        out_.compared.emplace(pool_[a].sources[0], pool_[b].sources[0]);
      }
    }
  }

  void note(OriginSet& into, const OriginSet& origins) {
    for (const OriginId id : origins) {
      if (id == OriginPool::kUnknown || !pool_[id].sources.empty()) pool_.join(into, id);
    }
  }

  // What an operation may leave in memory: what it writes, and where.
  void note_stored(const Operation& operation) {
    const bool writes =
        operation.kind == Operation::Kind::kStore || operation.kind == Operation::Kind::kAtomic;
    const bool leaves = writes || operation.kind == Operation::Kind::kNothing ||
                        (operation.kind == Operation::Kind::kLoad && operation.defines.empty()) ||
                        (operation.kind == Operation::Kind::kCompute &&
                         !is_computation(ptx::form_of(*operation.instruction)));
    const ptx::Form* const form = ptx::form_of(*operation.instruction);
    if (form != nullptr && form->kind == ptx::Form::Kind::kHint) return;
    reduces_memory_ |= form != nullptr && form->access == ptx::Form::Access::kReduce;
    // A policy of the cache lies in a register.
    const bool is_policy = operation.instruction->opcode == "createpolicy";
    const Reach reach = is_policy ? Reach::kLocal : reach_of(operation);
    for (std::size_t k = 0; leaves && k < operation.sources.size(); ++k) {
      if (reach != Reach::kLocal) note_places(of(operation.sources[k]));
      if (leaves_as_it_is(*operation.instruction, k)) {
        note_stored(values_.read(operation, operation.sources[k]), reach);
      } else {
        note_deciding(of(operation.sources[k]), computes_in_memory(*operation.instruction), reach);
      }
    }
    if (!writes) return;
    for (const OriginId id : of(operation.address)) {
      const OriginId index = pool_.index_of(id);
      if (!values_.is_only_loaded(index)) pool_.join(out_.stored, index);
    }
  }

  void note_places(const OriginSet& origins) {
    for (const OriginId id : origins) {
      out_.leaves_places =
          out_.leaves_places || std::ranges::any_of(pool_[id].sources, is_place_of_thread);
    }
  }

  // Which loads may read what an operation leaves in memory: those of local memory, which is
  // followed, those of buffers, or any.
  enum class Reach : std::uint8_t { kLocal, kBuffers, kAny };
  Reach reach_of(const Operation& operation) {
    if (operation.space == Operation::Space::kLocal) return Reach::kLocal;
    if (operation.space == Operation::Space::kGlobal && is_access(operation)) {
      return Reach::kBuffers;
    }
    if (operation.space != Operation::Space::kGeneric) return Reach::kAny;
    const OriginSet places = of(operation.address);
    const auto all_lie_in = [&](SourceKind kind) {
      return !places.empty() && std::ranges::all_of(places, [&](OriginId id) {
        const std::vector<AddressSource>& sources = pool_[id].sources;
        return sources.size() == 1 && sources[0].kind == kind &&
               sources[0].ways == AddressSource::kWhole;
      });
    };
    return all_lie_in(SourceKind::kLocal)   ? Reach::kLocal
           : all_lie_in(SourceKind::kParam) ? Reach::kBuffers
                                            : Reach::kAny;
  }

  void note_left(OriginId id, Reach reach) {
    if (reach == Reach::kLocal) return;
    pool_.join(out_.left, id);
    if (reach == Reach::kAny) pool_.join(out_.left_in_block, id);
  }

  // Whether the operand is left in memory as it is. Other operands decide what is left, and where:
  // strides, coordinates, what is added to memory or compared with it.
  static bool leaves_as_it_is(const ptx::Instruction& i, std::size_t operand) {
    if (i.opcode == "st") return true;
    return i.opcode == "atom" && (i.has("exch") || (i.has("cas") && operand == 1));
  }
  // Memory may hold the sum of two addresses then, or how they compare.
  static bool computes_in_memory(const ptx::Instruction& i) {
    return i.opcode == "atom" || i.opcode == "red" || i.opcode == "multimem";
  }

  // Places of the block tell of no buffer. `in_memory`: also not one address is left as it is.
  void note_deciding(const OriginSet& origins, bool in_memory, Reach reach) {
    for (const OriginId id : origins) {
      const std::vector<AddressSource>& sources = pool_[id].sources;
      const auto tells_of_no_buffer = [](const AddressSource& source) {
        return source.kind == SourceKind::kShared || source.kind == SourceKind::kLocal ||
               source.kind == SourceKind::kParamSpace || source.kind == SourceKind::kLoaded;
      };
      const bool is_harmless = std::ranges::all_of(sources, [&](const AddressSource& source) {
        return tells_of_no_buffer(source) ||
               (!in_memory && sources.size() == 1 && source.ways == AddressSource::kWhole);
      });
      const bool is_of_a_buffer = !std::ranges::all_of(sources, tells_of_no_buffer);
      if (id == OriginPool::kUnknown || is_of_a_buffer) note_left(id, reach);
      if (id == OriginPool::kUnknown || !is_harmless) {
        pool_.join(out_.stored, pool_.mix(id, OriginPool::kNumber));
      }
    }
  }

  // An address that is stored as it is can be loaded as an address only, where nothing else
  // computes with it.
  void note_stored(const OriginSet& origins, Reach reach) {
    for (const OriginId id : origins) {
      const std::vector<AddressSource>& sources = pool_[id].sources;
      const auto addresses = std::ranges::count_if(
          sources, [](const AddressSource& source) { return source.kind != SourceKind::kLoaded; });
      const bool is_address =
          addresses == 1 && sources.size() == 1 && (sources[0].ways & AddressSource::kMixed) == 0;
      if (id == OriginPool::kUnknown || (addresses != 0 && !is_address)) {
        pool_.join(out_.stored, id);
      }
      if (id == OriginPool::kUnknown || addresses != 0) note_left(id, reach);
    }
  }

  OriginValues& values_;
  OriginPool& pool_;
  KernelOrigins& out_;
  bool reduces_memory_ = false;  // by copies
};

}  // namespace

bool is_place_of_thread(const AddressSource& source) {
  return source.kind == SourceKind::kLocal || source.kind == SourceKind::kParamSpace;
}

void collect_facts(const Code& code, OriginValues& values, KernelOrigins& out) {
  FactCollector collector(values, out);
  for (const Operation& operation : code.operations) collector.collect(operation);
  collector.finish();
}

}  // namespace baton::overlap
