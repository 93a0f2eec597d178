#include "program/record/program_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "base/file/file.h"
#include "base/hash/hash.h"
#include "program/record/program_record_reader.h"

namespace baton::program_record_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kRecordName = "x.baton/program.record";

// Reads back what is written of a definition from a text of that name.
ProgramDefinition recorded(const ProgramDefinition& program, const std::string& name) {
  const RecordedText text{xxh3(program.text), name, ""};
  const std::string record = write_program_record(program, text);
  std::optional<ProgramDefinition> read = read_program_record(record, kRecordName, text);
  EXPECT_TRUE(read.has_value());
  EXPECT_EQ(write_program_record(*read, text), record);
  EXPECT_EQ(first_difference(*read, program), std::nullopt);
  return std::move(*read);
}

TEST(ProgramRecord, HoldsThePrograms) {
  int programs = 0;
  for (const char* folder : {"examples", "tests", "fuzz/corpus/program", "bench"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(BATON_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".toml") continue;
      std::optional<Program> program;
      try {
        program = Program::from_file(entry.path());
      } catch (const Error&) {
        continue;  // no program
      }
      ++programs;
      EXPECT_EQ(Program(recorded(program->definition(), entry.path().string())), *program)
          << entry.path();
    }
  }
  EXPECT_GE(programs, 25);
}

// Fills every field of a definition with anything that its type can hold.
class AnyFields {
 public:
  explicit AnyFields(unsigned seed) : random_(seed) {}

  template <typename T>
  void field(const char*, T& value) {
    fill(value);
  }
  template <typename T>
  void in_memory(const char*, T&) {}

 private:
  std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_);
  }
  std::string word() {
    static const std::string kWords[] = {"", "x", "y", "p.toml", "nä", std::string("\0\xff", 2)};
    return kWords[below(std::size(kWords))];
  }
  void fill(bool& value) { value = below(2) != 0; }
  void fill(std::size_t& value) { value = random_(); }
  void fill(std::int64_t& value) { value = static_cast<std::int64_t>(random_()) >> below(64); }
  void fill(double& value) {
    static constexpr double kNumbers[] = {0, -0.0, 1, 0.1, 1e300, -1e-300};
    value = kNumbers[below(std::size(kNumbers))];
  }
  void fill(std::string& value) { value = word(); }
  void fill(fs::path& value) { value = below(2) == 0 ? "" : "data/x.npy"; }
  void fill(SourceLocation& where) {
    where = {word(), static_cast<int>(below(1000)), static_cast<int>(below(1000))};
  }
  void fill(Expression& value) { value = any<Expression>(); }
  template <typename T>
  T any() {
    if constexpr (std::is_same_v<T, Expression> || std::is_same_v<T, FloatExpression>) {
      static constexpr const char* kTexts[] = {
          "0", "-7", "N", "ceildiv(N, 2)", " ( N ) - 1 ", "9223372036854775807"};
      SourceLocation where;
      fill(where);
      return T(kTexts[below(std::size(kTexts))], where);
    } else if constexpr (std::is_same_v<T, Requirement>) {
      Requirement requirement("0 == 0");
      fill(requirement);
      return requirement;
    } else if constexpr (std::is_default_constructible_v<T>) {
      T value = T();
      fill(value);
      return value;
    } else {
      T value(0.0);
      fill(value);
      return value;
    }
  }
  template <typename T>
  requires std::is_enum_v<T>
  void fill(T& value) { value = static_cast<T>(below(count_of(T()))); }
  template <typename T>
  void fill(std::optional<T>& value) {
    if (below(2) == 0) value = any<T>();
  }
  // Parts in parts become fewer with their depth.
  template <typename T>
  void fill(std::vector<T>& list) {
    for (std::uint64_t left = below(8) / (1 + depth_); left > 0; --left) list.push_back(any<T>());
  }
  template <typename... Kinds>
  void fill(std::variant<Kinds...>& value) {
    fill_kind<0>(below(sizeof...(Kinds)), value);
  }
  template <std::size_t kKind, typename Variant>
  void fill_kind(std::uint64_t kind, Variant& value) {
    if constexpr (kKind < std::variant_size_v<Variant>) {
      if (kind != kKind) return fill_kind<kKind + 1>(kind, value);
      value.template emplace<kKind>(any<std::variant_alternative_t<kKind, Variant>>());
    }
  }
  template <PartWithFields Part>
  void fill(Part& part) {
    ++depth_;
    fields(*this, part);
    --depth_;
  }

  std::mt19937_64 random_;
  std::uint64_t depth_ = 0;
};

TEST(ProgramRecord, HoldsWhateverADefinitionHolds) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    ProgramDefinition program;
    AnyFields any(seed);
    fields(any, program);
    const ProgramDefinition read = recorded(program, "p.toml");
    EXPECT_EQ(read.steps, program.steps) << seed;
    EXPECT_EQ(read.kernels, program.kernels) << seed;
    EXPECT_EQ(read.buffers, program.buffers) << seed;
  }
}

constexpr const char* kText = R"toml(
require = ["N % 8 == 0"]
[symbols]
N = 64
[buffers]
x = { dtype = "f32", shape = ["N", 2], role = "input", file = "data/x.npy" }
y = { dtype = "f32", shape = ["N"], role = "output" }
[kernels.k]
source = "/src/k.cu"
options = ["-DX"]
launch = { shared = "4*N", cluster = [2] }
[[steps]]
repeat = 2
index = "i"
[[steps.steps]]
launch = "k"
grid = ["ceildiv(N, 32)"]
block = 32
args = ["x + i", { f32 = "1/sqrt(N)" }, { struct = ["y", { i32 = "N" }] }, { bytes = "00ff" }, 0.5]
[[steps.steps]]
copy = { from = "x", to = "y", count = "N" }
)toml";

