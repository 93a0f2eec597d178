// An image's PTX is parsed once, whoever asks for it.

#include "image/image_content.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "baton/error.h"

namespace baton::image::image_content_test {
namespace {

constexpr std::string_view kText =
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";

TEST(ImageContent, CopiesShareOneTree) {
  const Image image = Image::from_bytes(kText, "k.ptx");
  const Image copy = image;
  const auto module = ptx_of(image);
  EXPECT_EQ(module->name(), "k.ptx");
  EXPECT_EQ(ptx_of(copy), module);
  static_cast<void>(read_facts(copy));
  // Two for the image, which the facts took theirs from, and this one.
  EXPECT_EQ(module.use_count(), 2);
  EXPECT_EQ(ptx::ParsedModule::of(std::string(kText), "<ptx>"), module);
}

TEST(ImageContent, AnEditIsAnotherImage) {
  const Image image = Image::from_bytes(kText, "k.ptx");
  const Image edited = Image::from_bytes(std::string(kText) + "// edited\n", "k.ptx");
  EXPECT_NE(ptx_of(image), ptx_of(edited));
  EXPECT_EQ(ptx_of(edited)->text(), edited.bytes());
}

TEST(ImageContent, TheTreeGoesWithTheLastCopy) {
  std::weak_ptr<const ptx::ParsedModule> seen;
  {
    const Image image = Image::from_static(kText, "k.ptx");
    static_cast<void>(read_facts(image));
    seen = ptx_of(image);
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired());
}

TEST(ImageContent, RefusesEachTimeWhatDoesNotParse) {
  const Image image = Image::from_bytes(".version 8.7\n.target sm_90\n.frobnicate (\n", "k.ptx");
  EXPECT_THROW(ptx_of(image), Error);
  EXPECT_THROW(ptx_of(image), Error);
}

TEST(ImageContent, ThreadsMeetOneTree) {
  const Image image = Image::from_bytes(kText, "k.ptx");
  std::vector<std::shared_ptr<const ptx::ParsedModule>> seen(8);
  std::vector<std::thread> threads;
  for (auto& each : seen) threads.emplace_back([&] { each = ptx_of(image); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : seen) EXPECT_EQ(each, seen[0]);
}

}  // namespace
}  // namespace baton::image::image_content_test
