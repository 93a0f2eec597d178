#include <baton/embed.h>

#include <cstdio>

#include "affine.h"

namespace {
BATON_EMBED_IMAGE(affine_image, "affine.ptx")
}  // namespace

int main() {
  try {
    for (float value : run_affine(affine_image(), {1, 2, 3}, 10.0f)) {
      std::printf("%g\n", static_cast<double>(value));
    }
  } catch (const baton::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
