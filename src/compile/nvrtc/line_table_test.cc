#include "compile/nvrtc/line_table.h"

#include <gtest/gtest.h>

#include "base/file/file.h"
#include "baton/compile.h"
#include "image/container/elf.h"

namespace baton::compiler::line_table_test {
namespace {

namespace fs = std::filesystem;

class LineTable : public testing::Test {
 protected:
  // Machine code whose line table names two files of a folder, with equal times wherever it lies.
  std::string compiled_in(const fs::path& folder) {
    fs::create_directories(folder);
    write_file_atomically(folder / "f.cuh",
                          "__device__ inline float f(float x) { return x * x + 1; }\n");
    write_file_atomically(folder / "k.cu",
                          "#include \"f.cuh\"\n"
                          "extern \"C\" __global__ void k(float* p) { p[0] = f(p[1]); }\n"
                          "extern \"C\" __global__ void l(float* p) { p[0] = f(p[1]) + 1; }\n");
    for (const char* name : {"f.cuh", "k.cu"}) {
      fs::last_write_time(folder / name, fs::file_time_type());
    }
    const Compiled made =
        compile(Source::from_file(folder / "k.cu"), {.arch = "sm_90", .use_cache = false});
    return std::string(made.cubin.value().bytes());
  }
  static std::string moved(const std::string& cubin, const fs::path& from, const fs::path& to) {
    return with_line_table_files(cubin, [&](std::string_view file) {
      return (to / fs::path(file).lexically_relative(from)).string();
    });
  }
  // All that the driver reads of a section.
  static void expect_same_sections(const std::string& a, const std::string& b) {
    const image::ElfFile left(a, "a", "cubin");
    const image::ElfFile right(b, "b", "cubin");
    ASSERT_EQ(left.sections().size(), right.sections().size());
    for (std::size_t i = 0; i < left.sections().size(); ++i) {
      const auto& one = left.sections()[i];
      const auto& other = right.sections()[i];
      EXPECT_EQ(one.name, other.name);
      EXPECT_EQ(one.info, other.info);
      EXPECT_EQ(one.bytes, other.bytes) << one.name;
    }
    EXPECT_EQ(image::ElfFile::extent_of(b), b.size());
  }

  TemporaryDirectory folder_;
};

TEST_F(LineTable, NamesTheFiles) {
  const fs::path in = folder_.path() / "a";
  const std::string cubin = compiled_in(in);
  EXPECT_EQ(line_table_files(cubin),
            (std::vector<std::string>{(in / "k.cu").string(), (in / "f.cuh").string()}));
  EXPECT_EQ(with_line_table_files(cubin, [](std::string_view file) { return std::string(file); }),
            cubin);
}

// As the compiler would have made it there.
TEST_F(LineTable, RenamesAsTheCompilerWould) {
  const fs::path here = folder_.path() / "here";
  const std::string cubin = compiled_in(here);
  for (const char* there : {"away", "x",
                            "a/much/longer/name/of/a/folder/that/needs/more/room/than/"
                            "there/is/between/this/section/and/the/next/one/in/the/"
                            "file/whatever/its/alignment/is"}) {
    const fs::path folder = folder_.path() / there;
    const std::string wanted = compiled_in(folder);
    const std::string got = moved(cubin, here, folder);
    EXPECT_EQ(line_table_files(got), line_table_files(wanted));
    expect_same_sections(got, wanted);
    const image::ElfFile before(cubin, "before", "cubin");
    const image::ElfFile after(got, "after", "cubin");
    for (std::size_t i = 0; i < before.sections().size(); ++i) {
      EXPECT_EQ(before.sections()[i].offset % 128, after.sections()[i].offset % 128);
    }
    if (folder.string().size() == here.string().size()) {
      EXPECT_EQ(got, wanted);
    }
    // And back again.
    EXPECT_EQ(line_table_files(moved(got, folder, here)), line_table_files(cubin));
    expect_same_sections(moved(got, folder, here), cubin);
  }
}

TEST_F(LineTable, TakesAnyBytes) {
  const std::string cubin = compiled_in(folder_.path() / "a");
  const auto longer = [](std::string_view file) { return std::string(file) + "/longer/by/some"; };
  for (std::size_t i = 0; i < cubin.size(); ++i) {
    for (const char mask : {'\x01', '\x80', '\xff'}) {
      std::string damaged = cubin;
      damaged[i] = static_cast<char>(damaged[i] ^ mask);
      with_line_table_files(damaged, longer);
    }
    if (i % 7 == 0) with_line_table_files(cubin.substr(0, i), longer);
  }
  EXPECT_EQ(with_line_table_files("", longer), "");
  EXPECT_EQ(with_line_table_files("no ELF", longer), "no ELF");
}

}  // namespace
}  // namespace baton::compiler::line_table_test
