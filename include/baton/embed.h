#pragma once

#include <string_view>

#include "baton/image.h"

// BATON_EMBED_IMAGE(accessor, "path/of/kernels.cubin")
//
// Puts a file with an image (PTX, cubin, fatbin) into the program's read-only data and defines
//
//   const baton::Image& accessor();
//
// in the enclosing namespace. The first call detects the kind of image, and throws kInvalidInput if
// the bytes are not an image. The image refers to the bytes in place. Thread-safe, and valid as
// long as the program or shared library is loaded.
//
// The path is a string literal that the assembler takes unchanged: relative to its working
// directory, with \" for a quote. Compilers do not see the file, so the build must declare that the
// object depends on it, and compile without link-time optimisation. CMake's baton_embed_images()
// does all this. One source file must not embed two images under one accessor name in different
// namespaces.
#define BATON_EMBED_IMAGE(accessor, path)                                                     \
  asm(".pushsection .rodata.baton." #accessor                                                 \
      ",\"a\"\n"                                                                              \
      ".balign 64\n"                                                                          \
      "baton_image_" #accessor                                                                \
      ":\n"                                                                                   \
      ".incbin \"" path                                                                       \
      "\"\n"                                                                                  \
      "baton_image_" #accessor                                                                \
      "_end:\n"                                                                               \
      ".byte 0\n" /* drivers read PTX up to a NUL */                                          \
      ".type baton_image_" #accessor                                                          \
      ", %object\n"                                                                           \
      ".size baton_image_" #accessor ", . - baton_image_" #accessor                           \
      "\n"                                                                                    \
      ".popsection\n");                                                                       \
  /* Local to the object file: other files may embed an image of the same name. */            \
  extern "C" __attribute__((visibility("hidden"))) const char baton_image_##accessor[];       \
  extern "C" __attribute__((visibility("hidden"))) const char baton_image_##accessor##_end[]; \
  const ::baton::Image& accessor() {                                                          \
    static const ::baton::Image image = ::baton::Image::from_static(                          \
        std::string_view(                                                                     \
            baton_image_##accessor,                                                           \
            static_cast<std::size_t>(baton_image_##accessor##_end - baton_image_##accessor)), \
        #accessor " (embedded)");                                                             \
    return image;                                                                             \
  }
