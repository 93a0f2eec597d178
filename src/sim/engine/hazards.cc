#include "sim/engine/hazards.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/control.h"
#include "sim/engine/shadow_groups.h"
#include "sim/engine/warp_ops.h"

namespace baton::sim {
namespace {

using Relation = Ordering::Relation;

// --- Naming accesses ---

std::array<std::uint32_t, 3> unfold(std::uint64_t number,
                                    const std::array<std::uint32_t, 3>& extent) {
  const std::uint64_t x = std::max(extent[0], 1u);
  const std::uint64_t y = std::max(extent[1], 1u);
  return {static_cast<std::uint32_t>(number % x), static_cast<std::uint32_t>(number / x % y),
          static_cast<std::uint32_t>(number / x / y)};
}

struct CodePlace {
  const Function* function = nullptr;
  const Insn* insn = nullptr;
};

// The memory instruction of that number in the kernel.
CodePlace find_insn(const DecodedKernel& kernel, std::uint32_t number) {
  if (number >= Toucher::kNoInsn) return {};
  for (const auto& function : kernel.functions) {
    for (std::size_t k = 0; k < function->sites.size() && k < function->code.size(); ++k) {
      if (function->code[k].cache == number) return {function.get(), &function->code[k]};
    }
  }
  return {};
}

std::string place_text(const DecodedKernel& kernel, const CodePlace& place) {
  if (place.insn == nullptr) return {};
  const auto at = static_cast<std::size_t>(place.insn - place.function->code.data());
  return place_of(*kernel.ptx, place.function->sites[at]);
}

// The paths of a kernel from an instruction on, through the functions that it calls and back to all
// that may have called its own.
class Paths {
 public:
  explicit Paths(const DecodedKernel& kernel) : kernel_(kernel) {}

  // Whether griddepcontrol.wait may be executed after the instruction.
  bool may_wait_after(const CodePlace& place) {
    open(*place.function, static_cast<std::size_t>(place.insn - place.function->code.data()) + 1);
    while (!open_.empty()) {
      const auto [function, at] = open_.back();
      open_.pop_back();
      if (function->code[at].fn == op_grid_wait) return true;
      follow(*function, at);
    }
    return false;
  }

 private:
  void open(const Function& function, std::size_t at) {
    std::vector<bool>& seen = seen_[&function];
    seen.resize(function.code.size());
    if (at >= seen.size() || seen[at]) return;
    seen[at] = true;
    open_.emplace_back(&function, at);
  }

  void follow(const Function& function, std::size_t at) {
    const Insn& insn = function.code[at];
    if (insn.fn == op_exit || insn.fn == op_trap) return;
    if (insn.fn == op_ret) return follow_return(function);
    const auto open_target = [&](const Insn* target) {
      open(function, static_cast<std::size_t>(target - function.code.data()));
    };
    if (insn.fn == op_brx) {
      for (const Insn* target : *static_cast<const std::vector<const Insn*>*>(insn.u.data)) {
        open_target(target);
      }
      return;
    }
    if (insn.fn == op_call) {
      const Function* callee = static_cast<const CallSite*>(insn.u.data)->callee;
      for (const auto& other : kernel_.functions) {
        if (callee == nullptr || callee == other.get()) open(*other, 0);
      }
    }
    const bool branches = insn.fn == op_bra || insn.fn == op_bra_back || insn.fn == op_bra_if;
    if (branches) open_target(insn.u.target);
    if (insn.fn != op_bra && insn.fn != op_bra_back) open(function, at + 1);
  }

  // Behind each call that may be one of this function.
  void follow_return(const Function& function) {
    if (&function == kernel_.entry) return;
    for (const auto& caller : kernel_.functions) {
      for (std::size_t k = 0; k < caller->code.size(); ++k) {
        if (caller->code[k].fn != op_call) continue;
        const Function* callee = static_cast<const CallSite*>(caller->code[k].u.data)->callee;
        if (callee == nullptr || callee == &function) open(*caller, k + 1);
      }
    }
  }

