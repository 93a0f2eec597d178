// The part of a bound program that other ranks take part in.

#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "bind/shards.h"
#include "session/bound_program.h"
#include "session/collective_choice.h"

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
                   "{} takes {} rank{}, and this run has {}; start as many, by --devices or "
                   "mpirun -n {}, or leave ranks out of [world]",
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

void BoundProgram::choose_collectives(CollectiveExecutor wanted) {
  if (collectives_->has_chosen()) {
    if (wanted == wanted_collectives_) return;
    throw error(ErrorCode::kInvalidInput,
                "{} was bound with collectives by {}, and this bind wants {}; make another "
                "executable for that",
                printable(state_->program.name()), to_string(wanted_collectives_),
                to_string(wanted));
  }
  wanted_collectives_ = wanted;
  CollectiveChoice choice = baton::choose_collectives(world_, *state_, wanted);
  collectives_->choose(std::move(choice.nccl), std::move(choice.peer), std::move(choice.why_host));
  collectives_report_ = std::move(choice.report);
}

void BoundProgram::gather_outputs() {
  in_world([&] {
    world_.meet("the end of the run");
    for (auto& [name, array] : outputs) {
      const bind::BoundBuffer& buffer = buffers()[this->buffer(name)];
      if (!buffer.shard) continue;
      const auto parts = world_.gather("the output " + name, array.bytes);
      if (!parts.empty()) array = bind::whole_of(parts, array, buffer.shard->axis);
    }
  });
}

}  // namespace baton
