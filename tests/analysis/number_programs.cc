#include <fmt/format.h>

#include <random>

#include "analysis/loop_kernel.h"
#include "analysis/number_kernel.h"
#include "analysis/passing_kernel.h"
#include "analysis/programs.h"

namespace baton::record {
namespace {

using overlap::GivenArgument;

class Chooses {
 public:
  explicit Chooses(std::uint64_t seed) : random_(seed) {}

  template <typename T, std::size_t n>
  T any(const T (&choices)[n]) {
    return choices[random_() % n];
  }

  GivenArgument pointer() {
    static constexpr char kMemories[] = {'x', 'x', 'y', 'y', 'w', 'f', 'c', 'z'};
    static constexpr std::uint64_t kOffsets[] = {0, 0, 0, 4, 64, 128, 256, 1024};
    static constexpr std::uint64_t kBytes[] = {64, 128, 256, 4096};
    const auto memory = static_cast<overlap::MemoryId>(any(kMemories));
    const std::uint64_t offset = any(kOffsets);
    switch (random_() % 10) {
      case 0:
        return GivenArgument::scalar(0);
      case 1:
        return GivenArgument::tensor_map(memory, offset);
      case 2:
      case 3:
        return GivenArgument::pointer(memory, offset, any(kBytes));
      default:
        return GivenArgument::pointer(memory, offset);
    }
  }
  GivenArgument number() {
    static constexpr std::uint64_t kNumbers[] = {
        0, 1, 2, 4, 31, 32, 33, 64, 127, 128, 1000, 0x7fffffff, 0x80000000, 0xffffffff};
    return random_() % 8 == 0 ? GivenArgument::scalar(std::nullopt)
                              : GivenArgument::scalar(any(kNumbers));
  }
  GivenArgument wide_number() {
    static constexpr std::uint64_t kNumbers[] = {0,          1,           4,         32,        256,
                                                 0xffffffff, 0x100000000, INT64_MAX, UINT64_MAX};
    return random_() % 8 == 0 ? pointer() : GivenArgument::scalar(any(kNumbers));
  }
  GivenArgument structure() {
    GivenArgument given{.kind = GivenArgument::Kind::kStruct};
    if (random_() % 8 == 0) return {.kind = GivenArgument::Kind::kBytes};
    given.fields.push_back({0, 'y', 16 * (random_() % 4)});
    if (random_() % 2 == 0) given.fields.push_back({8, 'x', overlap::kUnknownOffset});
    given.numbers.push_back({16, 4, random_() % 64});
    if (random_() % 2 == 0) given.numbers.push_back({20, 4, random_() % 4});
    return given;
  }

 private:
  std::mt19937_64 random_;
};

// Programs of two kernels that take the same kinds of arguments.
std::vector<RecordedProgram> programs_of(const char* family, std::uint64_t count,
                                         const std::string& shared,
                                         std::string (*kernel)(std::uint64_t, const std::string&)) {
  static constexpr std::array<std::uint32_t, 3> kBlocks[] = {{32, 1, 1}, {33, 1, 1},  {1, 1, 1},
                                                             {64, 1, 1}, {128, 1, 1}, {8, 4, 2},
                                                             {16, 3, 1}, {1, 64, 1}};
  static constexpr std::array<std::uint32_t, 3> kGrids[] = {
      {1, 1, 1}, {2, 1, 1}, {3, 2, 1}, {1, 1, 4}, {64, 1, 1}};
  std::vector<RecordedProgram> programs;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    RecordedProgram& program = programs.emplace_back();
    program.name = fmt::format("{}/{}", family, seed);
    program.module =
        ptx::ParsedModule::parse(".version 8.7\n.target sm_90a\n.address_size 64\n" + shared +
                                     kernel(2 * seed, "k0") + kernel(2 * seed + 1, "k1"),
                                 program.name);
    Chooses chooses(seed);
    for (const char* name : {"k0", "k1"}) {
      RecordedLaunch& launch = program.launches.emplace_back();
      launch.kernel = program.module->function(name);
      for (int k = 0; k < 3; ++k) launch.arguments.push_back(chooses.pointer());
      launch.arguments.push_back(chooses.number());
      launch.arguments.push_back(chooses.wide_number());
      launch.arguments.push_back(chooses.structure());
      launch.grid = chooses.any(kGrids);
      launch.block = chooses.any(kBlocks);
    }
  }
  return programs;
}

}  // namespace

std::vector<RecordedProgram> number_programs() {
  return programs_of("numbers", 320, "", number_kernel);
}

std::vector<RecordedProgram> loop_programs() {
  return programs_of("loops", 256, passing_functions(), loop_kernel);
}

std::vector<RecordedProgram> passing_programs() {
  return programs_of("passing", 256, passing_functions(), passing_kernel);
}

}  // namespace baton::record
