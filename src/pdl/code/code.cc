#include "pdl/code/code.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "pdl/code/instruction.h"
#include "pdl/code/part_reads.h"
#include "pdl/code/register_webs.h"
#include "pdl/code/runtime_calls.h"
#include "pdl/order/equalities.h"
#include "pdl/order/shared_place.h"
#include "pdl/order/shuffles.h"
#include "pdl/value/deciding.h"
#include "ptx/flat.h"
#include "ptx/operand_use.h"

namespace baton::overlap {
namespace {

using ptx::Instruction;
using ptx::InstructionOperand;
using Kind = Operation::Kind;

// All branches together: an indexed branch over a long list is text of little length.
constexpr std::size_t kMaxEdges = std::size_t{1} << 20;
// All operands together: those of a function count wherever it is called.
constexpr std::size_t kMaxOperands = std::size_t{1} << 22;
constexpr std::size_t kMaxDepth = 64;  // of calls

// One activation of a function: its registers and parameters have meanings of their own.
struct Frame {
  const ptx::FlatFunction* function = nullptr;
  std::uint32_t caller = kNone;  // a frame
  std::uint32_t first = 0;       // its operations are [first, first + instructions)
  std::uint32_t after = 0;       // the operation that a return goes to
  // Registers by their declaration and number; parameters that calls pass are registers too, and
  // those of an inlined function are its caller's.
  std::unordered_map<const ptx::Variable*, std::unordered_map<std::uint32_t, std::uint32_t>> names;
};

std::uint32_t param_index(const ptx::Function& function, const ptx::Variable* variable) {
  const auto* first = function.params.data();
  const bool inside = std::greater_equal<>()(variable, first) &&
                      std::less<>()(variable, first + function.params.size());
  return inside ? static_cast<std::uint32_t>(variable - first) : kNone;
}

class CodeReader {
 public:
  CodeReader(std::shared_ptr<const ptx::ParsedModule> module, const ptx::Function& kernel) {
    code_.module = std::move(module);
    code_.kernel = &kernel;
  }

  Code read() {
    code_.operations.reserve(64);
    open_frame(*code_.kernel, kNone, kNone);
    for (std::size_t f = 0; f < frames_.size(); ++f) lower(static_cast<std::uint32_t>(f));
    std::vector<bool> whole(code_.registers);
    for (const std::uint32_t id : whole_) whole[id] = true;
    split_webs(code_, whole);
    index();
    code_.equalities = find_equalities(code_);
    code_.deciding = find_deciding(code_);
    if (!shuffles_decide()) return std::move(code_);
    code_.lone_shuffles = find_lone_shuffles(code_);
    code_.deciding = find_deciding(code_);
    return std::move(code_);
  }

 private:
  bool shuffles_decide() const {
    return std::ranges::any_of(code_.operations, [this](const Operation& operation) {
      return operation.exchange == Exchange::kShuffled &&
             std::ranges::any_of(operation.defines,
                                 [this](std::uint32_t id) { return code_.deciding[id]; });
    });
  }

  // Everything that analyses share.
  void index() {
    const std::vector<Operation>& operations = code_.operations;
    const auto count = static_cast<std::uint32_t>(operations.size());
    const std::uint32_t begin = 0;
    code_.order = ptx::VisitOrder(
        count,
        std::span(&begin, 1), [&](std::uint32_t at) -> const auto& { return operations[at].next; });
    const auto each_use = [&](std::uint32_t at, const auto& visit) {
      const Operation& operation = operations[at];
      const auto read = [&](const ValueSource& source) {
        if (source.kind == ValueSource::Kind::kRegister) visit(source.id);
      };
      for (const ValueSource& source : operation.sources) read(source);
      read(operation.address);
      if (operation.guard != kNone) visit(operation.guard);
      for (const std::uint32_t id : operation.kept) visit(id);
      if (operation.kind == Kind::kLoad) {
        for (const std::uint32_t cell : code_.local_memories()) visit(cell);
      }
      if (operation.instruction != nullptr && reads_carry(*operation.instruction)) {
        visit(code_.carry());
      }
      if (operation.exchange != Exchange::kNone) visit(code_.exchanged(operation.exchange));
    };
    code_.users = ptx::UseLists(code_.values(), count, each_use);
  }