  const DecodedKernel& kernel_;
  std::unordered_map<const Function*, std::vector<bool>> seen_;
  std::vector<std::pair<const Function*, std::size_t>> open_;
};

// One of the two accesses.
struct Party {
  Ordering::Number number = 0;
  Toucher toucher;
  bool writes = false;
  Ordering::Operation operation;
  CodePlace place;

  bool is_grid() const { return operation.kernel != nullptr; }
  std::string where() const { return is_grid() ? place_text(*operation.kernel, place) : ""; }
  std::array<std::uint32_t, 3> block() const { return unfold(toucher.block(), operation.blocks); }
  std::array<std::uint32_t, 3> thread() const {
    return unfold(toucher.thread(), operation.threads);
  }
  // "norm, block (0, 0, 0), thread (3, 0, 0), at norm.cu:12:7"
  std::string text() const {
    if (!is_grid()) return fmt::format("a {} by the host", operation.name);
    const auto b = block();
    const auto t = thread();
    const std::string at = where();
    return fmt::format("kernel {}, block {}, thread ({}, {}, {}){}{}", operation.name,
                       toucher.block() == Toucher::kNoBlock
                           ? "beyond the first half million"
                           : fmt::format("({}, {}, {})", b[0], b[1], b[2]),
                       t[0], t[1], t[2], at.empty() ? "" : ", at ", at);
  }
};

Party make_party(Ordering::Number number, Toucher toucher, bool writes) {
  Party party{number, toucher, writes, Ordering::instance().operation(number), {}};
  if (party.is_grid()) party.place = find_insn(*party.operation.kernel, toucher.insn());
  return party;
}

std::string names_of(const std::vector<Ordering::Number>& grids) {
  std::string names;
  for (const Ordering::Number grid : grids) {
    if (!names.empty()) names += " and ";
    names += Ordering::instance().operation(grid).name;
  }
  return names;
}

struct Verdict {
  const char* kind;
  std::string why;
};

// What is wrong between two accesses, the second of which was submitted later.
Verdict judge(const Party& earlier, const Party& later) {
  if (!earlier.is_grid() || !later.is_grid()) {
    const bool frees = later.operation.name == "free" || earlier.operation.name == "free";
    return {frees ? "free_race" : "host_race",
            "nothing orders the two: record an event behind the one and let the other's stream "
            "wait for it"};
  }
  const Relation relation = Ordering::instance().relation(later.number, earlier.number);
  if (relation == Relation::kNone) {
    const auto links = Ordering::instance().missing_links(later.number, earlier.number);
    if (links.empty()) {
      return {"unordered_grids",
              "nothing orders the two grids: let the later one's stream wait for an event of the "
              "earlier one's"};
    }
    if (later.toucher.has_waited()) {
      return {
          "transitive_wait",
          fmt::format("kernel {} between the two is launched as a dependent and no thread of it "
                      "waits (griddepcontrol.wait), so it may be done before {} is, and waiting "
                      "for it is not enough by the documented contract (an H200 showed no stale "
                      "read in 200 tries): let it wait",
                      names_of(links), earlier.operation.name)};
    }
  }
  if (!later.operation.kernel->has_grid_wait) {
    return {"missing_wait", fmt::format("kernel {} is launched as a dependent and never waits for "
                                        "the grid before it (griddepcontrol.wait)",
                                        later.operation.name)};
  }
  if (later.place.insn == nullptr || Paths(*later.operation.kernel).may_wait_after(later.place)) {
    const char* kind = !later.writes    ? "read_before_wait"
                       : earlier.writes ? "write_before_wait"
                                        : "write_after_read";
    return {kind, "the access comes before griddepcontrol.wait: move it behind the wait"};
  }
  return {"missing_wait",
          "this thread has not executed griddepcontrol.wait, nor does a barrier order it after one "
          "that has: on this path the wait is missing"};
}

const char* verb_of(bool writes) {
  return writes ? "writes" : "reads";
}

driver::Finding pair_finding(const DeviceMemory& memory, Party one, Party other,
                             std::uint64_t address, std::uint32_t bytes) {
  if (one.number > other.number) std::swap(one, other);
  // Findings are about the later grid; or the only one.
  const Verdict verdict = judge(one, other);
  const Party& subject = other.is_grid() ? other : one;
  const Party& rival = other.is_grid() ? one : other;
  driver::Finding finding;
  finding.kind = verdict.kind;
  if (subject.is_grid()) finding.kernel = subject.operation.name;
  finding.where = subject.where();
  if (subject.is_grid()) {
    finding.block = subject.block();
    finding.thread = subject.thread();
  }
  finding.message = fmt::format("{}{} {} bytes at {:#x}, {}, that {} {}; {}",
                                subject.is_grid() ? "" : subject.text() + " ",
                                verb_of(subject.writes), bytes, address, memory.describe(address),
                                rival.text(), verb_of(rival.writes), verdict.why);
  return finding;
}

std::uint64_t load(const std::uint64_t& cell) {
  return __atomic_load_n(&cell, __ATOMIC_RELAXED);
}
void store(std::uint64_t& cell, std::uint64_t value) {
  __atomic_store_n(&cell, value, __ATOMIC_RELAXED);
}

constexpr std::uint64_t kRelations = Ordering::kRemembered;

}  // namespace

void begin_watch(GridState* grid) {
  if (grid->launch.number == 0) return;
  if (grid->memory->impl().is_watched()) {
    grid->relations = std::make_unique<std::atomic<std::uint8_t>[]>(kRelations);
  }
  if (!grid->launch.is_programmatic || grid->kernel->has_grid_wait) return;
  driver::Finding finding;
  finding.kind = "no_wait";
  finding.kernel = grid->launch.kernel->name;
  if (!grid->kernel->entry->sites.empty()) {
    finding.where = place_of(*grid->kernel->ptx, grid->kernel->entry->sites.front());
  }
  finding.message =
      "launched as a dependent (programmatic stream serialization, or a programmatic edge), but it "
      "has no griddepcontrol.wait, so nothing orders it after the grid before it, nor what follows "
      "it; call cudaGridDependencySynchronize(), or launch it without the attribute. Where the "
      "source does wait, the wait was compiled out: CUTLASS needs CUTLASS_ENABLE_GDC_FOR_SM90 and "
      "sm_90a, and PTX for older chips than sm_90 has none";
  grid->log->add(std::move(finding));
}

GlobalWatch::GlobalWatch(Exec* x, const Insn* i, const Region& region, std::uint32_t bytes,
                         Touch touch, bool strong)
    : x_(x),
      i_(i),
      region_(region),
      shadow_(static_cast<Shadow*>(region.shadow)),
      bytes_(bytes),
      touch_(touch),
      strong_(strong),
      own_(x->grid->launch.number & Toucher::kNumbers),
      mine_(Toucher(own_, x->block->number, x->warp->index * kLanes, i->cache, strong, false)
                .bits()) {}

Toucher GlobalWatch::mine_of(int lane) const {
  return Toucher(mine_).for_lane(lane, (x_->warp->ordered >> lane & 1) != 0);
}

GlobalWatch::~GlobalWatch() {
  if (has_found_) report();
  if (forbidden_ != 0) report_forbidden();
}

bool GlobalWatch::is_ordered(Toucher other, int lane, bool* for_all_lanes) const {
  const GridState& grid = *x_->grid;
  const std::uint64_t age = (grid.launch.number - other.low_number()) & Toucher::kNumbers;
  if (age >= Ordering::kRemembered && age <= Toucher::kNumbers / 2) {
    *for_all_lanes = true;
    return true;
  }
  std::atomic<std::uint8_t>& known = grid.relations[other.low_number() % kRelations];
  auto relation = static_cast<Relation>(known.load(std::memory_order_relaxed));
  if (relation == Relation::kUnknown) {
    Ordering& ordering = Ordering::instance();
    const Ordering::Number number = other.number(ordering.last());
    relation = ordering.relation(grid.launch.number, number);
    // What is not done yet may still wait, and order this grid's threads by that.
    const bool is_final = relation != Relation::kNone || number > grid.launch.number ||
                          grid.prerequisites_done.load(std::memory_order_relaxed);
    if (is_final) known.store(static_cast<std::uint8_t>(relation), std::memory_order_relaxed);
  }
  *for_all_lanes = relation == Relation::kBefore;
  return *for_all_lanes || (relation == Relation::kAwaited && (x_->warp->ordered >> lane & 1) != 0);
}

void GlobalWatch::found(Toucher other, bool other_writes, int lane, std::uint64_t offset) {
  if (strong_ && other.is_strong()) return;
  const bool same = has_found_ && found_.other_writes == other_writes &&
                    found_.other.low_number() == other.low_number() &&
                    found_.other.insn() == other.insn();
  if (same) {
    ++found_.count;
    return;
  }
  if (has_found_) report();
  has_found_ = true;
  found_ = {other, other_writes, lane, offset, 1};
}

void GlobalWatch::report() {
  has_found_ = false;
  GridState& grid = *x_->grid;
  const Toucher mine = mine_of(found_.lane);
  const Ordering::Number number = found_.other.number(Ordering::instance().last());
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(i_), found_.other.low_number(),
                                   found_.other.insn(), found_.other_writes ? 1u : 0u};
  grid.logged.add(*grid.log, key, found_.count, [&] {
    return pair_finding(*grid.memory, make_party(grid.launch.number, mine, touch_ != Touch::kRead),
                        make_party(number, found_.other, found_.other_writes),
                        region_.base + found_.offset, bytes_);
  });
}

