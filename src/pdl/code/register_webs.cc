#include "pdl/code/register_webs.h"

#include <numeric>
#include <span>

namespace baton::overlap {
namespace {

// A place in an operation that names a register.
struct RegisterUse {
  std::uint32_t at = 0;  // the operation
  bool defines = false;
  std::uint32_t* name = nullptr;
  std::uint32_t value = 0;  // of Values
};

// Visits what an operation reads, and then what it writes.
template <typename Visit>
void each_use(Operation& operation, const Visit& visit) {
  const auto read = [&](ValueSource& source) {
    if (source.kind == ValueSource::Kind::kRegister) visit(source.id, false);
  };
  for (ValueSource& source : operation.sources) read(source);
  read(operation.address);
  if (operation.guard != kNone) visit(operation.guard, false);
  for (std::uint32_t& id : operation.kept) visit(id, false);
  for (std::uint32_t& id : operation.defines) visit(id, true);
}

// Operations in a straight line, each entered by its first and left by its last.
class Blocks {
 public:
  explicit Blocks(const Code& code) : of_(code.operations.size()) {
    const auto count = static_cast<std::uint32_t>(code.operations.size());
    std::vector<std::uint32_t> ways(count);  // to the operation
    for (const Operation& operation : code.operations) {
      for (std::uint32_t to : operation.next) ++ways[to];
    }
    const auto goes_on = [&](std::uint32_t at) {
      const std::vector<std::uint32_t>& next = code.operations[at].next;
      return next.size() == 1 && next[0] == at + 1 && ways[at + 1] == 1;
    };
    for (std::uint32_t at = 1; at < count; ++at) of_[at] = of_[at - 1] + (goes_on(at - 1) ? 0 : 1);
    before_.resize(count == 0 ? 0 : of_.back() + 1);
    for (std::uint32_t at = 0; at < count; ++at) {
      if (at + 1 < count && of_[at] == of_[at + 1]) continue;
      for (std::uint32_t to : code.operations[at].next) before_[of_[to]].push_back(of_[at]);
    }
  }

  std::uint32_t of(std::uint32_t operation) const { return of_[operation]; }
  std::span<const std::uint32_t> before(std::uint32_t block) const { return before_[block]; }
  std::size_t size() const { return before_.size(); }

 private:
  std::vector<std::uint32_t> of_;  // by operation
  std::vector<std::vector<std::uint32_t>> before_;
};

// What one register holds in places: numbers, of which those that may be read as one are united.
// Number 0 is what it holds before anything is written to it.
class Values {
 public:
  explicit Values(const Blocks& blocks)
      : blocks_(blocks), entering_(blocks.size()), leaving_(blocks.size()) {}

  void begin() {
    ++round_;
    parents_.assign(1, 0);
    open_.clear();
  }

  std::uint32_t fresh() {
    parents_.push_back(static_cast<std::uint32_t>(parents_.size()));
    return parents_.back();
  }

  // What it holds at the block's beginning.
  std::uint32_t entering(std::uint32_t block) {
    Mark& mark = entering_[block];
    if (mark.round != round_) {
      mark = {round_, fresh()};
      open_.push_back(block);
    }
    return mark.value;
  }

  void leave(std::uint32_t block, std::uint32_t value) { leaving_[block] = {round_, value}; }

  // Unites what enters blocks with what leaves those before them. False: that is too much. This is
  // union-find over the blocks that one register is alive in, found on the way. A dataflow analysis
  // would need the states of all blocks for each register.
  bool trace() {
    while (!open_.empty()) {
      const std::uint32_t block = open_.back();
      open_.pop_back();
      const std::uint32_t value = entering_[block].value;
      if (block == 0) unite(value, 0);
      for (std::uint32_t before : blocks_.before(block)) {
        if (++steps_ > kMaxWebSteps) return false;
        const Mark& written = leaving_[before];
        unite(value, written.round == round_ ? written.value : entering(before));
      }
    }
    return true;
  }

  void unite(std::uint32_t a, std::uint32_t b) { parents_[root(a)] = root(b); }