  // Makes room for the function's operations. The kernel's own are followed by one end that all
  // paths off it share.
  std::uint32_t open_frame(const ptx::Function& function, std::uint32_t caller,
                           std::uint32_t after) {
    auto& flat = flats_[&function];
    if (!flat) flat = std::make_unique<ptx::FlatFunction>(function);
    const std::size_t count = flat->instructions().size();
    Frame frame;
    frame.function = flat.get();
    frame.caller = caller;
    frame.first = static_cast<std::uint32_t>(code_.operations.size());
    const std::size_t total = code_.operations.size() + count + (caller == kNone ? 1 : 0);
    if (total > kMaxOperations) {  // each frame but the first has a call among them
      throw error(ErrorCode::kInvalidInput, "{} has more than {} instructions with all its calls",
                  code_.kernel->name, kMaxOperations);
    }
    code_.operations.resize(total);
    if (caller == kNone) {
      code_.operations.back().kind = Kind::kEnd;
      frame.after = static_cast<std::uint32_t>(total - 1);
      end_ = frame.after;
    } else {
      frame.after = after;
    }
    frames_.push_back(std::move(frame));
    return static_cast<std::uint32_t>(frames_.size() - 1);
  }

  void lower(std::uint32_t f) {
    const auto& instructions = frames_[f].function->instructions();
    for (std::uint32_t i = 0; i < instructions.size(); ++i) {
      Operation operation;
      operation.instruction = instructions[i].instruction;
      operation.loc = instructions[i].loc;
      lower(f, i, instructions[i], operation);
      if (operation.guard != kNone) operation.kept = operation.defines;
      edges_ += operation.next.size();
      if (edges_ > kMaxEdges) {
        throw error(ErrorCode::kInvalidInput, "the branches of {} have more than {} targets",
                    code_.kernel->name, kMaxEdges);
      }
      operands_ += operation.defines.size() + operation.sources.size();
      if (operands_ > kMaxOperands) {
        throw error(ErrorCode::kInvalidInput,
                    "the instructions of {} have more than {} operands with all its calls",
                    code_.kernel->name, kMaxOperands);
      }
      code_.operations[frames_[f].first + i] = std::move(operation);
    }
  }

  std::uint32_t position(std::uint32_t f, std::uint32_t instruction) const {
    const Frame& frame = frames_[f];
    return instruction >= frame.function->instructions().size() ? frame.after
                                                                : frame.first + instruction;
  }

  void lower(std::uint32_t f, std::uint32_t index, const ptx::FlatInstruction& flat,
             Operation& out) {
    const Instruction& i = *flat.instruction;
    if (!i.guard.empty()) {
      out.guard = register_of(f, flat.scope, i.guard);
      out.guard_negated = i.guard_negated;
    }
    const bool guarded = !i.guard.empty();
    const std::uint32_t following = position(f, index + 1);
    const Shape shape = shape_of(i, flat.form);
    out.kind = shape.kind;
    out.space = shape.space;
    out.width = shape.width;
    out.non_coherent = shape.non_coherent;
    out.strong = shape.strong;
    out.prefetches = shape.prefetches;
    out.orders = shape.orders && shape.kind != Kind::kBarrier;
    out.meets = shape.meets;
    out.disturbs = shape.disturbs;
    out.exchange = shape.exchange;
    if (out.kind == Kind::kBranch || out.kind == Kind::kEnd || out.kind == Kind::kTrap) {
      if (guarded) out.next.push_back(following);
      if (flat.is(ptx::Form::Kind::kReturn)) {
        out.kind = Kind::kBranch;
        out.next.push_back(frames_[f].after);
      } else if (out.kind == Kind::kEnd) {
        out.kind = Kind::kBranch;
        out.next.push_back(end_);
      } else if (out.kind == Kind::kBranch) {
        std::vector<std::uint32_t> targets = frames_[f].function->branch_targets(flat);
        std::sort(targets.begin(), targets.end());
        targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
        for (std::uint32_t to : targets) out.next.push_back(position(f, to));
        // brx index, targets
        if (targets.size() > 1 && !i.operands.empty()) add_sources(f, flat, i.operands[0], out);
      }
      return;
    }
    out.next.push_back(following);
    if (flat.is(ptx::Form::Kind::kCall)) return call(f, index, flat, out);
    operands(f, flat, shape, out);
  }

