#pragma once

// What the copies of an image share besides its bytes: its name, its facts if they came with it,
// and its PTX once it is parsed.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/file/held_bytes.h"
#include "baton/image.h"
#include "ptx/ast.h"

namespace baton::image {

struct ImageContent {
  std::string name;   // unless the bytes are held
  std::string owned;  // the bytes, unless they are static or held

  // The bytes of an image in a larger file, checked when they are first asked for.
  std::shared_ptr<const HeldBytes> held;
  std::shared_ptr<const ImageFacts> facts;  // known without reading the image, or null

  // An image whose facts are known. Reads no byte of it. `held` has a NUL after PTX, which is not
  // of the text.
  static Image with_facts(std::shared_ptr<const HeldBytes> held, ImageFacts facts);
  // Gives an image facts that say more than its bytes do. No other copy of it exists yet.
  static void keep_facts(const Image& image, ImageFacts facts);
  // Null where they are to be read from the bytes.
  static const std::shared_ptr<const ImageFacts>& facts_of(const Image& image);

  static std::shared_ptr<const ptx::ParsedModule> ptx_of(const Image& image);

  // The bytes of `held` without the NUL of PTX, which follows them. Throws kInvalidInput if they
  // are damaged, or are not an image of that kind.
  std::string_view held_bytes(ImageKind kind);

 private:
  void check(std::string_view bytes, ImageKind kind);

  std::atomic<bool> checked_{false};
  std::mutex mutex_;
  std::shared_ptr<const ptx::ParsedModule> module_;  // null until it is parsed
};

// The syntax tree of an image of PTX, which lives as long as a copy of the image does. Parses it at
// the first call; throws Error(kInvalidInput) where it does not parse, each time. Thread-safe.
inline std::shared_ptr<const ptx::ParsedModule> ptx_of(const Image& image) {
  return ImageContent::ptx_of(image);
}

// As read_facts. Facts that came with the image are shared with it, and not copied.
std::shared_ptr<const ImageFacts> shared_facts(const Image& image);

}  // namespace baton::image
