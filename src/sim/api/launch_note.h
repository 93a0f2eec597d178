#pragma once

#include <memory>

#include "driver/simulator.h"

namespace baton::sim {

// The note for the next kernel launch of the calling thread (driver::Simulator::note_next_launch).
void set_next_note(driver::LaunchNote note);
// Returns the note, which then applies to no later launch; null without one.
std::shared_ptr<const driver::LaunchNote> take_next_note();

}  // namespace baton::sim
