#include "compile/cache/cache_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "base/file/file.h"

namespace baton::compiler::cache_key_test {
namespace {

namespace fs = std::filesystem;

// All that a compile depends on, as files and values of its own.
struct Inputs {
  explicit Inputs(const fs::path& folder) : root(folder) {
    write("lib/libnvrtc.so.13", "compiler");
    write("lib/libnvrtc-builtins.so.13.0", "built in");
    write("cuda/cuda.h", "#define CUDA_VERSION 13000\n");
    write("cuda/cuda_fp16.h", "half");
    write("inc/h.h", "#include \"deep.h\"\n");
    write("inc/deep.h", "deep");
    write("a/x.h", "one");
    write("b/x.h", "another");
    source.text = "#include <h.h>\n#include \"a/x.h\"\nkernel";
    source.name = "k.cu";
    source.directory = folder;
    source.include = {"inc"};
    options.arch = "sm_90a";
  }

  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((root / name).parent_path());
    write_file_atomically(root / name, text);
  }

  std::optional<std::string> key(std::string* obstacle) const {
    Request request = make_request(source, options);
    request.toolkit.nvrtc = root / "lib/libnvrtc.so.13";
    request.toolkit.include = {root / "cuda"};
    change_request(request);
    return cache_key(request, obstacle);
  }

  fs::path root;
  Source source;
  CompileOptions options;
  std::function<void(Request&)> change_request = [](Request&) {};
};

class CacheKey : public testing::Test {
 protected:
  // Of the inputs as `change` leaves them.
  static std::string key(const std::function<void(Inputs&)>& change) {
    const TemporaryDirectory folder;
    Inputs inputs(folder.path());
    change(inputs);
    std::string obstacle;
    const std::optional<std::string> key = inputs.key(&obstacle);
    EXPECT_TRUE(key) << obstacle;
    return key.value_or("");
  }
};

struct Case {
  const char* name;
  std::function<void(Inputs&)> change;
};

// One row for each input of cache_key.
TEST_F(CacheKey, EveryInputChangesIt) {
  const Case cases[] = {
      {"nothing", [](Inputs&) {}},
      {"the text", [](Inputs& in) { in.source.text += " "; }},
      {"the prelude", [](Inputs& in) { in.source.prelude = "#define A\n"; }},
      // The same text in all, divided otherwise.
      {"where the prelude ends",
       [](Inputs& in) {
         in.source.prelude = "#include <h.h>\n";
         in.source.text = "#include \"a/x.h\"\nkernel";
       }},
      {"the architecture", [](Inputs& in) { in.options.arch = "sm_90"; }},
      {"virtual for real", [](Inputs& in) { in.options.arch = "compute_90a"; }},
      {"an entry", [](Inputs& in) { in.options.entries = {"k<float>"}; }},
      {"two entries",
       [](Inputs& in) {
         in.options.entries = {"k<float>", "k<int>"};
       }},
      {"their order",
       [](Inputs& in) {
         in.options.entries = {"k<int>", "k<float>"};
       }},
      {"an option", [](Inputs& in) { in.source.options = {"-DA"}; }},
      {"two options",
       [](Inputs& in) {
         in.source.options = {"-DA", "-DB"};
       }},
      {"their division", [](Inputs& in) { in.source.options = {"-DA-DB"}; }},
      {"the standard", [](Inputs& in) { in.source.options = {"-std=c++20"}; }},
      {"a forced header",
       [](Inputs& in) {
         in.source.options = {"-include", "h.h"};
       }},
      {"debugging", [](Inputs& in) { in.source.options = {"-G"}; }},
      {"an included file", [](Inputs& in) { in.write("inc/h.h", "#include \"deep.h\"\n\n"); }},
      {"a file that one includes", [](Inputs& in) { in.write("inc/deep.h", "changed"); }},
      {"a file that is missing", [](Inputs& in) { fs::remove(in.root / "inc/deep.h"); }},
      {"which file of a name is found",
       [](Inputs& in) { in.source.text = "#include <h.h>\n#include \"b/x.h\"\nkernel"; }},
      {"a header of the user in place of Baton's",
       [](Inputs& in) {
         in.source.text = "#include <stdint.h>\nkernel";
         in.write("inc/stdint.h", "mine");
       }},
      {"Baton's header of that name",
       [](Inputs& in) { in.source.text = "#include <stdint.h>\nkernel"; }},
      {"the compiler's beginning", [](Inputs& in) { in.write("lib/libnvrtc.so.13", "Compiler"); }},
      {"the compiler's size", [](Inputs& in) { in.write("lib/libnvrtc.so.13", "compiler "); }},
      {"the compiler's built-in code",
       [](Inputs& in) { in.write("lib/libnvrtc-builtins.so.13.0", "built on"); }},
      {"more built-in code", [](Inputs& in) { in.write("lib/libnvrtc-builtins.so.13.1", "new"); }},
      {"the version of CUDA's headers",
       [](Inputs& in) { in.write("cuda/cuda.h", "#define CUDA_VERSION 13010\n"); }},
      {"the size of one of CUDA's headers",
       [](Inputs& in) { in.write("cuda/cuda_fp16.h", "halves"); }},
      {"the text of one of Baton's headers",
       [](Inputs& in) {
         in.change_request = [](Request& request) { request.headers[0].text = "changed"; };
       }},
      {"which of Baton's headers there are",
       [](Inputs& in) {
         in.change_request = [](Request& request) { request.headers.pop_back(); };
       }},
  };
  std::map<std::string, const char*> made;
  for (const Case& each : cases) {
    const auto [same, is_new] = made.emplace(key(each.change), each.name);
    EXPECT_TRUE(is_new) << each.name << " gives the key of " << same->second;
  }
}

TEST_F(CacheKey, FoldersAndNamesDoNotMatter) {
  const std::string plain = key([](Inputs&) {});
  EXPECT_EQ(key([](Inputs&) {}), plain);  // in another folder
  EXPECT_EQ(key([](Inputs& in) { in.source.name = "other.cu"; }), plain);
  EXPECT_EQ(key([](Inputs& in) { in.write("elsewhere/h.h", "unused"); }), plain);
}

// Where the source can see its own name, and where a debugger is to find it, the name matters.
TEST_F(CacheKey, NamesMatterWhereTheSourceSeesThem) {
  for (const char* sees : {"__FILE__", "assert(x)", "std::source_location"}) {
    std::string keys[2];
    for (int i = 0; i < 2; ++i) {
      keys[i] = key([&](Inputs& in) {
        in.source.text = std::string("kernel ") + sees;
        in.source.name = i == 0 ? "k.cu" : "other.cu";
      });
    }
    EXPECT_NE(keys[0], keys[1]) << sees;
  }
}

TEST_F(CacheKey, SaysWhyThereIsNone) {
  const auto obstacle = [](const std::function<void(Inputs&)>& change) {
    const TemporaryDirectory folder;
    Inputs inputs(folder.path());
    change(inputs);
    std::string why;
    EXPECT_FALSE(inputs.key(&why));
    return why;
  };
  EXPECT_EQ(obstacle([](Inputs& in) { in.source.text = "__TIME__"; }), "__TIME__ is used");
  EXPECT_EQ(obstacle([](Inputs& in) { fs::remove(in.root / "lib/libnvrtc.so.13"); }),
            "NVRTC cannot be read");
  EXPECT_EQ(obstacle([](Inputs& in) {
              in.change_request = [](Request& request) { request.toolkit.nvrtc.reset(); };
            }),
            "NVRTC cannot be read");
}

}  // namespace
}  // namespace baton::compiler::cache_key_test
