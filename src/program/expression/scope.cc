#include "program/expression/scope.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text/suggest.h"
#include "base/text/text.h"
#include "program/attributes.h"
#include "program/buffer_roles.h"
#include "program/expression/expression_code.h"

namespace baton {

void ProgramScope::declare(const ProgramSymbol& symbol) {
  declare(symbol.name, {"symbol", &symbol.where});
}

void ProgramScope::declare(const ProgramBuffer& buffer) {
  declare(buffer.name, {"buffer", &buffer.where, &buffer});
}

void ProgramScope::declare(std::string_view name, const Declared& declared) {
  if (is_function_name(name)) {
    throw error_at(*declared.where, ErrorCode::kInvalidInput,
                   "the {} {} has the name of a function; choose another", declared.kind, name);
  }
  if (!is_identifier(name)) {
    throw error_at(*declared.where, ErrorCode::kInvalidInput,
                   "the {} \"{}\" is not a name: letters, digits and _, not starting with a digit",
                   declared.kind, printable(name));
  }
  const auto [found, added] = names_.emplace(name, declared);
  if (!added) {
    throw error_at(*declared.where, ErrorCode::kInvalidInput,
                   "the {} {} has the name of {} {} already{}; choose another", declared.kind, name,
                   *found->second.kind == 'i' ? "an" : "a", found->second.kind,
                   found->second.where->known() ? ", at " + found->second.where->to_string() : "");
  }
}

void ProgramScope::declare(const ProgramKernel& kernel) {
  if (!kernels_.emplace(kernel.name, false).second) {
    throw error_at(kernel.where, ErrorCode::kInvalidInput, "there are two kernels named {}",
                   printable(kernel.name));
  }
}

void ProgramScope::open_group(const std::string& index, const SourceLocation& where) {
  if (++depth_ > kMaxGroupDepth) {
    throw error(ErrorCode::kInvalidInput, "groups of steps are nested deeper than {} levels",
                kMaxGroupDepth);
  }
  if (!index.empty()) declare(index, {"index", &where});
}

void ProgramScope::close_group(const std::string& index) {
  if (!index.empty()) names_.erase(index);
  --depth_;
}

void ProgramScope::require_branch(const std::string& event, const SourceLocation& where) const {
  if (!events_.empty() && events_.back().depth == depth_) return;
  throw error_at(where, ErrorCode::kInvalidInput,
                 "the launch has the event {}, but it is not itself a step of a branch: events "
                 "order launches of the branches of one parallel, outside of groups in them",
                 printable(event));
}

void ProgramScope::record_event(const std::string& name, const SourceLocation& where) {
  require_branch(name, where);
  if (!is_identifier(name)) {
    throw error_at(where, ErrorCode::kInvalidInput,
                   "the event \"{}\" is not a name: letters, digits and _, not starting with a "
                   "digit",
                   printable(name));
  }
  Events& events = events_.back();
  if (!events.recorded.emplace(name, events.branch).second) {
    throw error_at(where, ErrorCode::kInvalidInput,
                   "two launches of the parallel record the event {}; give each a name of its own",
                   name);
  }
}

void ProgramScope::check_event(const std::string& name, const SourceLocation& where) const {
  require_branch(name, where);
  const Events& events = events_.back();
  const auto found = events.recorded.find(name);
  if (found == events.recorded.end()) {
    std::vector<std::string_view> known;
    for (const auto& [each, branch] : events.recorded) known.push_back(each);
    throw error_at(where, ErrorCode::kNotFound,
                   "no launch of an earlier branch of the parallel records the event \"{}\"{}",
                   printable(name), suggestion(name, known));
  }
  if (found->second == events.branch) {
    throw error_at(
        where, ErrorCode::kInvalidInput,
        "the event {} is one of branch {} itself, whose steps follow one another; for an "
        "early start in a branch write pdl",
        name, events.branch);
  }
}

bool ProgramScope::is_of_world(std::string_view name) const {
  return std::ranges::any_of(program_.symbols, [&](const ProgramSymbol& symbol) {
    return symbol.of_world && symbol.name == name;
  });
}

bool ProgramScope::is_buffer(std::string_view name) const {
  const auto found = names_.find(name);
  return found != names_.end() && found->second.buffer != nullptr;
}

bool ProgramScope::has_kernel(std::string_view name) const {
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) return false;
  found->second = true;
  return true;
}

