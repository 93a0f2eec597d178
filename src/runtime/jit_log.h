#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "baton/error.h"

namespace baton {

// What a driver's compiler says of PTX, with the image's own name in place of the compiler's words
// for it: the simulated GPU's "<ptx>:4:34: …" and ptxas's "ptxas application ptx input, line 4;
// error   : …" become "NAME:4:34: …" and "NAME:4: error: …".
std::string with_image_name(std::string_view log, std::string_view name);

// The first thing wrong in such a log, with its place in the image; nothing where no line has one.
std::optional<Error> first_complaint(std::string_view log, std::string_view name);

}  // namespace baton
