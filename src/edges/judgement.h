#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash/hash.h"
#include "baton/check.h"
#include "bind/binder.h"
#include "edges/edge_judge.h"

namespace baton::edges {

// Rules of the analysis. To be raised when a verdict about the same program may become another one:
// kept verdicts of other rules are not used.
inline constexpr std::uint32_t kJudgementRules = 14;

struct JudgedLaunch {
  bool early = false, waits = false;  // as in bind::LaunchDecision
  bool by_values = false;             // as in bind::DecidedByValues
  TriggerFacts trigger;
};

// What an EdgeJudge found out about a program with certain values. To bind the same again takes no
// analysis. Plain data.
struct Judgement {
  std::vector<JudgedLaunch> launches;  // by number
  std::vector<EdgeReport> edges;       // sorted by the later launch, then by the earlier one
  std::string looks_further_back;      // the answers to the binder, '0' or '1'

  // Whether every number is one of a launch, and the edges are in their order.
  bool is_sound(std::uint32_t launch_count) const;
  std::vector<bind::LaunchDecision> decisions() const;
  std::vector<TriggerFacts> trigger_facts() const;
  bind::DecidedByValues decided_by_values() const;
};

// Of a judge that has seen all launches. Nothing if it found what a judgement does not hold: an
// error, a warning, or branches.
std::optional<Judgement> keep(const EdgeJudge& judge);

// A judgement that is kept outside of the process.
struct KeptJudgement {
  // The PTX of a kernel that it was made from; zeros for machine code, which is not looked into.
  struct Proof {
    std::string kernel;  // its name in the program
    Sha256Digest ptx{};  // with the NUL that follows it
  };
  Sha256Digest key{};   // of everything that decides it
  std::string symbols;  // for people: "N=4096 M=1"
  bool of_setup = false;
  std::vector<Proof> proofs;
  Judgement judgement;
};

// The judgements that a bundle has. Without a bundle, none.
struct KnownVerdicts {
  std::string name;        // the bundle's
  Sha256Digest program{};  // of its program's text
  // Reads them; null if there are none.
  std::function<std::vector<KeptJudgement>()> read = {};
};

// Answers the binder as the judge did. The judgement outlives it.
class KnownJudge : public bind::LaunchObserver {
 public:
  explicit KnownJudge(const Judgement& known) : known_(known) {}

  bool launch(const bind::LaunchExecution& execution) override {
    return known_.launches[execution.launch.number].early;
  }
  void skip(const bind::PlannedLaunch&, const bind::PlannedStep&, bind::Before,
            std::optional<std::uint32_t>) override {}
  // A judgement does not know kernels between peers.
  bool kernel(const bind::CollectiveExecution&) override { return false; }
  void other() override {}
  void access(const bind::PlannedStep&, std::uint32_t, std::uint64_t, std::uint64_t,
              bool) override {}
  void fork(const bind::PlannedStep&) override {}
  void branch() override {}
  void join() override {}
  void record(const bind::PlannedEvent&) override {}
  void after(const bind::PlannedEvent&) override {}
  bool looks_further_back() const override;

 private:
  const Judgement& known_;
  mutable std::size_t answered_ = 0;
};

// Whether addresses of one piece of memory may lead to the other one: they share a byte, or one of
// the parts at whose beginnings allocations lie.
bool may_lead_to(DeviceAddress a, std::uint64_t a_bytes, DeviceAddress b, std::uint64_t b_bytes);

// Whether that is so of two buffers that callers gave memory.
bool given_memory_meets(const bind::BufferTable& buffers);

// Whether rows of a cache that begins there may be frozen: they share no line with other memory.
bool suits_frozen_rows(DeviceAddress address);

// Whether a judgement of the program without memory of callers holds for these buffers.
bool holds_with_given_memory(const bind::BufferTable& buffers);

}  // namespace baton::edges
