#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "instructions/kernel_text.h"
#include "instructions/runner.h"

// The conformance of single PTX instructions: the same suite on every device. BATON_TEST_DEVICE
// names the device ("sim" by default). What the device gives is also checked against what an H200
// gave (tests/golden/instructions/h200.txt). `--dump-ptx=FOLDER` writes every module instead of
// running it, for ptxas to check; `--write-golden=FILE` also writes what the device gives, as that
// file.
namespace baton::instructions {
namespace {

struct Totals {
  std::size_t cases = 0, failed = 0, values = 0, mismatches = 0, golden = 0;
};
std::map<std::string, Totals> totals;  // by family

Runner& runner() {
  static Runner the_runner([] {
    const char* spec = std::getenv("BATON_TEST_DEVICE");
    return std::string(spec != nullptr && *spec != '\0' ? spec : "sim");
  }());
  return the_runner;
}

std::filesystem::path golden_output;  // of --write-golden
Golden written;

const Golden& golden() {
  static const Golden the_golden = [] {
    const std::filesystem::path file = BATON_SOURCE_DIR "/tests/golden/instructions/h200.txt";
    return std::filesystem::exists(file) ? Golden(file) : Golden();
  }();
  return the_golden;
}

class GroupTest : public testing::Test {
 public:
  GroupTest(const Family& family, const Group& group) : family_(family), group_(group) {}

  void TestBody() override {
    if (const std::string* why = runner().unavailable()) {
      GTEST_SKIP() << "the device cannot be used: " << *why;
    }
    Totals& total = totals[family_.name];
    for (const Outcome& outcome : runner().run(family_, group_)) {
      total.cases += 1;
      total.failed += outcome.passed() ? 0 : 1;
      total.values += outcome.values;
      total.mismatches += outcome.mismatches;
      if (!outcome.passed()) ADD_FAILURE() << outcome.detail;
      if (!outcome.record) continue;
      if (!golden_output.empty()) written.add(*outcome.record);
      const Record* golden_record = golden().find(outcome.record->key);
      if (golden_record == nullptr) continue;
      total.golden += 1;
      const std::string differs = difference(*outcome.one, *outcome.record, *golden_record);
      if (!differs.empty()) ADD_FAILURE() << differs;
    }
  }

 private:
  const Family& family_;
  const Group& group_;
};

class Summary : public testing::Environment {
 public:
  void TearDown() override {
    if (totals.empty()) return;
    fmt::print("{:<14}{:>8}{:>8}{:>12}{:>12}{:>8}\n", "family", "cases", "failed", "values",
               "mismatches", "golden");
    for (const auto& [family, total] : totals) {
      fmt::print("{:<14}{:>8}{:>8}{:>12}{:>12}{:>8}\n", family, total.cases, total.failed,
                 total.values, total.mismatches, total.golden);
    }
    if (golden_output.empty()) return;
    std::ofstream file(golden_output);
    file << written.text();
    EXPECT_TRUE(file.flush()) << "cannot write " << golden_output;
  }
};

void register_groups() {
  for (const Family& family : all_families()) {
    for (const Group& group : family.groups) {
      testing::RegisterTest(
          family.name.c_str(), group.name().c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [&family, &group]() -> testing::Test* { return new GroupTest(family, group); });
    }
  }
  testing::AddGlobalTestEnvironment(new Summary);
}

int dump(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const Family& family : all_families()) {
    for (const Group& group : family.groups) {
      std::vector<const Case*> cases;
      for (const Case& one : group.cases()) cases.push_back(&one);
      std::ofstream file(folder / (family.name + "." + group.name() + ".ptx"));
      file << module_text(group.declarations(), cases);
      if (!file.flush()) {
        fmt::print(stderr, "error: cannot write the PTX of {}.{} to {}\n", family.name,
                   group.name(), folder.string());
        return 3;
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace baton::instructions

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view kDump = "--dump-ptx=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(kDump)) {
    return baton::instructions::dump(std::string_view(argv[1]).substr(kDump.size()));
  }
  constexpr std::string_view kGolden = "--write-golden=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(kGolden)) {
    baton::instructions::golden_output = std::string_view(argv[1]).substr(kGolden.size());
  } else if (argc > 1) {
    fmt::print(stderr,
               "error: unknown argument {}; there are --dump-ptx=FOLDER and "
               "--write-golden=FILE\n",
               argv[1]);
    return 2;
  }
  baton::instructions::register_groups();
  return RUN_ALL_TESTS();
}
