#include "pdl/order/signals.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "pdl/order/flags.h"
#include "pdl/order/shared_place.h"
#include "pdl/order/signal_use.h"
#include "pdl/value/follower.h"
#include "ptx/isa.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr std::size_t kManyOperations = std::size_t{1}
                                        << 19;  // of all warps: they are not distinguished
constexpr std::uint32_t kMaxWarps = 32;         // of a block
constexpr std::uint32_t kBarriers = 16;         // of a block
constexpr std::uint64_t kMbarrierBytes = 8;
constexpr unsigned kMaxRounds = 8;

class SignalFinder : public EarlyThreads {
 public:
  SignalFinder(const Code& code, const KnownThread& thread, const std::vector<bool>& behind)
      : code_(code),
        thread_(thread),
        behind_(behind),
        is_test_(code.operations.size()),
        barrier_of_(code.operations.size(), kNone),
        everything_(follow_everything()),
        flags_(code, thread, everything_) {
    if (!collect()) forget_all();
    for (const Barrier& barrier : barriers_) name(barrier);
  }

  // A signal that threads can give which have passed no wait is none. Without it more operations
  // are early, and so other signals may be none.
  std::vector<bool> find() {
    for (unsigned round = 0;; ++round) {
      follow();
      if (!drop()) break;
      if (round == kMaxRounds) forget_all();
    }
    std::vector<bool> early(code_.operations.size());
    for (std::uint32_t at = 0; at < early.size(); ++at) early[at] = is_early(at);
    return early;
  }

  bool is_behind(std::uint32_t at) const override { return !behind_.empty() && behind_[at]; }
  bool holds(std::uint32_t at) const override {
    return code_.operations[at].kind == Kind::kWait || barrier_of_[at] != kNone;
  }
  std::optional<std::uint64_t> value_of(std::uint32_t at, const Follower& follower) const override {
    if (fails(at, follower)) return 0;
    return flags_.value_at(at);
  }

 private:
  // Whether a test of an mbarrier gives false.
  bool fails(std::uint32_t at, const Follower& follower) const {
    if (!is_test_[at]) return false;
    const Operation& operation = code_.operations[at];
    const Value parity = mbarrier_parity(operation, follower);
    return parity.is_constant() && parity.bits == 0 &&
           mbarrier_address(operation, follower).is_shared();
  }

  struct Mbarrier {
    std::uint32_t at = 0;
    MbarrierUse use;
  };
  struct Barrier {
    std::uint32_t at = 0;
    BarrierUse use;
    Value id, count;  // over all that threads do
  };