void GlobalWatch::report_forbidden() {
  GridState& grid = *x_->grid;
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(i_), 0, 0, 2};
  grid.logged.add(*grid.log, key, forbidden_, [&] {
    const std::uint64_t address = region_.base + forbidden_offset_;
    driver::Finding finding = finding_at(x_, i_, forbidden_lane_);
    finding.kind = "weight_written";
    finding.message = fmt::format("writes {} bytes at {:#x}, {}, which no kernel may write", bytes_,
                                  address, grid.memory->describe(address));
    return finding;
  });
}

// The reader makes room for this grid.
void GlobalWatch::keep(const Shadow::Cell* cell, Toucher reader) {
  const Ordering& ordering = Ordering::instance();
  const Ordering::Number last = ordering.last();
  shadow_->keep_reader(cell, reader.bits(), [&](Toucher other) {
    return ordering.relation(reader.number(last), other.number(last)) == Relation::kBefore;
  });
}

// Whether the other one is nobody, this grid or the operation that all lanes come after.
inline bool GlobalWatch::is_quiet(std::uint64_t other, std::uint64_t before) const {
  const std::uint64_t number = Toucher(other).low_number();
  return other == 0 || number == own_ || number == before;
}

// Whether there is nothing to be found between this access and the other one.
bool GlobalWatch::is_harmless(Toucher other, int lane, std::uint64_t* before) {
  if (is_quiet(other.bits(), *before)) return true;
  bool for_all_lanes = false;
  const bool ordered = is_ordered(other, lane, &for_all_lanes);
  if (for_all_lanes) *before = other.low_number();
  return ordered;
}