  std::uint32_t root(std::uint32_t value) {
    while (parents_[value] != value) value = parents_[value] = parents_[parents_[value]];
    return value;
  }

  std::size_t count() const { return parents_.size(); }

 private:
  struct Mark {
    std::uint32_t round = 0;  // of which register it is
    std::uint32_t value = 0;
  };

  const Blocks& blocks_;
  std::vector<Mark> entering_, leaving_;  // by block; `leaving_`: where it is written there
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> open_;  // blocks
  std::uint32_t round_ = 0;
  std::size_t steps_ = 0;
};

class Splitter {
 public:
  explicit Splitter(Code& code) : code_(code), blocks_(code), values_(blocks_) {}

  void split(const std::vector<bool>& whole) {
    std::vector<std::uint32_t> ends = collect();
    code_.registers = 0;
    code_.unset.clear();
    std::uint32_t begin = 0;
    for (std::uint32_t id = 0; id < ends.size(); ++id) {
      split(std::span(uses_).subspan(begin, ends[id] - begin), whole[id]);
      begin = ends[id];
    }
  }

 private:
  // All uses by register, those of one register in the order of operations. Returns where each
  // register's end.
  std::vector<std::uint32_t> collect() {
    std::vector<std::uint32_t> ends(code_.registers + 1);
    for (Operation& operation : code_.operations) {
      each_use(operation, [&](std::uint32_t& name, bool) { ++ends[name + 1]; });
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    uses_.resize(ends.back());
    // Each begins where the one before ends; filled, it has come to its own end.
    ends.pop_back();
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      each_use(code_.operations[at], [&](std::uint32_t& name, bool defines) {
        uses_[ends[name]++] = {at, defines, &name};
      });
    }
    return ends;
  }

  void split(std::span<RegisterUse> uses, bool whole) {
    values_.begin();
    number(uses);
    const bool traced = values_.trace();
    // By value: what register it becomes.
    names_.assign(values_.count(), kNone);
    if (!traced || whole) {
      keep_whole(uses, !traced);
      return;
    }
    written_.assign(values_.count(), false);
    for (const RegisterUse& use : uses) {
      if (use.defines) written_[values_.root(use.value)] = true;
    }
    const std::uint32_t nothing = values_.root(0);
    for (const RegisterUse& use : uses) {
      const std::uint32_t value = values_.root(use.value);
      if (names_[value] == kNone) names_[value] = add(value == nothing || !written_[value]);
      *use.name = names_[value];
    }
  }

  void number(std::span<RegisterUse> uses) {
    const RegisterUse* before = nullptr;
    for (RegisterUse& use : uses) {
      const std::uint32_t block = blocks_.of(use.at);
      const bool follows = before != nullptr && blocks_.of(before->at) == block;
      if (use.defines) {
        use.value = values_.fresh();
        // Written twice at once, it may hold either.
        if (follows && before->defines && before->at == use.at) {
          values_.unite(use.value, before->value);
        }
        values_.leave(block, use.value);
      } else {
        use.value = follows ? before->value : values_.entering(block);
      }
      before = &use;
    }
  }

  void keep_whole(std::span<RegisterUse> uses, bool unset) {
    const std::uint32_t nothing = values_.root(0);
    bool written = false;
    for (const RegisterUse& use : uses) {
      written |= use.defines;
      unset |= !use.defines && values_.root(use.value) == nothing;
    }
    const std::uint32_t name = add(unset || !written);
    for (const RegisterUse& use : uses) *use.name = name;
  }

  std::uint32_t add(bool unset) {
    code_.unset.push_back(unset);
    return code_.registers++;
  }

  Code& code_;
  const Blocks blocks_;
  Values values_;
  std::vector<RegisterUse> uses_;
  std::vector<std::uint32_t> names_;
  std::vector<bool> written_;
};

}  // namespace

void split_webs(Code& code, const std::vector<bool>& whole) {
  Splitter(code).split(whole);
}

}  // namespace baton::overlap
