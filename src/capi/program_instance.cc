#include "capi/program_instance.h"

#include <algorithm>

#include "base/error.h"
#include "base/overloaded.h"
#include "base/text/suggest.h"
#include "base/text/text.h"

namespace baton::capi {
namespace {

template <typename Named>
[[noreturn]] void refuse_name(const Program& program, std::string_view what, std::string_view name,
                              const std::vector<Named>& list) {
  std::vector<std::string> known;
  for (const Named& one : list) known.push_back(one.name);
  throw error(ErrorCode::kNotFound, "the program {} has no {} \"{}\"{}", printable(program.name()),
              what, printable(name), suggestion(name, known));
}

}  // namespace

const ProgramBuffer& ProgramInstance::buffer(std::string_view name) const {
  if (const ProgramBuffer* found = program().buffer(name)) return *found;
  refuse_name(program(), "buffer", name, program().buffers());
}

void ProgramInstance::set(std::string_view symbol, std::int64_t value) {
  const ProgramSymbol* known = program().symbol(symbol);
  if (known == nullptr) refuse_name(program(), "symbol", symbol, program().symbols());
  const auto set_before = std::ranges::find(symbols_, symbol, &SymbolValue::symbol);
  if (set_before != symbols_.end()) {
    set_before->value = value;
  } else {
    symbols_.push_back({known->name, value});
  }
  symbols_changed_ = true;
}

void ProgramInstance::set(const ProgramBuffer& buffer, Array contents) {
  buffers_.insert_or_assign(buffer.name, std::move(contents));
  needs_bind_ = buffer.name;
}

void ProgramInstance::set(const ProgramBuffer& buffer, DeviceArray memory) {
  buffers_.insert_or_assign(buffer.name, std::move(memory));
  if (std::ranges::find(moved_, &buffer) == moved_.end()) moved_.push_back(&buffer);
}

void ProgramInstance::unset(std::string_view name) {
  const auto symbol = std::ranges::find(symbols_, name, &SymbolValue::symbol);
  const auto buffer = buffers_.find(name);
  if (symbol != symbols_.end()) {
    symbols_.erase(symbol);
  } else if (buffer != buffers_.end()) {
    std::erase_if(moved_, [&](const ProgramBuffer* moved) { return moved->name == name; });
    buffers_.erase(buffer);
  } else {
    throw error(ErrorCode::kNotFound, "nothing was set for \"{}\" of the program {}",
                printable(name), printable(program().name()));
  }
  needs_bind_ = name;
}

void ProgramInstance::bind() {
  try {
    executable_.bind(bindings());
  } catch (const Error& failure) {
    // After any other error, what was bound stays.
    if (failure.code() == ErrorCode::kOutOfMemory) bound_ = false;
    throw;
  }
  bound_ = true;
  symbols_changed_ = false;
  moved_.clear();
  needs_bind_.clear();
}

Executable& ProgramInstance::bound_anyhow() {
  if (!bound_ || !needs_bind_.empty()) {
    bind();
  } else {
    update();
  }
  return executable_;
}

Executable& ProgramInstance::bound_before() {
  if (bound_) return executable_;
  throw error(ErrorCode::kInvalidInput, "the program {} is not bound: call baton_program_bind",
              printable(program().name()));
}

Executable& ProgramInstance::bound_in_place() {
  bound_before();
  if (!needs_bind_.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "the value of {} was changed since the program {} was bound, by contents in host "
                "memory or by unset: call baton_program_bind",
                needs_bind_, printable(program().name()));
  }
  update();
  return executable_;
}

void ProgramInstance::update() {
  if (symbols_changed_) {
    executable_.set(symbols_);
    symbols_changed_ = false;
  }
  while (!moved_.empty()) {
    const std::string& name = moved_.back()->name;
    executable_.set_memory(name, std::get<DeviceArray>(buffers_.find(name)->second));
    moved_.pop_back();
  }
}

Bindings ProgramInstance::bindings() const {
  Bindings result;
  for (const SymbolValue& symbol : symbols_) {
    result.symbols.emplace_back(symbol.symbol, symbol.value);
  }
  for (const auto& entry : buffers_) {
    const std::string& name = entry.first;
    std::visit(
        Overloaded{[&](const Array& contents) { result.inputs.emplace_back(name, contents); },
                   [&](const DeviceArray& memory) { result.memory.emplace_back(name, memory); }},
        entry.second);
  }
  result.allocator = allocator_;
  result.progress = progress_;
  return result;
}

}  // namespace baton::capi
