#include <algorithm>

#include "base/error.h"
#include "baton/program.h"

namespace baton {

Expression ProgramBuilder::symbol(std::string name, std::int64_t value, const char* file,
                                  int line) {
  const auto end = definition_.symbols.begin() + static_cast<std::ptrdiff_t>(included_symbols_);
  const auto included = std::find_if(definition_.symbols.begin(), end,
                                     [&](const ProgramSymbol& s) { return s.name == name; });
  if (included != end) {
    *included = {name, value, {file, line}};
  } else {
    definition_.symbols.push_back({name, value, {file, line}});
  }
  return Expression(name);
}

ProgramBuilder& ProgramBuilder::world(std::optional<std::int64_t> ranks,
                                      std::vector<WorldGroup> groups, const char* file, int line) {
  definition_.world = ProgramWorld{ranks, {file, line}, std::move(groups)};
  for (WorldGroup& group : definition_.world->groups) group.where = {file, line};
  return *this;
}

ProgramBuilder& ProgramBuilder::require(std::string_view comparison, std::string name,
                                        const char* file, int line) {
  Requirement requirement(comparison, {file, line});
  requirement.name = std::move(name);
  definition_.requirements.push_back(std::move(requirement));
  return *this;
}

ProgramBuilder& ProgramBuilder::tune(std::string symbol, std::vector<Expression> values,
                                     const char* file, int line) {
  definition_.tune.push_back({std::move(symbol), std::move(values), {file, line}});
  return *this;
}

ProgramBuilder& ProgramBuilder::include(const Program& program) {
  const ProgramDefinition& other = program.definition();
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  if (other.world) definition_.world = other.world;
  append(definition_.symbols, other.symbols);
  included_symbols_ = definition_.symbols.size();
  append(definition_.requirements, other.requirements);
  append(definition_.tune, other.tune);
  append(definition_.buffers, other.buffers);
  append(definition_.kernels, other.kernels);
  append(definition_.setup, other.setup);
  append(open_.empty() ? definition_.steps : *open_.back(), other.steps);
  return *this;
}

ProgramBuilder& ProgramBuilder::buffer(ProgramBuffer buffer, const char* file, int line) {
  buffer.where = {file, line};
  definition_.buffers.push_back(std::move(buffer));
  return *this;
}

ProgramBuilder& ProgramBuilder::kernel(ProgramKernel kernel, const char* file, int line) {
  kernel.where = {file, line};
  definition_.kernels.push_back(std::move(kernel));
  return *this;
}

ProgramBuilder& ProgramBuilder::launch(LaunchStep step, const char* file, int line) {
  return add({std::move(step), {file, line}});
}

ProgramBuilder& ProgramBuilder::copy(CopyStep step, const char* file, int line) {
  return add({std::move(step), {file, line}});
}

ProgramBuilder& ProgramBuilder::fill(FillStep step, const char* file, int line) {
  return add({std::move(step), {file, line}});
}

ProgramBuilder& ProgramBuilder::collective(CollectiveStep step, const char* file, int line) {
  return add({std::move(step), {file, line}});
}

void ProgramBuilder::collect(std::vector<ProgramStep>& steps, const std::function<void()>& body) {
  open_.push_back(&steps);
  try {
    body();
  } catch (...) {
    open_.pop_back();
    throw;
  }
  open_.pop_back();
}

ProgramBuilder& ProgramBuilder::repeat(Expression count, std::string index,
                                       const std::function<void()>& body, const char* file,
                                       int line) {
  RepeatStep group;
  collect(group.steps, body);
  group.count = std::move(count);
  group.index = std::move(index);
  return add({std::move(group), {file, line}});
}

ProgramBuilder& ProgramBuilder::if_(std::string buffer, const std::function<void()>& body,
                                    const char* file, int line) {
  IfStep step;
  collect(step.steps, body);
  step.buffer = std::move(buffer);
  return add({std::move(step), {file, line}});
}

ProgramBuilder& ProgramBuilder::while_(std::string buffer, Expression at_most, Expression unroll,
                                       const std::function<void()>& body, const char* file,
                                       int line) {
  WhileStep step;
  collect(step.steps, body);
  step.buffer = std::move(buffer);
  step.at_most = std::move(at_most);
  step.unroll = std::move(unroll);
  return add({std::move(step), {file, line}});
}

ProgramBuilder& ProgramBuilder::parallel(const std::vector<std::function<void()>>& branches,
                                         const char* file, int line) {
  ParallelStep step;
  for (const std::function<void()>& branch : branches) {
    std::vector<ProgramStep> steps;
    collect(steps, branch);
    step.branches.push_back(std::move(steps));
  }
  return add({std::move(step), {file, line}});
}

ProgramBuilder& ProgramBuilder::setup(const std::function<void()>& body) {
  if (!open_.empty()) {
    throw error(ErrorCode::kInvalidInput, "setup() is inside of a group; call it outside");
  }
  collect(definition_.setup, body);
  return *this;
}

ProgramBuilder& ProgramBuilder::add(ProgramStep step) {
  (open_.empty() ? definition_.steps : *open_.back()).push_back(std::move(step));
  return *this;
}

}  // namespace baton
