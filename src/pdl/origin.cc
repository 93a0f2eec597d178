#include "pdl/origin.h"

#include <algorithm>

namespace baton::overlap {
namespace {

using OriginKind = AddressOrigin::Kind;

constexpr std::size_t kMaxOrigins = 16;

// Whether anything was added.
bool join_origins(Origins& into, const Origins& more) {
  bool changed = false;
  for (const AddressOrigin& origin : more) {
    const auto at = std::lower_bound(into.begin(), into.end(), origin);
    if (at != into.end() && *at == origin) continue;
    if (!into.empty() && into.back().kind == OriginKind::kUnknown) return changed;
    into.insert(at, origin);
    changed = true;
    if (into.size() > kMaxOrigins) {
      into = {{OriginKind::kUnknown}};
      return true;
    }
  }
  return changed;
}

// What is told from an address wherever it is added: where it lies.
bool is_place(OriginKind kind) {
  return kind == OriginKind::kParams || kind == OriginKind::kVariable ||
         kind == OriginKind::kConst || kind == OriginKind::kShared || kind == OriginKind::kLocal;
}

// One of two values that are added: an address and an index, whichever is which. Programs do not
// add two addresses.
void add(const AddressOrigin& a, const AddressOrigin& b, Origins& out) {
  const auto give = [&out](AddressOrigin origin) { join_origins(out, {origin}); };
  if (a.kind == OriginKind::kUnknown || b.kind == OriginKind::kUnknown)
    return give({OriginKind::kUnknown});
  if (is_place(a.kind) || is_place(b.kind)) {
    const AddressOrigin& place = is_place(a.kind) ? a : b;
    const AddressOrigin& other = is_place(a.kind) ? b : a;
    give(place);
    // The other is an index, unless its parameter is given an address.
    if (place.kind == OriginKind::kVariable && other.kind == OriginKind::kParam) give(other);
    return;
  }
  const bool a_counts = a.kind == OriginKind::kParam || a.kind == OriginKind::kLoaded;
  const bool b_counts = b.kind == OriginKind::kParam || b.kind == OriginKind::kLoaded;
  if (!a_counts && !b_counts) return give({OriginKind::kNumber});
  if (!a_counts) return give(b);
  if (!b_counts) return give(a);
  if (a.kind == OriginKind::kLoaded && b.kind == OriginKind::kLoaded) return give(a);
  AddressOrigin first = a, second = b;
  const bool loaded = a.kind == OriginKind::kLoaded || b.kind == OriginKind::kLoaded ||
                      a.with_loaded || b.with_loaded;
  const bool same = a.kind == b.kind && a.id == b.id && a.offset == b.offset;
  const bool both = a.kind == OriginKind::kParam && b.kind == OriginKind::kParam && !same;
  for (AddressOrigin* origin : {&first, &second}) {
    if (origin->kind != OriginKind::kParam) continue;
    origin->with_loaded = loaded;
    origin->with_param = origin->with_param || both;
    give(*origin);
  }
}

// The values of all registers, and as one value that of local memory: a sparse analysis that takes
// every operation as reached.
class OriginAnalysis {
 public:
  using Value = Origins;
  using Solver = ptx::SparseSolver<OriginAnalysis>;

  explicit OriginAnalysis(const Code& code) : code_(code), values_(code.registers + 1) {
    give_what_is_never_written();
    Solver solver(*this, code.order, code.users, values_);
    for (std::uint32_t at = 0; at < code.operations.size(); ++at) solver.reach(at);
    solver.run();
  }

  static bool join(Origins& into, const Origins& from) { return join_origins(into, from); }

  void evaluate(std::uint32_t at, Solver& solver) {
    solver_ = &solver;
    evaluate(code_.operations[at]);
  }

  std::vector<Origins> addresses() const {
    std::vector<Origins> result(code_.operations.size());
    for (std::size_t at = 0; at < result.size(); ++at) {
      const Operation& operation = code_.operations[at];
      if (is_access(operation)) result[at] = of(operation.address);
    }
    return result;
  }

 private:
  static bool is_access(const Operation& operation) {
    return operation.kind == Operation::Kind::kLoad || operation.kind == Operation::Kind::kStore ||
           operation.kind == Operation::Kind::kAtomic;
  }

