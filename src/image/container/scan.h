#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "baton/image.h"

namespace baton::image {

// Walks any bytes for what begins as an image does: fatbins, one container each; cubins, as far as
// their own headers say they reach; PTX that is a string of its own. Linear in the size of `bytes`:
// what was found is not looked into. `visit` gets the kind, the offset in `bytes` and the image's
// bytes, and ends the walk with false.
using Visit = std::function<bool(ImageKind, std::uint64_t, std::string_view)>;
void scan_for_images(std::string_view bytes, const Visit& visit);

}  // namespace baton::image
