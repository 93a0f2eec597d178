// compile() with the cache in front of it.

#include <fmt/core.h>

#include <thread>

#include "compile/cache/cache.h"
#include "compile/compile_test.h"
#include "compile/nvrtc/line_table.h"

namespace baton::compile_cache_test {
namespace {

class CompileCache : public CompileTest {};

TEST_F(CompileCache, ASecondCompileIsAHit) {
  const Compiled first = compiled(kKernels, {"scale<float>"});
  const Compiled second = compiled(kKernels, {"scale<float>"});
  EXPECT_FALSE(first.cache_hit);
  EXPECT_TRUE(second.cache_hit);
  EXPECT_EQ(first.ptx.bytes(), second.ptx.bytes());
  EXPECT_EQ(first.cubin->bytes(), second.cubin->bytes());
  EXPECT_EQ(first.symbols, second.symbols);
  EXPECT_EQ(first.seconds, second.seconds);
  EXPECT_FALSE(compiled(kKernels, {"scale<double>"}).cache_hit);
  EXPECT_FALSE(compile(Source::from_text(kKernels), {.arch = "sm_80"}).cache_hit);
  EXPECT_FALSE(compile(Source::from_text(kKernels, "k.cu"),
                       {.arch = "sm_90a", .entries = {"scale<float>"}, .use_cache = false})
                   .cache_hit);
}

TEST_F(CompileCache, EverythingThatMattersIsInTheKey) {
  Source source = Source::from_text(kSaxpy, "k.cu");
  compiled(source);
  source.prelude = "#define X 1";
  EXPECT_FALSE(compiled(source).cache_hit);
  source.options = {"-DY"};
  EXPECT_FALSE(compiled(source).cache_hit);
  EXPECT_TRUE(compiled(source).cache_hit);
  source.text += " ";
  EXPECT_FALSE(compiled(source).cache_hit);
}

TEST_F(CompileCache, AChangedHeaderIsCompiledAnew) {
  write("h.cuh", "#include \"inner.cuh\"\n");
  write("inner.cuh", "#define A 11\n");
  const fs::path path = write("k.cu", "#include \"h.cuh\"\n__global__ void k(int* o) { *o = A; }");
  EXPECT_THAT(ptx(compiled(Source::from_file(path))), HasSubstr(", 11;"));
  EXPECT_TRUE(compiled(Source::from_file(path)).cache_hit);
  write("inner.cuh", "#define A 12\n");
  const Compiled changed = compiled(Source::from_file(path));
  EXPECT_FALSE(changed.cache_hit);
  EXPECT_THAT(ptx(changed), HasSubstr(", 12;"));
  // A file that comes to lie in front of the one that was found.
  write("other/inner.cuh", "#define A 13\n");
  write("other/h.cuh", "#include \"inner.cuh\"\n");
  Source source =
      Source::from_file(write("k2.cu", "#include <h.cuh>\n__global__ void k(int* o) { *o = A; }"));
  source.include = {"late", "other"};
  EXPECT_THAT(ptx(compiled(source)), HasSubstr(", 13;"));
  write("late/h.cuh", "#define A 14\n");
  EXPECT_THAT(ptx(compiled(source)), HasSubstr(", 14;"));
}

// The same files in the same order, and yet another text: what "x.h" is depends on who asks.
TEST_F(CompileCache, FilesOfOneNameAreToldApartByWhoIncludesThem) {
  const auto lay_out = [&](const std::string& where, const std::string& second) {
    std::string all;
    for (const char* n : {"1", "2", "3"}) {
      write(fmt::format("{}/d{}/h.h", where, n),
            fmt::format("#include \"x.h\"\nconst int v{} = X;\n#undef X\n", n));
      all += fmt::format("#include \"d{}/h.h\"\n", n);
    }
    write(where + "/d1/x.h", "#define X 1\n");
    write(where + "/" + second + "/x.h", "#define X 2\n");
    write(where + "/all.h", all);
    return Source::from_file(write(where + "/k.cu",
                                   "#include \"all.h\"\n__global__ void k(int* o) { *o = v1 * "
                                   "100 + v2 * 10 + v3; }"));
  };
  Source one = lay_out("one", "d3");
  one.include = {"d1"};
  Source two = lay_out("two", "d2");
  two.include = {"d2"};
  EXPECT_THAT(ptx(compiled(one)), HasSubstr(", 112;"));
  EXPECT_THAT(ptx(compiled(two)), HasSubstr(", 122;"));
}

TEST_F(CompileCache, AHitSpeaksOfTheReadersOwnFiles) {
  const auto lay_out = [&](const std::string& where) {
    write(where + "/inc/h.cuh",
          "__device__ inline float twice(float x) { int unused; return x * 2; }\n");
    Source source = Source::from_file(
        write(where + "/k.cu",
              "#include \"h.cuh\"\n__global__ void k(float* o) { o[0] = twice(o[1]); }\n"));
    source.include = {"inc"};
    return compiled(source);
  };
  const Compiled here = lay_out("here");
  const Compiled there = lay_out("there");
  EXPECT_TRUE(there.cache_hit);
  EXPECT_THAT(ptx(there), HasSubstr((folder_.path() / "there/k.cu").string()));
  EXPECT_THAT(ptx(there), Not(HasSubstr((folder_.path() / "here").string())));
  const auto lines = compiler::line_table_files(there.cubin.value().bytes());
  EXPECT_THAT(lines, testing::Contains((folder_.path() / "there/k.cu").string()));
  EXPECT_THAT(lines, testing::Each(testing::StartsWith((folder_.path() / "there/").string())));
  EXPECT_THAT(there.log, HasSubstr((folder_.path() / "there/inc/h.cuh").string() + ":1:"));
  EXPECT_THAT(here.log, HasSubstr((folder_.path() / "here/inc/h.cuh").string() + ":1:"));
}

TEST_F(CompileCache, ASourceThatSeesItsOwnNameIsNotShared) {
  for (const char* text : {"__global__ void k(int* o) { assert(o[0]); }",
                           "__global__ void k(const char** o) { *o = __builtin_FILE(); }"}) {
    compiled(Source::from_file(write("one/k.cu", text)));
    EXPECT_FALSE(compiled(Source::from_file(write("two/k.cu", text))).cache_hit) << text;
    EXPECT_TRUE(compiled(Source::from_file(folder_.path() / "one/k.cu")).cache_hit) << text;
  }
}

TEST_F(CompileCache, ADamagedEntryIsCompiledAnewAndMended) {
  compiled(kSaxpy);
  const auto entries = compiler::Cache::open_default()->list();
  ASSERT_EQ(entries.size(), 1u);
  std::string bytes = read_file(entries[0].path);
  bytes[bytes.size() - 10] ^= 1;
  write_file_atomically(entries[0].path, bytes);
  EXPECT_FALSE(compiled(kSaxpy).cache_hit);
  EXPECT_TRUE(compiled(kSaxpy).cache_hit);
}

TEST_F(CompileCache, ThreadsCompileTheSameAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> results(4);
  for (std::string& result : results) {
    threads.emplace_back([&] { result = ptx(compiled(kSaxpy)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, results[0]);
}

// This process has NVRTC loaded: another one, with the cache of this one, answers.
TEST_F(CompileCache, AHitDoesNotLoadTheCompiler) {
  constexpr char kChild[] = "BATON_TEST_HIT_CACHE";
  if (const char* cache = std::getenv(kChild)) {
    setenv("BATON_CACHE_DIR", cache, 1);
    EXPECT_TRUE(compiled(kSaxpy).cache_hit);
    EXPECT_THAT(read_file("/proc/self/maps"), Not(HasSubstr("libnvrtc")));
    return;
  }
  compiled(kSaxpy);
  EXPECT_THAT(read_file("/proc/self/maps"), HasSubstr("libnvrtc"));
  const std::string command =
      fmt::format("{}='{}' '{}' --gtest_filter=CompileCache.AHitDoesNotLoadTheCompiler >&2", kChild,
                  std::getenv("BATON_CACHE_DIR"), fs::read_symlink("/proc/self/exe").string());
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace baton::compile_cache_test
