#include "sim/api/launch_note.h"

#include <utility>

namespace baton::sim {
namespace {

// No destructor: threads may call the driver while their own thread-locals are being destroyed.
thread_local const driver::LaunchNote* t_next = nullptr;

}  // namespace

void set_next_note(driver::LaunchNote note) {
  take_next_note();
  t_next = new driver::LaunchNote(std::move(note));
}

std::shared_ptr<const driver::LaunchNote> take_next_note() {
  const driver::LaunchNote* const note = std::exchange(t_next, nullptr);
  return note == nullptr ? nullptr : std::shared_ptr<const driver::LaunchNote>(note);
}

}  // namespace baton::sim
