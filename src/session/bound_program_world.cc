// The part of a bound program that other ranks take part in.

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/text/text.h"
#include "bind/binding.h"
#include "bind/shards.h"
#include "session/bound_program.h"
#include "session/world/collective_choice.h"

namespace baton {
namespace {

constexpr std::chrono::seconds kAbortTime{2};

}  // namespace

void BoundProgram::enter_world(Bindings& given) {
  const Program& program = state_->program;
  if (!program.world()) {
    if (given.world && given.world->ranks() > 1) {
      throw error(ErrorCode::kInvalidInput,
                  "{} has no world, and would run {} times side by side; add [world] to it",
                  printable(program.name()), given.world->ranks());
    }
    given.world.reset();
  } else if (!given.world) {
    given.world = World::of_process();
  }
  const World world = given.world.value_or(world_);
  const auto wanted = program.world() ? program.world()->ranks : std::nullopt;
  if (wanted && *wanted != world.ranks()) {
    throw error_at(program.world()->where, ErrorCode::kInvalidInput,
                   "{} takes {} rank{}, and this run has {}; start as many, by a list of "
                   "devices or mpirun -n {}, or leave ranks out of [world]",
                   printable(program.name()), *wanted, *wanted == 1 ? "" : "s", world.ranks(),
                   *wanted);
  }
  if (!collectives_) {
    world_ = world;
    collectives_.emplace(state_->device, world_);
  } else if (world.communicator() != world_.communicator()) {
    throw error(ErrorCode::kInvalidInput,
                "{} was bound for rank {} of another world; make another executable for this one",
                printable(program.name()), world_.rank());
  }
}

void BoundProgram::in_world(const std::function<void()>& act) {
  if (world_.ranks() == 1) return act();
  try {
    world_.check();
    act();
    world_.check();
  } catch (const Error& failure) {
    Error told = world_.fail(failure);
    end_collectives();
    throw told;
  }
}

// What waits for a lost rank ends soon, so that the executable can be destroyed.
void BoundProgram::end_collectives() noexcept {
  if (!collectives_->waits_on_device()) return;
  collectives_->abort();
  const auto until = std::chrono::steady_clock::now() + kAbortTime;
  while (still_runs() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void BoundProgram::choose_collectives(const std::vector<BoundSymbol>& symbols,
                                      CollectiveExecutor wanted) {
  if (collectives_->has_chosen()) {
    if (wanted == wanted_collectives_) return;
    throw error(ErrorCode::kInvalidInput,
                "{} was bound with collectives by {}, and this bind wants {}; make another "
                "executable for that",
                printable(state_->program.name()), to_string(wanted_collectives_),
                to_string(wanted));
  }
  wanted_collectives_ = wanted;
  CollectiveChoice choice = baton::choose_collectives(world_, *state_, symbols, wanted);
  collectives_->choose(std::move(choice.nccl), std::move(choice.peer), choice.peer_bytes,
                       choice.by_nccl, std::move(choice.why_host));
  collectives_report_ = std::move(choice.report);
}

void BoundProgram::prepare_epilogues(const std::vector<BoundSymbol>& symbols) {
  if (collectives_->has_epilogues()) return;
  if (!needs_epilogue_kernels(world_, *state_, symbols, collectives_->peers())) return;
  collectives_->take_epilogues(std::make_shared<peer::EpilogueKernels>(state_->device));
}

// Communicators and staging memory are those of the first groups.
void BoundProgram::keep_groups(const std::vector<BoundSymbol>& symbols) {
  const Program& program = state_->program;
  if (!program.world()) return;
  std::vector<world::RankGroup> groups;
  for (const WorldGroup& group : program.world()->groups) {
    groups.push_back(bind::bind_group(program, group.name, symbols));
  }
  // A bind that failed before left none.
  if (!bound() && !collectives_->has_chosen()) groups_ = groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups_[i] == groups[i]) continue;
    throw error(ErrorCode::kInvalidInput,
                "{} was bound with {} ranks in the group {}, and this bind wants {}; make another "
                "executable for that",
                printable(program.name()), groups_[i].ranks, program.world()->groups[i].name,
                groups[i].ranks);
  }
}

// Of ranks with equal parts, the first one sends its own.
void BoundProgram::gather_outputs() {
  in_world([&] {
    world_.meet("the end of the run");
    for (auto& [name, array] : outputs) {
      const bind::BoundBuffer& buffer = buffers()[this->buffer(name)];
      if (buffer.shards.empty()) continue;
      const bool is_first = is_first_of_equal(*buffer.definition, world_.rank());
      const auto parts =
          world_.gather("the output " + name, is_first ? array.bytes : std::string());
      if (parts.empty()) continue;
      Array whole{array.dtype, bind::whole_shape(buffer), {}};
      whole.bytes.resize(bind::bytes_of(whole.shape, whole.dtype));
      for (std::uint32_t rank = 0; rank < parts.size(); ++rank) {
        if (!is_first_of_equal(*buffer.definition, rank)) continue;
        if (parts[rank].size() != buffer.bytes) {
          throw error(ErrorCode::kInvalidInput,
                      "the output {} is divided into equal parts, and has {} bytes on rank {} and "
                      "{} on rank {}; give its shape no symbol that differs between ranks, such as "
                      "rank",
                      printable(name), parts[rank].size(), rank, buffer.bytes, world_.rank());
        }
        bind::BoundBuffer part = {};
        part.definition = buffer.definition;
        part.shape = buffer.shape;
        part.elements = buffer.elements;
        part.shards = bind::bind_shards(state_->program, *buffer.definition, rank, symbols_);
        bind::put_part(parts[rank], part, whole.bytes);
      }
      array = std::move(whole);
    }
  });
}

// Whether the rank is the first of the groups that do not divide the buffer.
bool BoundProgram::is_first_of_equal(const ProgramBuffer& buffer, std::uint32_t rank) const {
  for (const WorldGroup& group : state_->program.world()->groups) {
    const auto divides = [&](const BufferShard& shard) {
      return shard.group.empty() || shard.group == group.name;
    };
    if (std::ranges::any_of(buffer.shards, divides)) continue;
    const world::RankGroup bound = bind::bind_group(state_->program, group.name, symbols_);
    if (rank / bound.stride % bound.ranks != 0) return false;
  }
  return true;
}

}  // namespace baton
