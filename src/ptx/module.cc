#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/hash/hash.h"
#include "base/log.h"
#include "ptx/module_index.h"
#include "ptx/parser.h"

namespace baton::ptx {

const Function* ParsedModule::Index::add(const Function& function) {
  const auto [at, is_new] = functions.try_emplace(function.name, &function);
  if (is_new || !function.has_body) return nullptr;
  if (at->second->has_body) return at->second;
  at->second = &function;
  return nullptr;
}

const Variable* ParsedModule::Index::add(const Variable& variable) {
  const auto [at, is_new] = variables.try_emplace(variable.name, &variable);
  if (is_new || variable.linkage == "extern") return nullptr;
  if (at->second->linkage != "extern") return at->second;
  at->second = &variable;
  return nullptr;
}

ParsedModule::~ParsedModule() = default;

namespace {

// Compilers count a NUL at the end, containers pad with several.
std::string_view until_nul(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

// The modules that are alive, by the hash of their text. Keeps none of them alive.
class LiveModules {
 public:
  static LiveModules& instance() {
    static LiveModules modules;
    return modules;
  }

  void add(const std::shared_ptr<const ParsedModule>& module) {
    const std::uint64_t key = xxh3(module->text());
    std::lock_guard lock(mutex_);
    if (modules_.size() >= kMost) {
      std::erase_if(modules_, [](const auto& each) { return each.second.expired(); });
    }
    if (modules_.size() >= kMost) modules_.clear();  // then a text may be parsed twice
    modules_.insert_or_assign(key, module);
  }

  std::shared_ptr<const ParsedModule> find(std::string_view text) {
    const std::string_view whole = until_nul(text);
    // What follows a NUL is judged where the text is parsed.
    if (text.find_first_not_of('\0', whole.size()) != std::string_view::npos) return nullptr;
    const std::uint64_t key = xxh3(whole);
    std::lock_guard lock(mutex_);
    const auto found = modules_.find(key);
    if (found == modules_.end()) return nullptr;
    std::shared_ptr<const ParsedModule> module = found->second.lock();
    return module != nullptr && module->text() == whole ? module : nullptr;
  }

 private:
  static constexpr std::size_t kMost = 1024;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<const ParsedModule>> modules_;
};

}  // namespace

std::shared_ptr<const ParsedModule> ParsedModule::of(std::string text, std::string name) {
  if (auto alive = LiveModules::instance().find(text)) return alive;
  return parse(std::move(text), std::move(name));
}

std::shared_ptr<const ParsedModule> ParsedModule::parse(std::string text, std::string name) {
  if (auto alive = LiveModules::instance().find(text); alive && alive->name() == name) return alive;
  const std::shared_ptr<ParsedModule> module(new ParsedModule);
  module->name_ = std::move(name);
  module->text_ = std::move(text);
  module->index_ = std::make_unique<Index>();
  std::string& stored = module->text_;
  if (stored.size() > Parser::kMaxText) {
    throw baton::error(ErrorCode::kInvalidInput, "{}: {} bytes of PTX; at most {} are read",
                       module->name_, stored.size(), Parser::kMaxText);
  }
  if (stored.starts_with("\xEF\xBB\xBF")) {
    throw syntax_error(stored, module->name_, {1, 1},
                       "the text begins with a byte order mark, which PTX does not allow; save it "
                       "as UTF-8 without one");
  }
  const std::size_t nul = until_nul(stored).size();
  if (nul != stored.size()) {
    const std::size_t more = stored.find_first_not_of('\0', nul);
    if (more != std::string::npos) {
      throw baton::error(
          ErrorCode::kInvalidInput,
          "{}: byte {} is NUL, which ends PTX, but {} bytes follow; one text holds one "
          "module",
          module->name_, nul, stored.size() - nul - 1);
    }
    stored.resize(nul);
  }
  Parser::parse_module(*module);
  log(LogLevel::kDebug, "parsed the PTX of {}", module->name_);
  LiveModules::instance().add(module);
  return module;
}

const Function* ParsedModule::function(std::string_view function_name) const {
  const auto alias = index_->aliases.find(function_name);
  if (alias != index_->aliases.end()) function_name = alias->second;
  const auto found = index_->functions.find(function_name);
  return found == index_->functions.end() ? nullptr : found->second;
}

const Variable* ParsedModule::variable(std::string_view variable_name) const {
  const auto found = index_->variables.find(variable_name);
  return found == index_->variables.end() ? nullptr : found->second;
}

Error ParsedModule::error(Position at, const std::string& message) const {
  return syntax_error(text_, name_, at, message);
}

std::vector<const Function*> ParsedModule::entries() const {
  std::vector<const Function*> result;
  for (const TopLevel& item : items_) {
    const auto* entry = std::get_if<Function>(&item);
    if (entry != nullptr && entry->is_entry) result.push_back(entry);
  }
  return result;
}

std::string_view ParsedModule::file(std::uint32_t index) const {
  const auto found = index_->files.find(index);
  return found == index_->files.end() ? std::string_view() : found->second;
}

const FunctionDirective* Function::directive(std::string_view directive_name) const {
  for (const FunctionDirective& candidate : directives) {
    if (candidate.name == directive_name) return &candidate;
  }
  return nullptr;
}

std::optional<std::vector<std::int64_t>> Function::integers(std::string_view directive_name,
                                                            std::size_t count,
                                                            std::int64_t missing) const {
  const FunctionDirective* found = directive(directive_name);
  if (found == nullptr) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const InstructionOperand& operand : found->operands) {
    if (operand.kind == InstructionOperand::Kind::kInteger) {
      result.push_back(static_cast<std::int64_t>(operand.bits));
    }
  }
  if (result.size() < count) result.resize(count, missing);
  return result;
}

Error Function::error(Position at, const std::string& message) const {
  return module_->error(at, message);
}

const Block& Function::body() const {
  static const Block kNone;
  if (lazy_ == nullptr) return kNone;
  std::call_once(lazy_->once, [this] {
    try {
      lazy_->block = Parser::parse_body(*this);
    } catch (const Error& failure) {
      lazy_->error = failure;
    }
  });
  if (lazy_->error) throw *lazy_->error;
  return lazy_->block;
}

}  // namespace baton::ptx
