#pragma once

#include <optional>
#include <string>

#include "sim/queue/command.h"

namespace baton::sim {

// Writes the value, for kernels that read it and streams that wait for it. What reads it comes
// after the command. False where the memory is gone.
bool write_word(const WriteValue& write, Ordering::Number number);

// Whether the value is such as the stream waits for; nothing where the memory is gone.
std::optional<bool> is_met(const WaitValue& wait);
// Notes that the wait comes after what wrote the value.
void note_met(const WaitValue& wait, Ordering::Number number);

// "a stream waits until 4 bytes at 0x… are at least 1, and they are 0"
std::string wait_text(const WaitValue& wait);

}  // namespace baton::sim