void GlobalWatch::look(Shadow::Cell* cell, int lane, std::uint64_t offset) {
  const Toucher writer(load(cell->write));
  const Toucher reader(load(cell->read));
  if (!is_harmless(writer, lane, &writer_before_)) found(writer, true, lane, offset);
  const auto me = [&] { return mine_of(lane).bits(); };
  // Of this grid's accesses the first is kept, or the first that others may race.
  const auto is_noted = [&](Toucher mine) {
    return mine.is_any() && mine.low_number() == own_ && (strong_ || !mine.is_strong());
  };
  if (touch_ == Touch::kRead) {
    if (is_noted(reader)) return;
    if (!is_harmless(reader, lane, &reader_before_)) keep(cell, reader);
    return store(cell->read, me());
  }
  if (!is_harmless(reader, lane, &reader_before_)) found(reader, false, lane, offset);
  if (shadow_->has_readers()) {
    for (const std::uint64_t bits : shadow_->readers(cell)) {
      if (!is_harmless(Toucher(bits), lane, &reader_before_))
        found(Toucher(bits), false, lane, offset);
    }
  }
  if (!is_noted(writer)) store(cell->write, me());
}

// Does what `look` does where there is nothing to find or to keep, which is nearly always; false
// elsewhere.
template <bool Reads>
inline bool GlobalWatch::note_quietly(Shadow::Cell* cell, std::uint64_t me) const {
  const std::uint64_t writer = load(cell->write);
  const std::uint64_t reader = load(cell->read);
  if (!is_quiet(writer, writer_before_)) return false;
  const auto is_noted = [&](std::uint64_t mine) {
    return Toucher(mine).low_number() == own_ && (strong_ || !Toucher(mine).is_strong());
  };
  if (Reads && is_noted(reader)) return true;
  if (!is_quiet(reader, reader_before_)) return false;
  if (Reads) {
    store(cell->read, me);
  } else if (!is_noted(writer)) {
    store(cell->write, me);
  }
  return true;
}

