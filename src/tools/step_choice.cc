#include "tools/step_choice.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "bind/steps/collective.h"
#include "bind/steps/copy.h"
#include "bind/steps/fill.h"
#include "program/expression/expression_code.h"

namespace baton::tools {
namespace {

template <typename T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The labels and indexes that steps of a program have.
struct StepNames {
  std::set<std::string> labels;
  std::set<std::string> indexes;

  void add(const std::vector<ProgramStep>& steps) {
    for (const ProgramStep& step : steps) {
      std::visit([this](const auto& action) { add(action); }, step.action);
    }
  }
  void add(const LaunchStep& step) { labels.insert(step.kernel); }
  void add(const CopyStep& step) { labels.insert(bind::label_of(step)); }
  void add(const FillStep& step) { labels.insert(bind::label_of(step)); }
  void add(const CollectiveStep& step) { labels.insert(bind::label_of(step)); }
  void add(const RepeatStep& step) {
    if (!step.index.empty()) indexes.insert(step.index);
    add(step.steps);
  }
  void add(const IfStep& step) { add(step.steps); }
  void add(const WhileStep& step) { add(step.steps); }
  void add(const ParallelStep& step) {
    for (const std::vector<ProgramStep>& branch : step.branches) add(branch);
  }
};

void require_name(std::string_view option, std::string_view what, const std::string& name,
                  const std::set<std::string>& known) {
  if (known.contains(name)) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  throw error(ErrorCode::kNotFound, "{}: no step has the {} \"{}\"{}", option, what,
              printable(name), suggestion(name, names));
}

// The steps of one run, in their order, as far as they are known before it.
class StepList {
 public:
  StepList(const StepChoice& choice, const std::vector<BoundSymbol>& symbols) : choice_(choice) {
    for (const BoundSymbol& symbol : symbols) values_[symbol.name] = symbol.value;
  }

  void add(const std::vector<ProgramStep>& steps) {
    for (const ProgramStep& step : steps) {
      if (found_ || !is_known_) return;
      std::visit([this](const auto& action) { add(action); }, step.action);
    }
  }

  // Whether it is certain that no step is the chosen one.
  bool lacks_it() const { return is_known_ && !found_; }

  // "it has 6 steps, l is 0 to 2".
  std::string text() const {
    std::string text = fmt::format("it has {} step{}", next_.number, next_.number == 1 ? "" : "s");
    if (choice_.number) text += ", numbered from 0";
    for (const auto& [name, value] : choice_.indexes) {
      const auto most = most_.find(name);
      if (most != most_.end()) text += fmt::format(", {} is 0 to {}", name, most->second);
    }
    return text;
  }

 private:
  static constexpr std::uint64_t kMostSteps = 1 << 20;

  void add_one(std::string label) {
    next_.label = std::move(label);
    found_ = found_ || choice_.fits(next_);
    is_known_ = is_known_ && ++next_.number < kMostSteps;
  }
  void add(const LaunchStep& step) { add_one(step.kernel); }
  void add(const CopyStep& step) { add_one(bind::label_of(step)); }
  void add(const FillStep& step) { add_one(bind::label_of(step)); }
  void add(const CollectiveStep& step) { add_one(bind::label_of(step)); }
  void add(const RepeatStep& step) {
    const std::int64_t count = value_of(step.count);
    for (std::int64_t i = 0; i < count && is_known_ && !found_; ++i) {
      if (!step.index.empty()) {
        values_[step.index] = i;
        most_[step.index] = std::max(most_[step.index], i);
        next_.indexes.emplace_back(step.index, i);
      }
      is_known_ = is_known_ && ++iterations_ < kMostSteps;
      add(step.steps);
      if (!step.index.empty()) next_.indexes.pop_back();
    }
  }
  // Their conditions are known when the run comes to them.
  void add(const IfStep&) { is_known_ = false; }
  void add(const WhileStep&) { is_known_ = false; }
  void add(const ParallelStep& step) {
    for (const std::vector<ProgramStep>& branch : step.branches) add(branch);
  }

  std::int64_t value_of(const Expression& expression) const {
    std::vector<std::int64_t> values;
    for (const std::string& name : expression.names()) values.push_back(values_.at(name));
    return expression.code()->evaluate(values);
  }

  const StepChoice& choice_;
  std::map<std::string, std::int64_t> values_;  // of symbols and indexes
  std::map<std::string, std::int64_t> most_;    // the largest values of indexes
  CompletedStep next_;
  std::uint64_t iterations_ = 0;
  bool found_ = false;
  bool is_known_ = true;
};

}  // namespace

bool StepChoice::fits(const CompletedStep& step) const {
  if (number) return step.number == *number;
  if (step.label != label) return false;
  return std::ranges::all_of(indexes, [&](const auto& wanted) {
    return std::ranges::find(step.indexes, wanted) != step.indexes.end();
  });
}

StepChoice parse_step_choice(std::string_view option, const std::string& text) {
  StepChoice choice{text};
  choice.number = whole_number<std::uint64_t>(text);
  if (choice.number) return choice;
  const std::size_t colon = text.rfind(':');
  const bool has_indexes = colon != std::string::npos && text.find('=', colon) != std::string::npos;
  choice.label = has_indexes ? text.substr(0, colon) : text;
  std::string_view left = has_indexes ? std::string_view(text).substr(colon + 1) : "";
  while (!left.empty()) {
    const std::string_view part = left.substr(0, left.find(','));
    left.remove_prefix(std::min(part.size() + 1, left.size()));
    const std::size_t cut = part.find('=');
    const auto value = cut == std::string_view::npos
                           ? std::nullopt
                           : whole_number<std::int64_t>(part.substr(cut + 1));
    if (!value) {
      throw error(ErrorCode::kInvalidInput,
                  "{} {}: \"{}\" is not INDEX=INTEGER; write it as \"topk:layer=2,i=0\"", option,
                  printable(text), printable(part));
    }
    choice.indexes.emplace_back(part.substr(0, cut), *value);
  }
  return choice;
}

void check_step_choice(std::string_view option, const StepChoice& choice, const Program& program) {
  if (choice.number) return;
  StepNames names;
  names.add(program.steps());
  require_name(option, "name", choice.label, names.labels);
  for (const auto& [index, value] : choice.indexes) {
    require_name(option, "index", index, names.indexes);
  }
}

void check_step_exists(std::string_view option, const StepChoice& choice, const Program& program,
                       const std::vector<BoundSymbol>& symbols) {
  StepList steps(choice, symbols);
  steps.add(program.steps());
  if (!steps.lacks_it()) return;
  throw error(ErrorCode::kNotFound, "{} {}: the run has no such step; {}", option,
              printable(choice.text), steps.text());
}

}  // namespace baton::tools
