// The part of a bound program that other ranks take part in.

#include "base/error.h"
#include "base/text.h"
#include "bind/shards.h"
#include "session/bound_program.h"

namespace baton {

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
    throw Error(world_.fail(failure));
  }
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