ProgramDefinition definition() {
  return Program::from_text(kText, "p.toml").definition();
}

TEST(ProgramRecord, TakesTheNameAndTheFolderOfTheReader) {
  const ProgramDefinition program = definition();
  const RecordedText built{7, "p.toml", ""};
  const std::string record = write_program_record(program, built);
  const auto read = read_program_record(record, kRecordName, {7, "moved.baton/p.toml", "there"});
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->directory, "there");
  EXPECT_EQ(read->buffers[0].file, "there/data/x.npy");
  EXPECT_EQ(read->buffers[1].file, "");
  EXPECT_EQ(read->kernels[0].file, "/src/k.cu");
  EXPECT_EQ(read->steps[0].where.file, "moved.baton/p.toml");
  EXPECT_EQ(read->steps[0].where.line, program.steps[0].where.line);
}

TEST(ProgramRecord, BelongsToOneTextAndOneVersion) {
  const RecordedText text{7, "p.toml", ""};
  std::string record = write_program_record(definition(), text);
  EXPECT_TRUE(read_program_record(record, kRecordName, text));
  EXPECT_FALSE(read_program_record(record, kRecordName, {8, "p.toml", ""}));
  record[0] += 1;
  EXPECT_FALSE(read_program_record(record, kRecordName, text));
  EXPECT_FALSE(read_program_record(record.substr(0, 4), kRecordName, text));
}

// What is recorded and how is the version's. Another value here is another version.
TEST(ProgramRecord, IsTheSameInOneVersion) {
  EXPECT_EQ(kProgramRecordVersion, 1u);
  EXPECT_EQ(xxh3(write_program_record(definition(), {7, "p.toml", ""})), 9507289504867529316u)
      << "raise kProgramRecordVersion, and renew this number";
}

TEST(ProgramRecord, HoldsNothingInMemory) {
  ProgramDefinition program = definition();
  program.kernels[0].image = Image::from_bytes(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }", "k.ptx");
  try {
    write_program_record(program, {7, "p.toml", ""});
    FAIL();
  } catch (const Error& refusal) {
    EXPECT_THAT(refusal.message(), HasSubstr("cannot hold image in memory"));
  }
}

TEST(ProgramRecord, NamesTheFirstDifference) {
  const ProgramDefinition program = definition();
  EXPECT_EQ(first_difference(program, program), std::nullopt);
  ProgramDefinition other = program;
  other.kernels[0].options = {"-DY"};
  EXPECT_EQ(first_difference(other, program), "kernels[0].options[0] is \"-DY\" and not \"-DX\"");
  other = program;
  other.steps.clear();
  EXPECT_EQ(first_difference(other, program), "steps is 0 items and not 1 items");
  other = program;
  std::get<RepeatStep>(other.steps[0].action).steps[1].where.line = 1;
  EXPECT_THAT(first_difference(other, program).value_or(""),
              HasSubstr("steps[0].action.steps[1].where is p.toml:1:"));
  other = program;
  other.buffers[1].role = BufferRole::kInout;
  EXPECT_EQ(first_difference(other, program), "buffers[1].role is inout and not output");
}

// Either an error, or a definition that Program checks.
void read_foreign(const std::string& record) {
  try {
    auto program = read_program_record(record, kRecordName, {7, "p.toml", "there"});
    if (program) Program(std::move(*program));
  } catch (const Error& refusal) {
    EXPECT_TRUE(refusal.code() == ErrorCode::kInvalidInput ||
                refusal.code() == ErrorCode::kNotFound)
        << refusal.what();
  }
}

TEST(ProgramRecord, MayBeCutAnywhere) {
  const std::string record = write_program_record(definition(), {7, "p.toml", ""});
  for (std::size_t size = 12; size < record.size(); ++size) {
    try {
      read_program_record(std::string_view(record).substr(0, size), kRecordName, {7, "p.toml", ""});
      ADD_FAILURE() << "was read with " << size << " bytes of " << record.size();
    } catch (const Error& refusal) {
      EXPECT_EQ(refusal.code(), ErrorCode::kInvalidInput);
      EXPECT_THAT(refusal.what(), HasSubstr(kRecordName));
    }
  }
  EXPECT_THROW(read_program_record(record + '\0', kRecordName, {7, "p.toml", ""}), Error);
}

TEST(ProgramRecord, MayHaveAnyByteChanged) {
  const std::string record = write_program_record(definition(), {7, "p.toml", ""});
  for (std::size_t at = 12; at < record.size(); ++at) {
    for (const int change : {0x01, 0x02, 0x10, 0x7f, 0x80, 0xff}) {
      std::string changed = record;
      changed[at] = static_cast<char>(changed[at] ^ change);
      read_foreign(changed);
    }
  }
}

// A count and a depth that no memory would hold.
TEST(ProgramRecord, BelievesNoCount) {
  const std::string header("\1\0\0\0\7\0\0\0\0\0\0\0", 12);
  read_foreign(header + std::string(9, '\xff') + '\1');
  // One text, which names everything; then groups in groups.
  std::string deep = header + std::string("\1\1x", 3) + std::string(8, '\0') + '\0' + '\1';
  for (int i = 0; i < 100000; ++i) deep += std::string("\5\0\1", 3);
  try {
    read_program_record(deep, kRecordName, {7, "p.toml", ""});
    FAIL();
  } catch (const Error& refusal) {
    EXPECT_THAT(refusal.message(), HasSubstr("parts are nested deeper than 512 levels"));
  }
}

}  // namespace
}  // namespace baton::program_record_test
