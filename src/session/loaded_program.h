#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "baton/loaded_program.h"
#include "bind/binder.h"
#include "bind/buffers.h"
#include "bind/plan.h"
#include "bind/requirements.h"
#include "edges/edge_judge.h"
#include "edges/judgement.h"
#include "load/footprints.h"
#include "load/kernel_definition.h"
#include "load/kernel_set.h"
#include "load/source_names.h"
#include "session/memory/part_pool.h"
#include "session/memory/weight_pool.h"
#include "session/setup.h"

namespace baton {

// Values for a program's symbols, and the shapes of its buffers for them. Buffers have no memory
// yet.
struct ProgramValues {
  std::vector<BoundSymbol> symbols;
  bind::BufferTable buffers;

  std::vector<std::int64_t> slots() const;  // by symbol
};

// A program with values for its symbols, checked. Its tape is not settled.
struct ResolvedProgram {
  std::shared_ptr<const SharedParts> parts;  // null for none
  bind::BoundSteps bound;
  std::vector<bind::LaunchDecision> decisions;  // by launch
  std::vector<LaunchReport> launches;           // by number, without limits
  std::vector<EdgeReport> edges;                // sorted by the later launch
  std::vector<CollectiveEdgeReport> collective_edges;
  std::vector<ParallelReport> parallels;
  std::optional<Error> refusal;          // an edge that the program insists on cannot be
  std::optional<Error> unsafe;           // an edge that is not switched off is unsafe
  std::optional<Error> forbidden_write;  // a kernel certainly writes a weight or an input
  bool writes_weight = false;            // that memory is a weight
  bind::DecidedByValues decided_by_values;
  std::vector<std::string> warnings;  // what is legal and looks wrong

  // The first thing that is wrong, if any.
  const std::optional<Error>& objection() const {
    return forbidden_write ? forbidden_write : refusal ? refusal : unsafe;
  }
};

// A program's kernels, compiled and loaded, with the plan of its steps. Immutable but for the
// footprints, which are read when they are first asked for, under a lock, and for the pool of
// weights. Threads may share it.
class LoadedProgramState {
 public:
  // `known`: of a bundle.
  LoadedProgramState(const Program& loaded, std::vector<load::KernelDefinition> definitions,
                     const Device& on, const LoadOptions& options, edges::KnownVerdicts known = {});

  const Program program;
  const Device device;
  const load::KernelSet kernels;
  const load::SourceNames names;
  const bind::Plan plan;
  const std::optional<PlannedSetup> setup;
  const bind::Requirements requirements;
  // By symbol: whether the shape of a buffer depends on it.
  const std::vector<bool> decides_shape;
  // By symbol: whether the size of a group of ranks depends on it.
  const std::vector<bool> decides_groups;
  // The weights that executables have in memory.
  mutable WeightPool weights;
  // The split of the SMs that executables have.
  mutable PartPool parts;

  // Throws what is wrong with the given values.
  ProgramValues values(const Bindings& given) const;
  // Throws what is wrong with the program for these values, but for edges.
  // `peers`: as in bind::Tape::set_peers.
  ResolvedProgram resolve(const ProgramValues& values, const bind::PeerChoice& peers) const;
  // The same for the setup steps, which the program has.
  ResolvedProgram resolve_setup(const ProgramValues& values) const;
  CheckReport check(const Bindings& given) const;
  // The judgements of all steps for these values, as far as they can be kept.
  std::vector<edges::KeptJudgement> judge(const ProgramValues& values) const;

 private:
  bind::Plan make_plan(PdlMode pdl) const;
  ResolvedProgram resolve(const bind::Plan& planned, const std::vector<std::int64_t>& symbols,
                          const bind::BufferTable& buffers, const bind::PeerChoice& peers) const;

  // What a kept judgement has to be made from to hold for these steps and values.
  edges::KeptJudgement basis(const bind::Plan& planned,
                             const std::vector<std::int64_t>& symbols) const;
  // The judgement that is known for them, or null. It has nothing of kernels between peers, so that
  // their edges are full with it.
  const edges::Judgement* known(const bind::Plan& planned, const std::vector<std::int64_t>& symbols,
                                const bind::BufferTable& buffers) const;
  // Steps that are bound, with their judge, which refers to the buffers.
  struct JudgedSteps {
    std::unique_ptr<edges::EdgeJudge> judge;
    bind::BoundSteps bound;
  };
  // Judges with what the setup steps and all other steps may have left in memory.
  JudgedSteps judged(const bind::Plan& planned, const std::vector<std::int64_t>& symbols,
                     const bind::BufferTable& buffers,
                     const std::shared_ptr<const SharedParts>& taken,
                     const bind::PeerChoice& peers) const;
  // `kept`, and where the setup steps may leave addresses if they are there.
  edges::KeptAddresses spread_by_setup(edges::KeptAddresses kept,
                                       const std::vector<std::int64_t>& symbols,
                                       const bind::BufferTable& buffers) const;
  ResolvedProgram analyse(const bind::Plan& planned, const std::vector<std::int64_t>& symbols,
                          const bind::BufferTable& buffers,
                          std::shared_ptr<const SharedParts> taken, const bind::PeerChoice& peers,
                          std::vector<edges::TriggerFacts>& triggers) const;
  // The same by a judgement, without analysis.
  ResolvedProgram apply(const edges::Judgement& judgement, const bind::Plan& planned,
                        const std::vector<std::int64_t>& symbols, const bind::BufferTable& buffers,
                        std::shared_ptr<const SharedParts> taken) const;
  // The images of all kernels, hashed at the first call.
  const std::vector<edges::KeptJudgement::Proof>& proofs() const;
  bool has_pdl() const;

  // The judgements of the bundle, read at the first call.
  const std::vector<edges::KeptJudgement>& kept() const;

  const edges::KnownVerdicts known_;
  mutable std::once_flag kept_read_;
  mutable std::vector<edges::KeptJudgement> kept_;
  mutable std::once_flag proofs_made_;
  mutable std::vector<edges::KeptJudgement::Proof> proofs_;
  mutable load::Footprints footprints_;
};

// The launches among steps, in their order.
void collect_launches(const std::vector<bind::PlannedStep>& steps,
                      std::vector<const bind::PlannedStep*>& out);

// The buffers of a program, with their definitions alone.
bind::BufferTable unbound_buffers(const Program& program);

}  // namespace baton