void ProgramScope::check_kernel(const std::string& name, const SourceLocation& where) const {
  if (has_kernel(name)) return;
  std::vector<std::string_view> known;
  for (const ProgramKernel& kernel : program_.kernels) known.push_back(kernel.name);
  throw error_at(where, ErrorCode::kNotFound, "unknown kernel \"{}\"{}", printable(name),
                 suggestion(name, known));
}

void ProgramScope::begin_setup() {
  is_setup_ = true;
  for (auto& [name, declared] : names_) declared.is_used = false;
  for (auto& [name, is_used] : kernels_) is_used = false;
}

void ProgramScope::add_used(const ProgramScope& other) {
  for (auto& [name, declared] : names_) declared.is_used |= other.is_used(name);
  for (auto& [name, is_used] : kernels_) is_used |= other.is_used_kernel(name);
}

std::set<std::string, std::less<>> ProgramScope::used_names() const {
  std::set<std::string, std::less<>> used;
  for (const auto& [name, declared] : names_) {
    if (declared.is_used) used.emplace(name);
  }
  return used;
}

const ProgramBuffer& ProgramScope::buffer(const std::string& name,
                                          const SourceLocation& where) const {
  const auto found = names_.find(name);
  if (found != names_.end() && found->second.buffer != nullptr) {
    const ProgramBuffer& target = *found->second.buffer;
    if (is_setup_ && !facts_of(target.role).in_setup) {
      throw error_at(where, ErrorCode::kInvalidInput,
                     "a setup step uses the buffer {} of role {}, which has no contents when the "
                     "program is bound; {} buffers have",
                     name, to_string(target.role), names_of_roles(&RoleFacts::in_setup));
    }
    found->second.is_used = true;
    return target;
  }
  std::vector<std::string_view> known;
  for (const ProgramBuffer& candidate : program_.buffers) known.push_back(candidate.name);
  if (found != names_.end()) {
    throw error_at(where, ErrorCode::kInvalidInput, "{} is {} {}, where a buffer is expected{}",
                   name, found->second.kind[0] == 'i' ? "an" : "a", found->second.kind,
                   suggestion("", known));
  }
  throw error_at(where, ErrorCode::kNotFound, "unknown buffer \"{}\"{}", printable(name),
                 suggestion(name, known));
}

void ProgramScope::check_names(const ExpressionCode& code) const {
  for (const ExpressionCode::Node& node : code.nodes) {
    if (node.op != ExpressionCode::Op::kName) continue;
    const std::string& name = code.names[static_cast<std::size_t>(node.value)];
    const auto found = names_.find(name);
    if (found != names_.end() && found->second.buffer == nullptr) {
      found->second.is_used = true;
      continue;
    }
    if (found != names_.end()) {
      throw error_at(code.place(node.begin), ErrorCode::kInvalidInput,
                     "{} is a buffer, in the expression \"{}\"; a buffer comes first, as in "
                     "\"{} + offset\", and only where a buffer is expected",
                     name, printable(code.text), name);
    }
    std::vector<std::string_view> known;
    for (const auto& [other, declared] : names_) {
      if (declared.buffer == nullptr) known.push_back(other);
    }
    throw error_at(code.place(node.begin), ErrorCode::kNotFound, "unknown symbol \"{}\"{}", name,
                   suggestion(name, known));
  }
}

void ProgramScope::require_symbols(const ExpressionCode& code, std::string_view what) const {
  for (const ExpressionCode::Node& node : code.nodes) {
    if (node.op != ExpressionCode::Op::kName) continue;
    const std::string& name = code.names[static_cast<std::size_t>(node.value)];
    if (std::string_view(names_.find(name)->second.kind) == "symbol") continue;
    throw error_at(
        code.place(node.begin), ErrorCode::kInvalidInput,
        "{} depends on {}, the index of a repeat; it is an expression over symbols alone", what,
        name);
  }
}

