#include "analysis/kernel_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "pdl/code/code.h"
#include "pdl/order/signals.h"
#include "pdl/rewrite/placement.h"
#include "pdl/rewrite/rewrite.h"
#include "pdl/value/thread.h"

namespace baton::record {
namespace {

using overlap::Code;
using overlap::KnownThread;
using overlap::Operation;
using overlap::Value;
using overlap::ValueSource;

std::string text_of_source(const ValueSource& source) {
  return fmt::format("{}:{}:{:x}", static_cast<int>(source.kind), source.id, source.bits);
}

std::string text_of_flags(const std::vector<bool>& flags) {
  std::string text;
  for (const bool flag : flags) text += flag ? '1' : '0';
  return text;
}

std::string flags_of(const Operation& operation) {
  std::string text;
  const std::pair<bool, char> flags[] = {{operation.non_coherent, 'n'}, {operation.strong, 's'},
                                         {operation.prefetches, 'p'},   {operation.orders, 'o'},
                                         {operation.meets, 'm'},        {operation.disturbs, 'd'},
                                         {operation.guard_negated, '!'}};
  for (const auto& [is_set, letter] : flags) {
    if (is_set) text += letter;
  }
  return text;
}

std::string text_of_value(const Value& value) {
  switch (value.state) {
    case Value::State::kNothing:
      return "nothing";
    case Value::State::kRange:
      return fmt::format("{:x}..{:x}", value.bits, value.most);
    case Value::State::kShared:
    case Value::State::kParam:
      return fmt::format("{}{}+{:x}..{:x}{}{}", value.is_shared() ? "shared" : "param", value.root,
                         value.bits, value.most, value.is_generic ? " generic" : "",
                         value.is_remote ? " remote" : "");
    case Value::State::kVaries:
      return "?";
  }
  return "";
}

std::vector<std::optional<std::uint64_t>> scalars_of(const RecordedLaunch& launch) {
  std::vector<std::optional<std::uint64_t>> scalars;
  for (const overlap::GivenArgument& argument : launch.arguments) {
    const bool is_scalar = argument.kind == overlap::GivenArgument::Kind::kScalar;
    scalars.push_back(is_scalar ? argument.bits : std::nullopt);
  }
  return scalars;
}

void add_thread(const Code& code, const std::string& name, const KnownThread& thread,
                std::string& out) {
  auto to = std::back_inserter(out);
  fmt::format_to(to, "{}:", name);
  for (const Value& value : find_values(code, thread))
    fmt::format_to(to, " {}", text_of_value(value));
  const std::vector<bool> none(code.operations.size(), false);
  std::vector<bool> waits = none;
  for (std::size_t k = 0; k < waits.size(); ++k) {
    waits[k] = code.operations[k].kind == Operation::Kind::kWait;
  }
  fmt::format_to(to, "\n reaches {} unordered {}",
                 text_of_flags(find_reachable_unordered(code, thread, none)),
                 text_of_flags(find_reachable_unordered(code, thread, waits)));
  if (overlap::has_signals(code)) {
    fmt::format_to(to, " early {}", text_of_flags(find_early(code, thread, {})));
  }
  static constexpr overlap::Meeting kMeetings[] = {overlap::Meeting::kBlock,
                                                   overlap::Meeting::kCluster};
  const overlap::ThreadFacts facts = follow_thread(code, thread, kMeetings);
  fmt::format_to(to, " waits {}", facts.always_executes);
  for (const overlap::MeetingFacts& meeting : facts.meetings) {
    fmt::format_to(to, " arrivals {} meets {}", meeting.arrivals_before, meeting.meets_others);
  }
  out += '\n';
}

// The lines of `text` that `before` does not have at their place.
std::string changed_lines(const std::string& before, const std::string& text) {
  std::istringstream old(before), now(text);
  std::string out, a, b;
  while (std::getline(now, b)) {
    if (!std::getline(old, a)) a.clear();
    if (a != b) out += b + "\n";
  }
  return out;
}

std::string text_of_rewriting(const ptx::ParsedModule& before,
                              const overlap::Rewriting& rewriting) {
  std::string out;
  auto to = std::back_inserter(out);
  for (const overlap::RewrittenKernel& each : rewriting.kernels) {
    fmt::format_to(to, "rewrite {}: {} {}", each.kernel, each.obstacle, each.own);
    for (const overlap::Change& change : each.changes) {
      fmt::format_to(to, "; {} at {}: {}", static_cast<int>(change.kind), change.where,
                     change.because);
    }
    out += '\n';
  }
  if (rewriting.module != nullptr) out += changed_lines(before.text(), rewriting.module->text());
  return out;
}

}  // namespace

overlap::MemoryId variable_number(std::string_view name, bool constant) {
  overlap::MemoryId number = constant ? 2000 : 1000;
  for (const char letter : name) number = number * 31 + static_cast<unsigned char>(letter);
  return number % 100000 + 1000;
}

char letter_of(overlap::Order order) {
  switch (order) {
    case overlap::Order::kAfter:
      return 'a';
    case overlap::Order::kUnclear:
      return 'u';
    case overlap::Order::kBefore:
      return 'b';
  }
  return '-';
}

std::string text_of_origin(const overlap::Origin& origin) {
  std::string text = origin.is_unknown ? "?" : origin.is_null ? "null" : "";
  if (origin.is_exact) text += "=";
  for (const overlap::AddressSource& source : origin.sources) {
    text += fmt::format("{}.{}.{}.{} ", static_cast<int>(source.kind), source.id, source.offset,
                        source.ways);
  }
  return text + "|";
}

std::string code_text(const Code& code) {
  std::string out;
  auto to = std::back_inserter(out);
  for (std::size_t k = 0; k < code.operations.size(); ++k) {
    const Operation& operation = code.operations[k];
    fmt::format_to(to, "{} {}.{} {} w{} @{} [{}] {} kept {} from", k,
                   static_cast<int>(operation.kind), static_cast<int>(operation.space),
                   flags_of(operation), operation.width, operation.guard,
                   text_of_source(operation.address), operation.defines, operation.kept);
    for (const ValueSource& source : operation.sources) {
      fmt::format_to(to, " {}", text_of_source(source));
    }
    fmt::format_to(to, " next {} at {} {}\n", operation.next, code.place(operation),
                   operation.open ? static_cast<int>(*operation.open) : -1);
  }
  fmt::format_to(to, "unset {} variables {} shared {}\n", text_of_flags(code.unset), code.variables,
                 code.shared_variables.size());
  std::vector<std::string> equalities;
  for (const auto& [id, equality] : code.equalities) {
    equalities.push_back(
        fmt::format("{}: {} {} {}", id, equality.compared, equality.bits, equality.holds_if_equal));
  }
  std::ranges::sort(equalities);
  fmt::format_to(to, "equalities {}\n", equalities);
  return out;
}

std::string order_text(const Code& code, const std::array<std::uint32_t, 3>& block) {
  const overlap::WaitOrdering order = find_order(code, block);
  std::string letters;
  for (const overlap::Order each : order.of) letters += letter_of(each);
  return fmt::format("block {}: {} reachable {} orders {} behind {} flags {}{}{}{}{}{}\n", block,
                     letters, text_of_flags(order.reachable), text_of_flags(order.ordering_ops),
                     text_of_flags(order.behind_barrier), int{order.waits},
                     int{order.every_thread_waits}, int{order.a_thread_waits}, int{order.triggers},
                     int{order.triggers_before_wait}, int{order.always_triggers_early});
}

std::string footprint_text(const overlap::Footprint& footprint) {
  std::string out =
      fmt::format("{} waits {} triggers {}{}{} {}\n", footprint.kernel,
                  static_cast<int>(footprint.waits), int{footprint.triggers},
                  int{footprint.triggers_before_wait}, int{footprint.always_triggers_early},
                  footprint.unseen ? describe(*footprint.unseen) : "seen");
  auto to = std::back_inserter(out);
  for (const overlap::AccessGroup& access : footprint.accesses) {
    fmt::format_to(to, "{} {}{}{}{}{}{}{}{} at {} {}:", letter_of(access.order), int{access.reads},
                   int{access.writes}, int{access.non_coherent}, int{access.constant},
                   int{access.strong}, int{access.prefetches}, int{access.generic},
                   int{access.by_map}, access.where, access.operations);
    for (const overlap::Origin& origin : access.origins) {
      fmt::format_to(to, " {}", text_of_origin(origin));
    }
    out += '\n';
  }
  for (const auto* origins : {&footprint.conditions, &footprint.stored}) {
    out += "these:";
    for (const overlap::Origin& origin : *origins)
      fmt::format_to(to, " {}", text_of_origin(origin));
    out += '\n';
  }
  return out;
}

std::string values_text(const overlap::Footprint& footprint, const RecordedLaunch& launch) {
  if (footprint.code == nullptr) return "";
  const Code& code = *footprint.code;
  const std::vector<std::optional<std::uint64_t>> scalars = scalars_of(launch);
  KnownThread thread;
  thread.block = launch.block;
  thread.grid = launch.grid;
  thread.params = scalars;
  thread.fields = [&](std::uint32_t param, std::int64_t byte,
                      unsigned width) -> std::optional<std::uint64_t> {
    if (param >= launch.arguments.size()) return std::nullopt;
    for (const overlap::GivenArgument::Number& number : launch.arguments[param].numbers) {
      if (number.position == byte && number.bytes * 8 == width) return number.bits;
    }
    return std::nullopt;
  };
  std::string out;
  add_thread(code, "first", thread, out);
  thread.leads = true;
  thread.index = {{0, 0, 0}};
  add_thread(code, "leader", thread, out);
  thread.leads = false;
  thread.tid = {{launch.block[0] - 1, launch.block[1] - 1, launch.block[2] - 1}};
  thread.index = {{launch.grid[0] - 1, launch.grid[1] - 1, launch.grid[2] - 1}};
  add_thread(code, "last", thread, out);
  thread.tid.reset();
  thread.index.reset();
  add_thread(code, "any", thread, out);
  thread.warp = 1;
  add_thread(code, "warp", thread, out);
  thread.warp.reset();
  KnownThread unknown;
  unknown.tid.reset();
  add_thread(code, "unknown", unknown, out);
  return out;
}

std::string rewriting_text(const std::shared_ptr<const ptx::ParsedModule>& module,
                           const overlap::Footprint& footprint, const ptx::Function& kernel) {
  using overlap::EarlyArgument;
  using overlap::TriggerPlace;
  std::string out;
  auto to = std::back_inserter(out);
  overlap::EarlyWork early;
  for (const TriggerPlace place : {TriggerPlace::kNowhere, TriggerPlace::kBehindLoads,
                                   TriggerPlace::kAtExits, TriggerPlace::kAtTop}) {
    if (footprint.code != nullptr) {
      const overlap::Placement placement = overlap::place(footprint, early, place);
      fmt::format_to(to, "place {}: {} {} wait {} {} triggers {} plain {}", static_cast<int>(place),
                     placement.obstacle, placement.own, placement.wait, placement.because,
                     placement.triggers.before, placement.incoherent);
      for (const overlap::LastIteration& last : placement.triggers.last_iterations) {
        fmt::format_to(to, " last {} {} {} {}", last.at, last.branch, last.leaves_where_taken,
                       last.repeated);
      }
      out += '\n';
    }
    const overlap::RewriteRequest request{&kernel, early, place};
    const overlap::Rewriting rewriting = rewrite(module, std::span(&request, 1));
    out += text_of_rewriting(*module, rewriting);
    // The next place with other things that are known.
    early.constant_memory = !early.constant_memory;
    early.params.assign(kernel.params.size(), place == TriggerPlace::kBehindLoads
                                                  ? EarlyArgument::kAny
                                                  : EarlyArgument::kScalar);
    if (!early.params.empty()) early.params[0] = EarlyArgument::kConstantMemory;
  }
  return out;
}

std::string rewriting_text_of_all(const std::shared_ptr<const ptx::ParsedModule>& module,
                                  std::vector<const ptx::Function*> kernels) {
  std::ranges::sort(kernels, {}, &ptx::Function::name);
  std::string out;
  for (const auto place : {overlap::TriggerPlace::kNowhere, overlap::TriggerPlace::kBehindLoads}) {
    std::vector<overlap::RewriteRequest> requests;
    for (const ptx::Function* kernel : kernels) requests.push_back({kernel, {}, place});
    out += text_of_rewriting(*module, rewrite(module, requests));
  }
  return out;
}

}  // namespace baton::record
