// New values and memory for a program that stays bound.

#include <algorithm>

#include "base/array/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "bind/binding.h"
#include "edges/judgement.h"
#include "session/bound_program.h"

namespace baton {
namespace {

bool meets(const bind::BoundBuffer& a, DeviceAddress b, std::uint64_t b_bytes) {
  return edges::may_lead_to(a.address(), a.bytes, b, b_bytes);
}

bool overlaps(const bind::BoundBuffer& a, DeviceAddress b, std::uint64_t b_bytes) {
  return a.bytes != 0 && b_bytes != 0 && a.address() < b + b_bytes && b < a.address() + a.bytes;
}

}  // namespace

// A graph of instrumented kernels is laid out anew: its launches may have other blocks, and
// records.
void BoundProgram::note_changes(const bind::TapeChanges& changes) {
  if (!is_instrumented_) {
    player_->note_changes(changes, binding_, binding_ + 1);
  }
  ++binding_;
}

bool BoundProgram::update(std::span<const std::int64_t> symbols) {
  if (!uses_) uses_.emplace(state_->plan, symbols.size(), *tape_, decided_by_values_);
  if (!update_.evaluate(*tape_, *uses_, symbols, buffers())) return false;
  try {
    update_.commit(*tape_);
  } catch (...) {
    uses_.reset();
    tape_.reset();
    throw;
  }
  note_changes(update_.changes());
  log(LogLevel::kInfo, "{}: symbols take new values in place", printable(state_->program.name()));
  return true;
}

ProgramValues BoundProgram::values_with(std::vector<BoundSymbol> symbols) const {
  ProgramValues values{std::move(symbols), unbound_buffers(state_->program)};
  for (std::size_t i = 0; i < values.buffers.size(); ++i) {
    const bind::BoundBuffer& now = buffers()[i];
    bind::BoundBuffer& buffer = values.buffers[i];
    buffer.shape = bind::bind_shape(*buffer.definition, values.symbols);
    if (buffer.shape != now.shape) {
      throw error_at(buffer.definition->where, ErrorCode::kInvalidInput,
                     "the new values change the shape of the buffer {} from {} to {}; bind the "
                     "program anew for them, which allocates it again",
                     buffer.definition->name, shape_text(now.shape), shape_text(buffer.shape));
    }
    buffer.elements = now.elements;
    buffer.bytes = now.bytes;
    buffer.shards = now.shards;
    buffer.given = now.given;
  }
  return values;
}

void BoundProgram::read_next(std::span<const SymbolValue> values) {
  next_symbols_.clear();
  for (const BoundSymbol& symbol : symbols_) next_symbols_.push_back(symbol.value);
  for (const SymbolValue& value : values) {
    const auto found = std::ranges::find(symbols_, value.symbol, &BoundSymbol::name);
    if (found == symbols_.end()) {
      std::vector<std::string_view> known;
      for (const BoundSymbol& symbol : symbols_) known.push_back(symbol.name);
      throw error(ErrorCode::kNotFound, "the program {} has no symbol \"{}\"{}",
                  printable(state_->program.name()), printable(value.symbol),
                  suggestion(value.symbol, known));
    }
    next_symbols_[static_cast<std::size_t>(found - symbols_.begin())] = value.value;
  }
}

void BoundProgram::require_changeable(std::size_t symbol) const {
  const std::string& name = symbols_[symbol].name;
  if (state_->program.symbols()[symbol].of_world) {
    throw error(ErrorCode::kInvalidInput,
                "the world sets the symbol {}, which is {} here; leave it out", name,
                symbols_[symbol].value);
  }
  if (state_->decides_groups[symbol]) {
    throw error(ErrorCode::kInvalidInput,
                "groups of ranks have sizes by the symbol {}; make another executable for another "
                "value",
                name);
  }
  const auto sizes_it = [&](const bind::PlannedPart& part) { return part.sms.uses_slot(symbol); };
  if (std::ranges::any_of(state_->plan.parts, sizes_it)) {
    throw error(ErrorCode::kInvalidInput,
                "parts of the SMs have sizes by the symbol {}; bind the program anew for another "
                "value, which splits the device again",
                name);
  }
  if (state_->setup && state_->setup->uses_symbol(symbol)) {
    throw error(ErrorCode::kInvalidInput,
                "setup steps depend on the symbol {}; bind the program anew for another "
                "value, which executes them again",
                name);
  }
}

void BoundProgram::set(std::span<const SymbolValue> values) {
  require_bound("set");
  read_next(values);
  bool is_shape = false;
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i].value == next_symbols_[i]) continue;
    require_changeable(i);
    is_shape = is_shape || state_->decides_shape[i];
  }
  state_->requirements.check(next_symbols_);
  const auto rename = [&](std::vector<BoundSymbol>& symbols) {
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i].value == next_symbols_[i]) continue;
      symbols[i].value = next_symbols_[i];
      symbols[i].source = bind::kCallSource;
    }
  };
  if (is_shape) {
    std::vector<BoundSymbol> symbols = symbols_;
    rename(symbols);
    values_with(std::move(symbols));  // throws for another shape
  }
  if (update(next_symbols_)) return rename(symbols_);
  std::vector<BoundSymbol> symbols = symbols_;
  rename(symbols);
  ProgramValues all = values_with(std::move(symbols));
  ResolvedProgram resolved = accept(state_->resolve(all, collectives_->peers()));
  take(std::move(resolved), std::move(all.symbols));
}