  // Returns whether everything that may give a signal is known.
  bool collect() {
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      const Operation& operation = code_.operations[at];
      const bool is_reached = std::ranges::any_of(
          everything_, [at](const Follower& follower) { return follower.may_execute(at); });
      if (!is_reached) continue;
      if (operation.kind == Kind::kOpen) return false;
      if (operation.instruction == nullptr) continue;
      if (operation.kind != Kind::kBranch && ptx::form_of(*operation.instruction) == nullptr) {
        return false;
      }
      if (const auto use = mbarrier_use(operation)) {
        const bool tests = use->kind == MbarrierUse::Kind::kTest;
        (tests ? tests_ : arrivals_).push_back({at, *use});
        is_test_[at] = tests;
      }
      if (const auto use = barrier_use(operation)) {
        barriers_.push_back(
            {at, *use, over_all(use->id), use->count ? over_all(*use->count) : Value::constant(0)});
      }
    }
    return true;
  }

  void forget_all() {
    is_test_.assign(is_test_.size(), false);
    barrier_of_.assign(barrier_of_.size(), kNone);
    tests_.clear();
    barriers_.clear();
    flags_.forget_all();
  }

  // --- Named barriers ----------------------------------------------------------------------------

  static bool may_be(const Value& id, std::uint64_t number) {
    return !id.is_range() || (id.bits <= number && number <= id.most);
  }

  // The barrier is a signal, as far as all that may use it agree.
  void name(const Barrier& barrier) {
    const bool is_known = barrier.use.waits && barrier.id.is_constant() &&
                          barrier.id.bits < kBarriers && barrier.count.is_constant() &&
                          barrier.count.bits != 0 && threads_[0].warp.has_value();
    if (!is_known) return;
    const bool agree = std::ranges::all_of(barriers_, [&](const Barrier& other) {
      return !may_be(other.id, barrier.id.bits) ||
             (other.use.is_aligned && other.count == barrier.count);
    });
    if (agree) barrier_of_[barrier.at] = static_cast<std::uint32_t>(barrier.id.bits);
  }

  // 0: not known.
  std::uint32_t warps_of_block() const {
    if (!thread_.block || (*thread_.block)[0] == 0) return 0;
    std::uint64_t threads = 1;
    for (const std::uint32_t extent : *thread_.block) threads *= std::max(extent, 1u);
    const std::uint64_t warps = (threads + kWarpThreads - 1) / kWarpThreads;
    return warps > kMaxWarps ? 0 : static_cast<std::uint32_t>(warps);
  }

  // Threads that have passed no wait are too few to complete a phase, and each arrives once: after
  // the barrier it is after a wait.
  bool is_out_of_reach(const Barrier& barrier) const {
    std::uint64_t arrive = 0;
    for (const Follower& warp : early_) {
      bool comes = false;
      for (const Barrier& other : barriers_) {
        if (!may_be(other.id, barrier.id.bits) || !may_execute(warp, other.at)) continue;
        if (barrier_of_[other.at] == kNone) return false;
        comes = true;
      }
      if (comes) arrive += kWarpThreads;
    }
    return arrive < barrier.count.bits;
  }

  // --- Mbarriers ---------------------------------------------------------------------------------

  // Whether the arrival, wherever it comes, may complete the phase and order nothing.
  bool is_weak(const Mbarrier& arrival, const Mbarrier& test) const {
    if (arrival.use.kind == MbarrierUse::Kind::kWeakArrival) return true;
    if (arrival.use.is_own || (arrival.use.of_cluster && test.use.of_cluster)) return false;
    const Value address = place_over_all(arrival.at);
    return !address.is_shared() || address.is_remote;
  }

  // The places of arrivals that threads make which have passed no wait.
  std::vector<Value> early_arrivals() const {
    std::vector<Value> places;
    for (const Mbarrier& arrival : arrivals_) {
      for (const Follower& follower : early_) {
        if (!may_execute(follower, arrival.at)) continue;
        const Value place = mbarrier_address(code_.operations[arrival.at], follower);
        if (std::ranges::find(places, place) == places.end()) places.push_back(place);
      }
    }
    return places;
  }

  bool may_be_given_early(const Mbarrier& test, const std::vector<Value>& early_places) const {
    for (const Follower& follower : early_) {
      if (!may_execute(follower, test.at) || !fails(test.at, follower)) continue;
      const Value tested = mbarrier_address(code_.operations[test.at], follower);
      const bool is_given = std::ranges::any_of(
          early_places, [&](const Value& place) { return overlap(place, tested); });
      if (tested.is_remote || is_given) return true;
      for (const Mbarrier& arrival : arrivals_) {
        const Value place = place_over_all(arrival.at);
        if (is_weak(arrival, test) && overlap(place, tested)) return true;
      }
    }
    return false;
  }
  bool overlap(const Value& a, const Value& b) const {
    return may_overlap(code_, a, b, kMbarrierBytes);
  }

  // -----------------------------------------------------------------------------------------------

  // Each warp, or all threads at once where it is not known which warps there are.
  std::deque<Follower> follow_everything() {
    std::deque<Follower> everything;
    const std::uint32_t known = warps_of_block();
    const std::uint32_t warps = code_.operations.size() * known <= kManyOperations ? known : 0;
    threads_.assign(std::max(warps, 1u), thread_);
    for (std::uint32_t w = 0; w < threads_.size(); ++w) {
      if (warps != 0) threads_[w].warp = w;
      everything.emplace_back(code_, threads_[w]);
    }
    return everything;
  }
  void follow() {
    early_.clear();
    for (std::size_t w = 0; w < threads_.size(); ++w) {
      early_.emplace_back(code_, threads_[w], everything_[w], this);
    }
  }

  // What the source may be for any thread, wherever it is.
  Value over_all(const ValueSource& source) const {
    Value value;
    for (const Follower& follower : everything_) value = joined(value, follower.of(source));
    return value;
  }
  Value place_over_all(std::uint32_t at) const {
    Value value;
    for (const Follower& follower : everything_) {
      if (!follower.may_execute(at)) continue;
      value = joined(value, mbarrier_address(code_.operations[at], follower));
    }
    return value;
  }

  bool may_execute(const Follower& follower, std::uint32_t at) const {
    return follower.may_execute(at) && !is_behind(at);
  }
  bool is_early(std::uint32_t at) const {
    return std::ranges::any_of(early_,
                               [&](const Follower& follower) { return may_execute(follower, at); });
  }

  bool drop() {
    std::vector<std::uint32_t> none;
    const std::vector<Value> places = early_arrivals();
    for (const Mbarrier& test : tests_) {
      if (is_test_[test.at] && may_be_given_early(test, places)) none.push_back(test.at);
    }
    for (const Barrier& barrier : barriers_) {
      if (barrier_of_[barrier.at] != kNone && !is_out_of_reach(barrier)) none.push_back(barrier.at);
    }
    for (const std::uint32_t at : none) {
      is_test_[at] = false;
      barrier_of_[at] = kNone;
    }
    const bool drops_flags = flags_.drop(
        early_,
        [this](const Follower& follower, std::uint32_t at) { return may_execute(follower, at); });
    return drops_flags || !none.empty();
  }

  const Code& code_;
  const KnownThread& thread_;
  const std::vector<bool>& behind_;
  std::vector<bool> is_test_;              // by operation: a signal, as far as is known
  std::vector<std::uint32_t> barrier_of_;  // by operation: the number of a barrier that is a signal
  std::vector<KnownThread> threads_;       // that are followed
  std::deque<Follower> everything_;        // by these: what they do, after waits too
  std::deque<Follower> early_;             // what they do after none
  Flags flags_;
  std::vector<Mbarrier> tests_, arrivals_;
  std::vector<Barrier> barriers_;
};

}  // namespace

bool has_signals(const Code& code) {
  return std::ranges::any_of(code.operations,
                             [](const Operation& operation) {
                               const auto mbarrier = mbarrier_use(operation);
                               const auto barrier = barrier_use(operation);
                               return (mbarrier && mbarrier->kind == MbarrierUse::Kind::kTest) ||
                                      (barrier && barrier->waits && barrier->count);
                             }) ||
         has_flags(code);
}

std::vector<bool> find_early(const Code& code, const KnownThread& thread,
                             const std::vector<bool>& behind) {
  return SignalFinder(code, thread, behind).find();
}

}  // namespace baton::overlap
