#pragma once

#include "bundle/content.h"

namespace baton::bundle {

// BundleContent::verify, unless the compile cache's folder notes that it was done since the file
// last changed. The note knows the file by its device, inode, size and times, and by its index.
// Without a cache, and for bytes in memory, verifies each time. Returns whether it verified.
bool verify_once(const BundleContent& content);

}  // namespace baton::bundle
