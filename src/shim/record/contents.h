#pragma once

// The bytes that copies read from the host.

#include <cstdint>
#include <span>

#include "record/copy_shape.h"

namespace baton::recorder {

// Records, before a copy's call, the structure that its words point to, and with
// BATON_RECORD_CONTENTS the bytes that it reads from the host.
void note_copy(record::CopyShape shape, std::span<const std::uint64_t> words);

}  // namespace baton::recorder