void BoundProgram::set_memory(std::string_view name, const DeviceArray& array) {
  require_bound("set_memory");
  const std::size_t index = buffer(name);
  const bind::BoundBuffer& now = buffers()[index];
  const ProgramBuffer& definition = *now.definition;
  // No binding changes a dtype.
  if (array.dtype != definition.dtype) {
    throw error(
        ErrorCode::kInvalidInput,
        "the memory for {} holds {}, the buffer has the dtype {}; give memory of that dtype",
        definition.name, to_string(array.dtype), to_string(definition.dtype));
  }
  if (definition.variable) {
    throw error(ErrorCode::kInvalidInput,
                "the buffer {} is the variable {} of kernel {}, which has memory of its own",
                definition.name, definition.variable->name, definition.variable->kernel);
  }
  if (array.shape != now.shape) {
    throw error(ErrorCode::kInvalidInput,
                "the memory for {} is {} {}, the bound program wants {} {}; bind it anew for "
                "another shape",
                definition.name, to_string(array.dtype), shape_text(array.shape),
                to_string(definition.dtype), shape_text(now.shape));
  }
  if (now.given == array.address) return;
  bind::check_memory(now, array.address, state_->device);
  if (state_->setup && state_->setup->uses_buffer(index)) {
    throw error(ErrorCode::kInvalidInput,
                "setup steps use the buffer {}; bind the program anew for other memory, which "
                "executes them again",
                definition.name);
  }
  // Verdicts depend on which memory of the caller overlaps, or is close, and on lines of caches.
  bool stays = now.given && tape_->can_move(static_cast<std::uint32_t>(index));
  stays = stays && (!definition.frozen || edges::suits_frozen_rows(*now.given) ==
                                              edges::suits_frozen_rows(array.address));
  for (std::size_t i = 0; i < buffers().size(); ++i) {
    if (i == index) continue;
    const bind::BoundBuffer& other = buffers()[i];
    if (!other.given && overlaps(other, array.address, now.bytes)) {
      throw error(ErrorCode::kInvalidInput,
                  "the memory for {} overlaps that of {}, which is the program's own; give both "
                  "memory of yours",
                  definition.name, other.definition->name);
    }
    stays =
        stays && !meets(other, *now.given, now.bytes) && !meets(other, array.address, now.bytes);
  }
  if (stays) {
    const auto number = static_cast<std::uint32_t>(index);
    const std::uint64_t distance = array.address - *now.given;
    memory_.adopt(index, array.address);
    memory_.freeze(false);
    tape_->move_buffer(number, distance);
    note_changes(bind::changes_of_buffer(*tape_, number));
    return;
  }
  ProgramValues values = values_with(symbols_);
  values.buffers[index].given = array.address;
  ResolvedProgram resolved = accept(state_->resolve(values, collectives_->peers()));
  tape_.reset();
  memory_.adopt(index, array.address);
  memory_.freeze(false);
  take(std::move(resolved), symbols_);
}

}  // namespace baton
