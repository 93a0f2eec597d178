#include "bundle/data_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/file/file.h"
#include "base/test_refusal.h"
#include "baton/tvm_library.h"
#include "image/container/elf.h"

namespace baton::bundle::data_library_test {
namespace {

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  return bytes;
}

class Library : public ::testing::TestWithParam<std::size_t> {
 protected:
  std::string path() const { return (folder_.path() / "data.so").string(); }
  TemporaryDirectory folder_;
};

// The system's loader finds the bytes, whatever their end does to the pages after them.
TEST_P(Library, IsLoaded) {
  const std::string bytes = some_bytes(GetParam());
  const DataLibrary library = DataLibrary::make("some_data", bytes.size());
  write_file_atomically(path(), std::array<std::string_view, 3>{library.head, bytes, library.tail});
  void* const handle = dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const void* const symbol = dlsym(handle, "some_data");
  ASSERT_NE(symbol, nullptr) << dlerror();
  EXPECT_EQ(std::string(static_cast<const char*>(symbol), bytes.size()), bytes);
  EXPECT_EQ(dlsym(handle, "some_datum"), nullptr);
  dlclose(handle);
}

TEST_P(Library, HasSectionsForOtherTools) {
  const std::string bytes = some_bytes(GetParam());
  const DataLibrary library = DataLibrary::make("some_data", bytes.size());
  const std::string whole = library.head + bytes + library.tail;
  const image::ElfFile elf(whole, "data.so", "library");
  EXPECT_EQ(elf.type(), image::ElfFile::kShared);
  EXPECT_EQ(image::ElfFile::extent_of(whole), whole.size());
  std::string names;
  for (const image::ElfSection& section : elf.sections()) {
    EXPECT_TRUE(section.is_readable);
    names += std::string(section.name) + " ";
    if (section.name == ".rodata") {
      EXPECT_EQ(section.bytes, bytes);
    }
  }
  EXPECT_EQ(names, " .hash .dynsym .dynstr .rodata .dynamic .shstrtab ");
}

INSTANTIATE_TEST_SUITE_P(Sizes, Library, ::testing::Values(1, 8, 4095, 4096, 4097, 65536, 1 << 20));

TEST(TvmLibrary, TakesBundlesAlone) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "x.baton", library = folder.path() / "x.so";
  EXPECT_THROW(write_tvm_library(file, library), Error);
  write_file_atomically(file, "no bundle");
  EXPECT_THAT(refusal_of([&] { write_tvm_library(file, library); }),
              ::testing::HasSubstr("x.baton"));
  EXPECT_FALSE(std::filesystem::exists(library));
}

}  // namespace
}  // namespace baton::bundle::data_library_test