  void operands(std::uint32_t f, const ptx::FlatInstruction& flat, const Shape& shape,
                Operation& out) {
    const Instruction& i = *flat.instruction;
    for (std::size_t k = 0; k < i.operands.size(); ++k) {
      const InstructionOperand& operand = i.operands[k];
      if (static_cast<int>(k) == shape.address) {
        out.address = source(f, flat.scope, operand);
        add_coordinates(f, flat, operand, out);
      } else if (k == 0 && shape.defines && operand.kind != InstructionOperand::Kind::kAddress) {
        add_defines(f, flat.scope, operand, out);
        if (ptx::updates_operand(i, k)) add_sources(f, flat, operand, out);
      } else {
        add_sources(f, flat, operand, out);
      }
    }
    out.cuts = reads_parts(*frames_[f].function, flat);
    pass_params(f, flat, out);
    if (out.open) out.kind = Kind::kOpen;
  }

  // ld.param and st.param of anything but the kernel's own parameters move arguments and results.
  void pass_params(std::uint32_t f, const ptx::FlatInstruction& flat, Operation& out) {
    if (out.space != Operation::Space::kParam ||
        (out.kind != Kind::kLoad && out.kind != Kind::kStore)) {
      return;
    }
    const std::string_view opcode = flat.instruction->opcode;
    if (opcode != "ld" && opcode != "st") return;
    const std::vector<InstructionOperand>& operands = flat.instruction->operands;
    const std::size_t place = out.kind == Kind::kLoad ? 1 : 0;
    if (operands.size() <= place) return;
    const InstructionOperand& at = operands[place];
    if (at.kind != InstructionOperand::Kind::kAddress || at.children.empty()) return;
    const auto found = frames_[f].function->variable(flat.scope, at.children[0].text);
    if (!found || found->variable->space != ptx::StateSpace::kParam) return;
    if (param_index(*code_.kernel, found->variable) != kNone) return;
    const std::uint32_t passed = register_id(f, found->variable, 0);
    whole_.push_back(passed);  // a part of it may be all that is passed here
    if (out.kind == Kind::kLoad) {
      out.sources.push_back({ValueSource::Kind::kRegister, passed, 0});
    } else {
      out.defines.push_back(passed);
    }
    out.kind = Kind::kPass;
    out.address = {};
  }

  // call (results), callee, (arguments), targets or prototype
  void call(std::uint32_t f, std::uint32_t index, const ptx::FlatInstruction& flat,
            Operation& out) {
    const Instruction& i = *flat.instruction;
    const InstructionOperand* callee = nullptr;
    const InstructionOperand* results = nullptr;
    const InstructionOperand* arguments = nullptr;
    for (const InstructionOperand& operand : i.operands) {
      if (operand.kind == InstructionOperand::Kind::kGroup) {
        (callee == nullptr ? results : arguments) = &operand;
      } else if (callee == nullptr) {
        callee = &operand;
      }
    }
    if (results != nullptr) {
      for (const InstructionOperand& result : results->children)
        add_defines(f, flat.scope, result, out);
    }
    out.kind = Kind::kOpen;
    out.open = UnseenCause::kRegisterCall;
    out.sources.push_back({});
    if (callee == nullptr || callee->kind != InstructionOperand::Kind::kIdentifier) return;
    const ptx::Function* function = code_.module->function(callee->text);
    if (function == nullptr) return;
    if (!function->has_body) {
      if (!is_known_call(function->name)) {
        out.open = UnseenCause::kForeignCall;
        return;
      }
      out.kind = Kind::kCompute;
      out.open.reset();
      if (prints_text(out)) out.sources = {format_of(f, flat.scope, arguments)};
      return;
    }
    std::size_t depth = 0;
    for (std::uint32_t at = f; at != kNone; at = frames_[at].caller) {
      if (&frames_[at].function->function() == function || ++depth > kMaxDepth) {
        out.open = UnseenCause::kRecursion;
        return;
      }
    }
    const std::uint32_t inner = open_frame(*function, f, position(f, index + 1));
    bind(f, flat.scope, arguments, function->params, inner);
    bind(f, flat.scope, results, function->results, inner);
    out.kind = Kind::kBranch;
    out.open.reset();
    out.sources.clear();
    out.defines.clear();
    if (i.guard.empty()) out.next.clear();
    out.next.push_back(position(inner, 0));
  }

  // What a call passes first.
  ValueSource format_of(std::uint32_t f, std::uint32_t scope, const InstructionOperand* given) {
    const bool is_named = given != nullptr && !given->children.empty() &&
                          given->children[0].kind == InstructionOperand::Kind::kIdentifier;
    if (!is_named) return {ValueSource::Kind::kAnything, 0, 0};
    return {ValueSource::Kind::kRegister, register_of(f, scope, given->children[0].text), 0};
  }

