#pragma once

#include <thread>
#include <vector>

#include "baton/image.h"

namespace baton::load {

// Reads and checks the bytes of images in a thread of its own, in their order, while the caller
// loads those before them. Images of a bundle are read when they are first asked for. One that
// cannot be read ends the thread: whoever loads it throws the same. The destructor waits for the
// image that is being read.
class ReadAhead {
 public:
  explicit ReadAhead(std::vector<Image> images);

 private:
  std::jthread thread_;
};

}  // namespace baton::load