template <bool Reads>
void GlobalWatch::look_at_run(Shadow::Cell* cell, std::uint32_t cells, int lane,
                              std::uint32_t lanes, std::uint64_t offset) {
  const int end = lane + static_cast<int>(lanes);
  for (; lane < end; ++lane, offset += bytes_) {
    const std::uint64_t me = mine_of(lane).bits();
    for (std::uint32_t k = 0; k < cells; ++k, ++cell) {
      if (!note_quietly<Reads>(cell, me)) look(cell, lane, offset);
    }
  }
}

void GlobalWatch::touch_run(int lane, std::uint32_t lanes, std::uint64_t offset) {
  const bool reads = touch_ == Touch::kRead;
  const bool is_plain = shadow_->notes && x_->grid->relations != nullptr && own_ != 0 && !strong_ &&
                        (reads || (!shadow_->is_read_only && !shadow_->has_readers()));
  const Shadow::Layout* layout = is_plain ? shadow_->layout(offset, bytes_) : nullptr;
  if (layout == nullptr) {
    for (std::uint32_t k = 0; k < lanes; ++k) {
      touch(lane + static_cast<int>(k), offset + std::uint64_t{k} * bytes_);
    }
    return;
  }
  const std::uint32_t cells = bytes_ >> layout->shift;
  const std::uint64_t first = offset >> layout->shift;
  const std::uint64_t last = first + lanes * cells - 1;
  const ShadowGroups groups(*layout);
  if (reads && groups.hold(first, last, own_)) return;
  Shadow::Cell* cell = layout->cells + first;
  // The cells take four times the room of what they stand for, and are rarely in the nearest cache.
  for (std::uint32_t k = 0; k < lanes * cells; k += 64 / sizeof(Shadow::Cell)) {
    __builtin_prefetch(cell + k);
  }
  if (!reads) {
    look_at_run<false>(cell, cells, lane, lanes, offset);
    groups.clear(first, last);
    return;
  }
  // No number of a grid, and no other watch's while this one lives.
  const auto token = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(this));
  groups.announce(first, last, token);
  look_at_run<true>(cell, cells, lane, lanes, offset);
  const std::uint64_t me = mine_of(lane).bits();
  bool is_quiet = true;  // and noted
  for (std::uint32_t k = 0; k < lanes * cells; ++k) is_quiet &= note_quietly<true>(cell + k, me);
  if (is_quiet) groups.confirm(first, last, token, own_);
}

void GlobalWatch::touch(int lane, std::uint64_t offset) {
  if (shadow_->is_read_only && touch_ != Touch::kRead) {
    if (forbidden_++ == 0) {
      forbidden_lane_ = lane;
      forbidden_offset_ = offset;
    }
  }
  if (!shadow_->notes || x_->grid->relations == nullptr) return;
  const Shadow::Layout* layout = shadow_->layout(offset, bytes_);
  if (layout == nullptr) return;
  const std::uint64_t end = (offset + bytes_ - 1) >> layout->shift;
  for (std::uint64_t k = offset >> layout->shift; k <= end; ++k) {
    look(layout->cells + k, lane, offset);
  }
  if (touch_ != Touch::kRead) ShadowGroups(*layout).clear(offset >> layout->shift, end);
}