  // The callee's parameters are other names for what the caller passes.
  void bind(std::uint32_t f, std::uint32_t scope, const InstructionOperand* given,
            const std::vector<ptx::Variable>& params, std::uint32_t inner) {
    if (given == nullptr) return;
    const std::size_t count = std::min(given->children.size(), params.size());
    for (std::size_t k = 0; k < count; ++k) {
      const InstructionOperand& operand = given->children[k];
      if (operand.kind != InstructionOperand::Kind::kIdentifier) continue;
      const std::uint32_t passed = register_of(f, scope, operand.text);
      frames_[inner].names[&params[k]][0] = passed;
      whole_.push_back(passed);  // what the callee does to its own is done to the caller's
    }
  }

  std::uint32_t register_id(std::uint32_t f, const ptx::Variable* variable, std::uint32_t number) {
    const auto [entry, is_new] = frames_[f].names[variable].try_emplace(number, code_.registers);
    if (is_new) ++code_.registers;
    return entry->second;
  }

  // A name that is declared nowhere is a register of its own, which nothing defines.
  std::uint32_t register_of(std::uint32_t f, std::uint32_t scope, std::string_view name) {
    const auto found = frames_[f].function->variable(scope, name);
    return found ? register_id(f, found->variable, found->index) : code_.registers++;
  }

  void add_defines(std::uint32_t f, std::uint32_t scope, const InstructionOperand& operand,
                   Operation& out) {
    if (operand.kind == InstructionOperand::Kind::kIdentifier) {
      if (operand.text == "_") {
        // A register that nothing reads: what is named after it stays the second.
        out.defines.push_back(code_.registers++);
        return;
      }
      const bool is_part = operand.text.find('.') != std::string_view::npos;
      if (is_part) out.open = UnseenCause::kPartOfRegister;
      out.defines.push_back(register_of(f, scope, operand.text));
      return;
    }
    for (const InstructionOperand& child : operand.children) add_defines(f, scope, child, out);
  }

  void add_sources(std::uint32_t f, const ptx::FlatInstruction& flat,
                   const InstructionOperand& operand, Operation& out) {
    if (operand.kind == InstructionOperand::Kind::kVector) {
      for (const InstructionOperand& child : operand.children) add_sources(f, flat, child, out);
      return;
    }
    add_coordinates(f, flat, operand, out);
    // In local memory then, where what was passed is written and read by no code that is followed.
    if (passes(f, flat.scope, operand)) out.open = UnseenCause::kAddressOfArgument;
    out.sources.push_back(source(f, flat.scope, operand));
  }

  // Adds the coordinates of an address as sources: [map, {x, y}].
  void add_coordinates(std::uint32_t f, const ptx::FlatInstruction& flat,
                       const InstructionOperand& operand, Operation& out) {
    for (std::size_t k = 1; k < operand.children.size(); ++k) {
      add_sources(f, flat, operand.children[k], out);
    }
  }

  // Whether it names a parameter that is not the kernel's own.
  bool passes(std::uint32_t f, std::uint32_t scope, const InstructionOperand& operand) const {
    const auto found = frames_[f].function->variable(scope, operand.text);
    return found && found->variable->space == ptx::StateSpace::kParam &&
           param_index(*code_.kernel, found->variable) == kNone;
  }

  // "table+64"
  static ValueSource at(ValueSource variable, const InstructionOperand& operand) {
    const bool is_address = variable.kind == ValueSource::Kind::kVariable ||
                            variable.kind == ValueSource::Kind::kConst ||
                            variable.kind == ValueSource::Kind::kShared;
    if (is_address) variable.bits = static_cast<std::uint64_t>(operand.offset);
    return variable;
  }