void ProgramScope::check_argument_names(const ExpressionCode& code) const {
  if (code.nodes.size() == 1 && code.nodes[0].op == ExpressionCode::Op::kName &&
      names_.count(code.names[0]) == 0) {
    std::vector<std::string_view> known;
    for (const auto& [name, declared] : names_) known.push_back(name);
    throw error_at(code.where, ErrorCode::kNotFound, "\"{}\" is not a buffer, symbol or index{}",
                   code.names[0], suggestion(code.names[0], known));
  }
  check_names(code);
}

void ProgramScope::refuse_literal(const Expression& expression, std::string_view what,
                                  std::int64_t least) {
  throw error_at(expression.where(), ErrorCode::kInvalidInput, "{} is {}, it must be at least {}",
                 what, *expression.literal(), least);
}

const ProgramBuffer& ProgramScope::check(const BufferOffset& place) const {
  const ProgramBuffer& target = buffer(place.buffer, place.where);
  if (place.offset)
    check(
        *place.offset, [&] { return fmt::format("the offset in {}", place.buffer); }, 0);
  return target;
}

void ProgramScope::check(ProgramAttributes& attributes) const {
  if (attributes.shared) check(*attributes.shared, "dynamic shared memory", 0);
  if (attributes.sms) check(*attributes.sms, "sms", 0);
  if (attributes.flops) {
    check(*attributes.flops, "flops", 0);
    require_symbols(*attributes.flops->code(), "flops");
  }
  resolve_attributes(attributes.list,
                     {[this](const Expression& value) { check_names(*value.code()); },
                      [this](const BufferOffset& place) { check(place); }});
}

void ProgramScope::check_condition(const std::string& name, const SourceLocation& where) const {
  if (is_setup_) {
    throw error_at(where, ErrorCode::kInvalidInput,
                   "a setup step tests the buffer {}; setup steps are executed in any case, so "
                   "write if and while among the other steps",
                   printable(name));
  }
  const ProgramBuffer& tested = buffer(name, where);
  if (!is_float(tested.dtype)) return;
  throw error_at(where, ErrorCode::kInvalidInput,
                 "the step tests {}, which is {}; a condition is an integer or bool", name,
                 to_string(tested.dtype));
}

void ProgramScope::check_collective(std::string_view name, const SourceLocation& where) const {
  const auto refuse = [&](std::string_view why) {
    throw error_at(where, ErrorCode::kInvalidInput, "{} {}", name, why);
  };
  if (!program_.world) {
    refuse("is a step of several ranks, and the program has no world; add [world] to it");
  }
  if (is_setup_) {
    refuse("is a setup step, which each rank executes by itself; write it among the other steps");
  }
  if (!events_.empty()) {
    refuse(
        "is in a branch of a parallel, whose steps have no order; all ranks must come to the same "
        "collectives in the same order, so write it outside");
  }
}

void ProgramScope::check_group(std::string_view name, const SourceLocation& where) const {
  if (name.empty()) return;
  std::vector<std::string_view> known;
  if (program_.world) {
    for (const WorldGroup& group : program_.world->groups) known.push_back(group.name);
  }
  if (std::ranges::find(known, name) != known.end()) return;
  throw error_at(where, ErrorCode::kNotFound, "unknown group \"{}\"{}", printable(name),
                 known.empty() ? "; the world has no groups, add [world.groups] to the program"
                               : suggestion(name, known));
}

void ProgramScope::check_writable(const ProgramBuffer& target, std::string_view what) const {
  if (!facts_of(target.role).is_constant) return;
  if (is_setup_ && is_made_by_setup(target)) return;
  if (is_setup_) {
    throw error(ErrorCode::kInvalidInput,
                "{} in the setup writes {}, a {} that has an init, a file or a variable; setup "
                "steps write weights without them",
                what, target.name, to_string(target.role));
  }
  throw error(ErrorCode::kInvalidInput, "{} writes {}, which has the role {}: no step may write it",
              what, target.name, to_string(target.role));
}

}  // namespace baton
