#include "load/read_ahead.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file/held_bytes.h"
#include "base/file/mapped_file.h"
#include "base/hash/hash.h"
#include "image/image_content.h"

namespace baton::load::read_ahead_test {
namespace {

// An image of a bundle, which is read when it is asked for. `is_damaged`: its checksum is wrong.
Image held(const std::string& text, bool is_damaged) {
  const auto file = MappedFile::from_bytes(text, "images");
  ImageFacts facts;
  facts.kind = ImageKind::kPtx;
  return image::ImageContent::with_facts(
      std::make_shared<const HeldBytes>(file, file->bytes(), xxh3(text) + (is_damaged ? 1 : 0),
                                        "k.ptx"),
      facts);
}

TEST(ReadAhead, LeavesADamagedImageToWhoeverLoadsIt) {
  const std::string text(".version 8.0\n.target sm_80\n.address_size 64\n\0", 45);
  for (const std::size_t damaged : {0, 2, 5}) {
    std::vector<Image> images;
    for (std::size_t i = 0; i < 6; ++i) images.push_back(held(text, i == damaged));
    const ReadAhead read_ahead(images);
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (i == damaged) {
        EXPECT_THROW(images[i].bytes(), Error);
      } else {
        EXPECT_EQ(images[i].bytes(), text.substr(0, text.size() - 1));
      }
    }
  }
}

}  // namespace
}  // namespace baton::load::read_ahead_test
