#include "capi/program_instance.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/overloaded.h"
#include "base/suggest.h"
#include "base/text.h"

namespace baton::capi {
namespace {

template <typename Named>
std::vector<std::string> names_of(const std::vector<Named>& list) {
  std::vector<std::string> names;
  for (const Named& one : list) names.push_back(one.name);
  return names;
}

[[noreturn]] void refuse_name(const Program& program, std::string_view what, std::string_view name,
                              const std::vector<std::string>& known) {
  throw error(ErrorCode::kNotFound, "the program {} has no {} \"{}\"{}", printable(program.name()),
              what, printable(name), suggestion(name, known));
}

}  // namespace

const ProgramBuffer& ProgramInstance::buffer(std::string_view name) const {
  if (const ProgramBuffer* found = program().buffer(name)) return *found;
  refuse_name(program(), "buffer", name, names_of(program().buffers()));
}

void ProgramInstance::set(std::string_view symbol, std::int64_t value) {
  if (program().symbol(symbol) == nullptr) {
    refuse_name(program(), "symbol", symbol, names_of(program().symbols()));
  }
  symbols_.insert_or_assign(std::string(symbol), value);
  changed_ = true;
}

void ProgramInstance::set(std::string_view buffer, Array contents) {
  buffers_.insert_or_assign(this->buffer(buffer).name, std::move(contents));
  changed_ = true;
}

void ProgramInstance::set(std::string_view buffer, DeviceArray memory) {
  buffers_.insert_or_assign(this->buffer(buffer).name, std::move(memory));
  changed_ = true;
}

void ProgramInstance::unset(std::string_view name) {
  if (const auto symbol = symbols_.find(name); symbol != symbols_.end()) {
    symbols_.erase(symbol);
  } else if (const auto buffer = buffers_.find(name); buffer != buffers_.end()) {
    buffers_.erase(buffer);
  } else {
    throw error(ErrorCode::kNotFound, "nothing was set for \"{}\" of the program {}",
                printable(name), printable(program().name()));
  }
  changed_ = true;
}

void ProgramInstance::bind() {
  bound_ = false;  // kept where `bind` throws and nothing is bound
  executable_.bind(bindings());
  bound_ = true;
  changed_ = false;
}

const RunReport& ProgramInstance::run(const RunOptions& options) {
  if (!bound_ || changed_) bind();
  return executable_.run(options);
}

Bindings ProgramInstance::bindings() const {
  Bindings result;
  result.symbols.assign(symbols_.begin(), symbols_.end());
  for (const auto& [name, value] : buffers_) {
    std::visit(
        Overloaded{[&](const Array& contents) { result.inputs.emplace_back(name, contents); },
                   [&](const DeviceArray& memory) { result.memory.emplace_back(name, memory); }},
        value);
  }
  return result;
}

}  // namespace baton::capi