namespace {

// One operation of the host.
class HostWatch {
 public:
  HostWatch(DeviceMemory& memory, FindingLog& log, Ordering::Number number, Touch touch,
            Shadow* shadow, const Shadow::Layout* layout)
      : memory_(memory),
        log_(log),
        number_(number),
        touch_(touch),
        shadow_(shadow),
        bytes_(std::uint32_t{1} << layout->shift),
        last_(Ordering::instance().last()),
        me_(number, Toucher::kNoBlock, 0, Toucher::kNoInsn, false, true) {}

  void look(Shadow::Cell* cell, std::uint64_t address) {
    check(Toucher(load(cell->write)), true, address);
    const Toucher reader(load(cell->read));
    if (touch_ == Touch::kRead) {
      if (reader.is_any() && !comes_after(reader)) {
        shadow_->keep_reader(cell, reader.bits(), [&](Toucher other) {
          return Ordering::instance().relation(reader.number(last_), other.number(last_)) ==
                 Relation::kBefore;
        });
      }
      return store(cell->read, me_.bits());
    }
    check(reader, false, address);
    if (shadow_->has_readers()) {
      for (const std::uint64_t bits : shadow_->readers(cell)) check(Toucher(bits), false, address);
    }
    store(cell->write, me_.bits());
  }

 private:
  // Whether the host's operation is, or comes after, the other one. Nearly always a few in turn.
  bool comes_after(Toucher other) {
    if (other.low_number() == known_low_) return known_after_;
    const Ordering::Number rival = other.number(last_);
    known_low_ = other.low_number();
    known_after_ =
        rival == number_ || Ordering::instance().relation(number_, rival) == Relation::kBefore;
    return known_after_;
  }

  void check(Toucher other, bool writes, std::uint64_t address) {
    if (!other.is_any() || comes_after(other)) return;
    const Ordering::Number rival = other.number(last_);
    const std::uint64_t key = rival * 2 + (writes ? 1 : 0);
    if (std::find(reported_.begin(), reported_.end(), key) != reported_.end()) return;
    reported_.push_back(key);
    log_.add(pair_finding(memory_, make_party(number_, me_, touch_ != Touch::kRead),
                          make_party(rival, other, writes), address, bytes_));
  }

  DeviceMemory& memory_;
  FindingLog& log_;
  const Ordering::Number number_;
  const Touch touch_;
  Shadow* const shadow_;
  const std::uint32_t bytes_;
  const Ordering::Number last_;
  const Toucher me_;
  std::uint64_t known_low_ = UINT64_MAX;
  bool known_after_ = false;
  std::vector<std::uint64_t> reported_;  // by who touched it, and how
};

}  // namespace

void watch_host(DeviceMemory& memory, FindingLog& log, Ordering::Number number,
                std::uint64_t address, std::uint64_t bytes, Touch touch) {
  const auto snapshot = memory.impl().snapshot();
  const Region* region = snapshot->find(address);
  if (region == nullptr || region->shadow == nullptr || bytes == 0) return;
  Shadow& shadow = *static_cast<Shadow*>(region->shadow);
  if (!shadow.notes) return;
  const std::uint64_t offset = address - region->base;
  const Shadow::Layout* layout = shadow.layout(offset, bytes);
  if (layout == nullptr || bytes > region->size - offset) return;
  HostWatch watch(memory, log, number, touch, &shadow, layout);
  const std::uint64_t end = (offset + bytes - 1) >> layout->shift;
  for (std::uint64_t k = offset >> layout->shift; k <= end; ++k) {
    watch.look(layout->cells + k, region->base + (k << layout->shift));
  }
  if (touch != Touch::kRead) ShadowGroups(*layout).clear(offset >> layout->shift, end);
}

}  // namespace baton::sim
