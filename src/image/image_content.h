#pragma once

// What the copies of an image share besides its bytes: its name, and its PTX once it is parsed.

#include <memory>
#include <mutex>
#include <string>

#include "baton/image.h"
#include "ptx/ast.h"

namespace baton::image {

struct ImageContent {
  std::string name;
  std::string owned;  // the bytes, unless they are static

  static std::shared_ptr<const ptx::ParsedModule> ptx_of(const Image& image);

 private:
  std::mutex mutex_;
  std::shared_ptr<const ptx::ParsedModule> module_;  // null until it is parsed
};

// The syntax tree of an image of PTX, which lives as long as a copy of the image does. Parses it at
// the first call; throws Error(kInvalidInput) where it does not parse, each time. Thread-safe.
inline std::shared_ptr<const ptx::ParsedModule> ptx_of(const Image& image) {
  return ImageContent::ptx_of(image);
}

}  // namespace baton::image