  ValueSource source(std::uint32_t f, std::uint32_t scope, const InstructionOperand& operand) {
    switch (operand.kind) {
      case InstructionOperand::Kind::kInteger:
        return {ValueSource::Kind::kConstant, 0, operand.bits};
      case InstructionOperand::Kind::kAddress:
        return operand.children.empty() ? ValueSource{} : source(f, scope, operand.children[0]);
      case InstructionOperand::Kind::kIdentifier:
        break;
      default:
        return {};
    }
    if (const auto special = special_register(operand.text)) {
      return {ValueSource::Kind::kSpecial, static_cast<std::uint32_t>(*special), 0};
    }
    const auto found = frames_[f].function->variable(scope, operand.text);
    if (!found) {
      // A part of a vector register: "%v.x".
      const std::string_view whole = operand.text.substr(0, operand.text.rfind('.'));
      if (frames_[f].function->variable(scope, whole)) {
        return {ValueSource::Kind::kAnything, 0, 0};
      }
      return at(module_variable(operand.text), operand);
    }
    if (operand.negated && operand.is_minus) return {ValueSource::Kind::kAnything, 0, 0};
    switch (found->variable->space) {
      case ptx::StateSpace::kReg:
        return {ValueSource::Kind::kRegister, register_id(f, found->variable, found->index), 0};
      case ptx::StateSpace::kParam: {
        const std::uint32_t index = param_index(*code_.kernel, found->variable);
        // After its beginning: "p0+64".
        if (index != kNone && operand.offset != 0) return {ValueSource::Kind::kAnything, 0, 0};
        if (index != kNone) return {ValueSource::Kind::kParam, index, 0};
        return {ValueSource::Kind::kLocal, 0, 0};
      }
      case ptx::StateSpace::kShared:
        return at(shared(*found->variable), operand);
      case ptx::StateSpace::kLocal:
        return {ValueSource::Kind::kLocal, 0, 0};
      case ptx::StateSpace::kGlobal:
        return at(variable(ValueSource::Kind::kVariable, found->variable->name), operand);
      case ptx::StateSpace::kConst:
        return at(variable(ValueSource::Kind::kConst, found->variable->name), operand);
      default:
        return {};
    }
  }

  ValueSource module_variable(std::string_view name) {
    const ptx::Variable* found = code_.module->variable(name);
    if (found == nullptr) return {};
    if (found->space == ptx::StateSpace::kShared) return shared(*found);
    if (found->space == ptx::StateSpace::kConst) return variable(ValueSource::Kind::kConst, name);
    if (found->space != ptx::StateSpace::kGlobal) return {};
    return variable(ValueSource::Kind::kVariable, name);
  }

  ValueSource shared(const ptx::Variable& variable) {
    const bool is_sized = variable.linkage != "extern" && variable_bytes(variable) != 0;
    if (!is_sized) return {ValueSource::Kind::kShared, 0, 0};
    const auto next = static_cast<std::uint32_t>(code_.shared_variables.size());
    const auto [entry, is_new] = shared_.try_emplace(&variable, next);
    if (is_new) code_.shared_variables.push_back(&variable);
    return {ValueSource::Kind::kShared, entry->second, 0};
  }

  ValueSource variable(ValueSource::Kind kind, std::string_view name) {
    const auto [entry, is_new] =
        variables_.try_emplace(name, static_cast<std::uint32_t>(code_.variables.size()));
    if (is_new) code_.variables.emplace_back(name);
    return {kind, entry->second, 0};
  }

  Code code_;
  std::vector<Frame> frames_;
  std::unordered_map<const ptx::Function*, std::unique_ptr<ptx::FlatFunction>> flats_;
  std::unordered_map<std::string_view, std::uint32_t> variables_;
  std::unordered_map<const ptx::Variable*, std::uint32_t> shared_;
  // Registers that stand for more than one, or are written in parts.
  std::vector<std::uint32_t> whole_;
  std::uint32_t end_ = 0;
  std::size_t edges_ = 0;
  std::size_t operands_ = 0;
};

std::string file_place(const ptx::ParsedModule& module, std::uint32_t file, std::uint32_t line) {
  const std::string_view name = module.file(file);
  return fmt::format("{}:{}", name.empty() ? "?" : name, line);
}

}  // namespace

std::string Code::place(const Operation& operation) const {
  const ptx::Loc* loc = operation.loc;
  if (loc != nullptr && loc->line != 0) {
    if (loc->inlined) return file_place(*module, loc->inlined->file, loc->inlined->line);
    return file_place(*module, loc->file, loc->line);
  }
  if (operation.instruction == nullptr) return module->name();
  return fmt::format("{}:{}", module->name(), operation.instruction->position.line);
}

Code read_code(std::shared_ptr<const ptx::ParsedModule> module, const ptx::Function& kernel) {
  return CodeReader(std::move(module), kernel).read();
}

}  // namespace baton::overlap
