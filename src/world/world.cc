#include "baton/world.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/system/environment.h"
#include "base/text/text.h"
#include "world/communicator.h"
#include "world/exchange.h"
#include "world/launcher.h"
#include "world/rendezvous.h"
#include "world/socket.h"

namespace baton {
namespace {

// Seconds that the environment gives.
std::chrono::milliseconds seconds_of(const char* name, int otherwise) {
  const auto text = read_environment(name);
  if (!text) return std::chrono::seconds(otherwise);
  int value = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (failed != std::errc() || end != text->data() + text->size() || value < 1 || value > 86400) {
    throw error(ErrorCode::kInvalidInput,
                "the environment has {} = \"{}\"; it must be a number of seconds from 1 to 86400",
                name, printable(*text));
  }
  return std::chrono::seconds(value);
}

// The time for the rank that prints the error to write it, and to end.
constexpr std::chrono::seconds kSpeakTime{3};

// A rank is lost only after several missed heartbeats.
world::Patience patience() {
  constexpr std::chrono::milliseconds kLongestBeat{500};
  const std::chrono::milliseconds silence = seconds_of("BATON_WORLD_SILENCE", 10);
  return {std::min(kLongestBeat, silence / 8), silence};
}

}  // namespace

World::World()
    : World(std::make_shared<world::Communicator>(0, std::vector<FileDescriptor>(1),
                                                  world::Patience{}),
            0, true) {}

World::World(std::shared_ptr<world::Communicator> state, std::uint32_t local_rank,
             bool is_of_threads)
    : state_(std::move(state)),
      rank_(state_->rank()),
      ranks_(state_->ranks()),
      local_rank_(local_rank),
      is_of_threads_(is_of_threads) {}

bool World::is_launched() {
  const auto self = world::launched_rank(read_environment);
  return self && self->ranks > 1;
}

World World::of_process(std::optional<int> seconds) {
  static std::mutex mutex;
  static std::optional<World> joined;
  std::lock_guard lock(mutex);
  if (joined) return *joined;
  const auto self = world::launched_rank(read_environment);
  if (!self || self->ranks == 1) return joined.emplace();
  log(LogLevel::kInfo, "rank {} of {}, started by {}, meets the others at {}", self->rank,
      self->ranks, self->launcher, world::SocketAddress{self->host, self->port}.text());
  const std::chrono::milliseconds wait =
      seconds ? std::chrono::seconds(*seconds) : seconds_of("BATON_WORLD_JOIN", 60);
  std::vector<FileDescriptor> links = world::meet(*self, wait);
  return joined.emplace(
      World(std::make_shared<world::Communicator>(self->rank, std::move(links), patience()),
            self->local_rank, false));
}

std::vector<World> World::of_threads(std::uint32_t ranks) {
  std::vector<std::vector<FileDescriptor>> links(ranks);
  for (auto& each : links) each.resize(ranks);
  for (std::uint32_t low = 0; low < ranks; ++low) {
    for (std::uint32_t high = low + 1; high < ranks; ++high) {
      std::tie(links[low][high], links[high][low]) = world::connected_pair();
    }
  }
  std::vector<World> worlds;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    worlds.push_back(
        World(std::make_shared<world::Communicator>(rank, std::move(links[rank]), patience()), rank,
              true));
  }
  return worlds;
}

Error World::fail(const Error& error) const {
  Error told = state_->fail(error).error;
  state_->flush();
  return told;
}

void World::check() const {
  state_->check();
}

void World::meet(std::string_view what) const {
  const std::string text(what);
  world::meet_all(*state_, {"meet at " + text, text});
}

std::vector<std::string> World::gather(std::string_view what, std::string_view own) const {
  const std::string text(what);
  const world::Stage stage{"gather " + text, text};
  if (rank_ != 0) {
    state_->send(0, stage, own);
    return {};
  }
  std::vector<std::string> all = {std::string(own)};
  for (std::uint32_t rank = 1; rank < ranks_; ++rank) all.push_back(state_->receive(rank, stage));
  return all;
}

void World::let_speak() const {
  if (!is_of_threads_) state_->outlive_speaker(kSpeakTime);
}

bool World::speaks() const {
  return state_->speaks();
}

std::string_view to_string(CollectiveExecutor executor) {
  switch (executor) {
    case CollectiveExecutor::kAuto:
      return "auto";
    case CollectiveExecutor::kNccl:
      return "nccl";
    case CollectiveExecutor::kHost:
      return "host";
    case CollectiveExecutor::kPeer:
      return "peer";
  }
  throw error(ErrorCode::kInvalidInput, "unknown executor of collectives {}",
              static_cast<int>(executor));
}

}  // namespace baton
