#pragma once

// What copies bring from the host.

#include <cstdint>
#include <span>

#include "record/copy_shape.h"

namespace baton::recorder {

// Notes, in front of a copy's call, what its words do not tell: the structure that they point to,
// and with BATON_RECORD_CONTENTS the bytes of the host that it copies.
void note_copy(record::CopyShape shape, std::span<const std::uint64_t> words);

}  // namespace baton::recorder