  // Whatever it holds comes from no address.
  void give_what_is_never_written() {
    std::vector<bool> written(code_.registers);
    for (const Operation& operation : code_.operations) {
      for (std::uint32_t id : operation.defines) written[id] = true;
    }
    for (std::uint32_t id = 0; id < code_.registers; ++id) {
      if (!written[id]) values_[id] = {{OriginKind::kNumber}};
    }
  }

  Origins of(const ValueSource& source) const {
    switch (source.kind) {
      case ValueSource::Kind::kRegister:
        return values_[source.id];
      case ValueSource::Kind::kConstant:
        return {{source.bits == 0 ? OriginKind::kNull : OriginKind::kNumber}};
      case ValueSource::Kind::kParam:
        return {{.kind = OriginKind::kParams, .id = source.id}};
      case ValueSource::Kind::kVariable:
        return {{.kind = OriginKind::kVariable, .id = source.id}};
      case ValueSource::Kind::kConst:
        return {{.kind = OriginKind::kConst, .id = source.id}};
      case ValueSource::Kind::kShared:
        return {{OriginKind::kShared}};
      case ValueSource::Kind::kLocal:
        return {{OriginKind::kLocal}};
      case ValueSource::Kind::kSpecial:
      case ValueSource::Kind::kOther:
        break;
    }
    return {{OriginKind::kNumber}};
  }

  void define(const Operation& operation, const Origins& value) {
    for (std::uint32_t id : operation.defines) define(id, value);
  }
  void define(std::uint32_t id, const Origins& value) { solver_->define(id, value); }

  void evaluate(const Operation& operation) {
    for (std::size_t k = 0; k < operation.kept.size(); ++k) {
      define(operation.defines[k], Origins(values_[operation.kept[k]]));
    }
    switch (operation.kind) {
      case Operation::Kind::kPass:
        for (const ValueSource& source : operation.sources) define(operation, of(source));
        return;
      case Operation::Kind::kLoad:
        return load(operation);
      case Operation::Kind::kStore:
        return store(operation);
      case Operation::Kind::kAtomic:
        store(operation);
        return define(operation, {{OriginKind::kLoaded}});
      case Operation::Kind::kOpen:
        return define(operation, {{OriginKind::kUnknown}});
      default:
        return compute(operation);
    }
  }

  void load(const Operation& operation) {
    if (operation.defines.empty()) return;
    if (operation.width != 64 && operation.width != 128) return define(operation, part(operation));
    bool elsewhere = false;
    for (const AddressOrigin& from : of(operation.address)) {
      if (from.kind == OriginKind::kParams) {
        load_param(operation, from.id);
      } else if (from.kind == OriginKind::kLocal) {
        define(operation, values_[code_.local_memory()]);
      } else {
        elsewhere = true;
      }
    }
    if (elsewhere) define(operation, {{OriginKind::kLoaded}});
  }

  // Of an address, where one stands there.
  Origins part(const Operation& operation) const {
    Origins result;
    for (const AddressOrigin& from : of(operation.address)) {
      if (from.kind == OriginKind::kLocal)
        join_origins(result, left_of(values_[code_.local_memory()]));
      if (from.kind == OriginKind::kParams && is_address(from.id)) {
        join_origins(result, {{.kind = OriginKind::kParam, .id = from.id}});
      }
    }
    if (result.empty()) result.push_back({OriginKind::kNumber});
    return result;
  }

  // Whether the parameter is a number that may be an address.
  bool is_address(std::uint32_t id) const {
    const ptx::Variable& param = code_.kernel->params[id];
    return param.extents.empty() && param.type.ends_with("64");
  }

  void load_param(const Operation& operation, std::uint32_t id) {
    const ptx::InstructionOperand& at = operation.instruction->operands[1];
    const std::uint32_t first = static_cast<std::uint32_t>(at.offset);
    for (std::size_t k = 0; k < operation.defines.size(); ++k) {
      define(operation.defines[k], {{.kind = OriginKind::kParam,
                                     .id = id,
                                     .offset = first + 8 * static_cast<std::uint32_t>(k)}});
    }
  }

  // Local memory is one place: what goes in anywhere may come out anywhere.
  void store(const Operation& operation) {
    const bool is_local = operation.space == Operation::Space::kLocal;
    if (!is_local && operation.space != Operation::Space::kGeneric) return;
    const Origins to = of(operation.address);
    const bool reaches =
        is_local || std::any_of(to.begin(), to.end(), [](const AddressOrigin& origin) {
          return origin.kind == OriginKind::kLocal || origin.kind == OriginKind::kLoaded ||
                 origin.kind == OriginKind::kNumber || origin.kind == OriginKind::kUnknown;
        });
    if (!reaches) return;
    for (const ValueSource& source : operation.sources) {
      define(code_.local_memory(), operation.width == 64 ? of(source) : left_of(of(source)));
    }
  }

