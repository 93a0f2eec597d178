#pragma once

#include <string>
#include <string_view>

#include "baton/tune.h"

namespace baton::tuning {

// A record as JSON, which `read_record` reads as an equal one.
std::string text_of(const TuneRecord& record);

// Reads any text. `name` is its name in messages. Throws kInvalidInput for what is not a record,
// and for one of a later version.
TuneRecord read_record(std::string_view text, const std::string& name);

}  // namespace baton::tuning
