#include "ptx/equal.h"

#include <algorithm>
#include <concepts>
#include <tuple>

namespace baton::ptx {
namespace {

// What of each node is compared.
auto parts(const InstructionOperand& x) {
  return std::tie(x.kind, x.negated, x.is_minus, x.is_single, x.text, x.bits, x.offset, x.children);
}
auto parts(const Instruction& x) {
  return std::tie(x.guard, x.guard_negated, x.opcode, x.modifiers, x.operands);
}
auto parts(const Label& x) {
  return std::tie(x.name);
}
auto parts(const Loc::Inlined& x) {
  return std::tie(x.function_label, x.offset, x.file, x.line, x.column);
}
auto parts(const Loc& x) {
  return std::tie(x.file, x.line, x.column, x.inlined);
}
auto parts(const Variable& x) {
  return std::tie(x.linkage, x.space, x.type, x.vector, x.align, x.name, x.range, x.extents,
                  x.initialiser, x.is_pointer, x.pointer_space, x.pointer_align, x.attributes);
}
auto parts(const FunctionDirective& x) {
  return std::tie(x.name, x.operands);
}
auto parts(const CallPrototype& x) {
  return std::tie(x.name, x.results, x.params, x.no_return, x.directives);
}
auto parts(const TargetList& x) {
  return std::tie(x.name, x.calls, x.targets);
}
auto parts(const Directive& x) {
  return std::tie(x.name, x.operands);
}
auto parts(const Block& x) {
  return std::tie(x.statements);
}
auto parts(const Statement& x) {
  return std::tie(x.node);
}
auto parts(const FileEntry& x) {
  return std::tie(x.index, x.name, x.extra);
}
auto parts(const Section& x) {
  return std::tie(x.name, x.text);
}
auto parts(const Function& x) {
  return std::tie(x.is_entry, x.linkage, x.name, x.results, x.params, x.directives, x.attributes,
                  x.has_body, x.body());
}

template <typename T>
bool same(const T& a, const T& b);

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same(x, y); });
}

template <typename T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

template <typename... Ts>
bool same(const std::variant<Ts...>& a, const std::variant<Ts...>& b) {
  return a.index() == b.index() &&
         std::visit([&](const auto& x) { return same(x, std::get<std::decay_t<decltype(x)>>(b)); },
                    a);
}

template <typename... Ts, std::size_t... I>
bool same_parts(const std::tuple<Ts...>& a, const std::tuple<Ts...>& b, std::index_sequence<I...>) {
  return (same(std::get<I>(a), std::get<I>(b)) && ...);
}

template <typename T>
bool same(const T& a, const T& b) {
  if constexpr (std::equality_comparable<T>) {
    return a == b;
  } else {
    const auto of_a = parts(a);
    return same_parts(of_a, parts(b),
                      std::make_index_sequence<std::tuple_size_v<decltype(of_a)>>());
  }
}

}  // namespace

bool equal(const InstructionOperand& a, const InstructionOperand& b) {
  return same(a, b);
}
bool equal(const Statement& a, const Statement& b) {
  return same(a, b);
}

bool equal(const ParsedModule& a, const ParsedModule& b) {
  return a.version_major() == b.version_major() && a.version_minor() == b.version_minor() &&
         a.targets() == b.targets() && a.address_size() == b.address_size() &&
         std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                    [](const TopLevel& x, const TopLevel& y) { return same(x, y); });
}

}  // namespace baton::ptx