  void compute(const Operation& operation) {
    if (operation.defines.empty() || operation.instruction == nullptr) return;
    const std::string_view opcode = operation.instruction->opcode;
    const std::vector<ValueSource>& from = operation.sources;
    if (opcode == "setp" || operation.width == 1) {
      define(operation, {{OriginKind::kNumber}});
    } else if (opcode == "selp" && from.size() == 3 && operation.width != 64) {
      define(operation, traces({from[0], from[1]}));
    } else if (operation.width != 64) {
      define(operation, traces(from));  // a part of an address may become one again
    } else if ((opcode == "mov" || opcode == "cvta" || opcode == "cvt") && from.size() == 1) {
      define(operation, converted(operation, of(from[0])));
    } else if (opcode == "mov" && from.size() == 2) {
      halves(operation, of(from[0]), of(from[1]));
    } else if (opcode == "selp" && from.size() == 3) {
      define(operation, of(from[0]));
      define(operation, of(from[1]));
    } else if ((opcode == "min" || opcode == "max") && from.size() == 2) {
      define(operation, of(from[0]));
      define(operation, of(from[1]));
    } else if ((opcode == "add" || opcode == "sub" || opcode == "and" || opcode == "or" ||
                opcode == "xor") &&
               from.size() == 2) {
      sum(operation, of(from[0]), of(from[1]));
    } else if (opcode == "mad" && from.size() == 3) {
      sum(operation, of(from[2]), traces({from[0], from[1]}));
    } else {
      define(operation, traces(from));
    }
  }

  // What is left of addresses in a value that is computed from them: the difference of two is half
  // a way from the one to the other. A parameter that is given a number leaves nothing.
  Origins traces(const std::vector<ValueSource>& from) const {
    Origins result;
    for (const ValueSource& source : from) join_origins(result, left_of(of(source)));
    // Next to an address a number says nothing.
    if (result.size() > 1) std::erase(result, AddressOrigin{OriginKind::kNumber});
    if (result.empty()) result.push_back({OriginKind::kNumber});
    return result;
  }
  static Origins left_of(const Origins& from) {
    Origins result;
    for (const AddressOrigin& origin : from) {
      const bool counts = origin.kind == OriginKind::kParam ||
                          origin.kind == OriginKind::kUnknown ||
                          origin.kind == OriginKind::kVariable || origin.kind == OriginKind::kConst;
      if (counts) join_origins(result, {origin});
    }
    if (result.empty()) result.push_back({OriginKind::kNumber});
    return result;
  }

  // Two numbers may be the halves of an address that was loaded.
  void halves(const Operation& operation, const Origins& low, const Origins& high) {
    const auto is_number = [](const AddressOrigin& origin) {
      return origin.kind == OriginKind::kNumber || origin.kind == OriginKind::kNull;
    };
    const bool numbers =
        std::ranges::all_of(low, is_number) && std::ranges::all_of(high, is_number);
    const bool found = !low.empty() && !high.empty();  // else they come later
    if (found && numbers && high != Origins{{OriginKind::kNull}}) {
      return define(operation, {{OriginKind::kLoaded}});
    }
    sum(operation, low, high);
  }

  // A conversion from fewer bits gives no address.
  static Origins converted(const Operation& operation, Origins from) {
    const auto& modifiers = operation.instruction->modifiers;
    if (operation.instruction->opcode != "cvt") return from;
    const std::string_view type = modifiers.empty() ? std::string_view() : modifiers.back();
    if (type == "u64" || type == "s64" || type == "b64") return from;
    return {{OriginKind::kNumber}};
  }

  void sum(const Operation& operation, const Origins& a, const Origins& b) {
    Origins result;
    for (const AddressOrigin& x : a) {
      for (const AddressOrigin& y : b) add(x, y, result);
    }
    define(operation, result);
  }

  const Code& code_;
  std::vector<Origins> values_;  // by register; the last is that of local memory
  Solver* solver_ = nullptr;     // that evaluates
};

}  // namespace

std::vector<Origins> find_origins(const Code& code) {
  return OriginAnalysis(code).addresses();
}

}  // namespace baton::overlap
