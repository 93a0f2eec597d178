#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/file/file.h"
#include "baton/error.h"
#include "baton/image.h"
#include "image/container/elf.h"
#include "image/cubin/cubin.h"
#include "image/cubin/kernel_registers.h"

namespace baton::cubin_facts_test {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

std::string bytes_of(std::string_view vector) {
  return read_file(fmt::format("{}/src/image/testdata/{}.cubin", BATON_SOURCE_DIR, vector));
}

ImageFacts facts_of(const std::string& bytes) {
  return read_facts(Image::from_bytes(bytes, "<cubin>"));
}

const KernelFacts& kernel(const ImageFacts& facts, std::string_view name) {
  const KernelFacts* found = facts.kernel(name);
  if (found == nullptr) throw std::runtime_error(fmt::format("no kernel {}", name));
  return *found;
}

std::vector<Pair> layout(const ImageFacts& facts, std::string_view name) {
  std::vector<Pair> out;
  for (const ParamFacts& param : kernel(facts, name).params.value()) {
    out.emplace_back(param.offset, param.size);
  }
  return out;
}

struct Vector {
  std::string_view name;
  std::string_view arch;
  int sm;
  std::string_view toolkit;
  int abi;
};
class CubinVectors : public testing::TestWithParam<Vector> {
 protected:
  ImageFacts facts_ = facts_of(bytes_of(GetParam().name));
};
constexpr Vector kVectors[] = {
    {"vectors_sm_80", "sm_80", 80, "13.0", 8},
    {"vectors_sm_90", "sm_90", 90, "13.0", 8},
    {"vectors_sm_90a", "sm_90a", 90, "13.0", 8},
    {"vectors_sm_100a", "sm_100a", 100, "13.0", 8},
    {"vectors_sm_120", "sm_120", 120, "13.0", 8},
    {"vectors_sm_80_cuda124", "sm_80", 80, "12.4", 7},
    {"vectors_sm_90a_cuda124", "sm_90a", 90, "12.4", 7},
    {"vectors_sm_100a_cuda129", "sm_100a", 100, "12.9", 8},
};
INSTANTIATE_TEST_SUITE_P(Files, CubinVectors, testing::ValuesIn(kVectors),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(CubinVectors, RegistersAreReadWithoutTheOtherFacts) {
  const std::string bytes = bytes_of(GetParam().name);
  const auto registers = image::kernel_registers(bytes, GetParam().sm);
  ASSERT_EQ(registers.size(), facts_.kernels.size());
  for (const KernelFacts& each : facts_.kernels) EXPECT_EQ(registers.at(each.name), each.registers);
  EXPECT_TRUE(image::kernel_registers(bytes, 75).empty());
}

TEST_P(CubinVectors, SaysWhatItIs) {
  EXPECT_EQ(facts_.kind, ImageKind::kCubin);
  EXPECT_EQ(facts_.arch, GetParam().arch);
  // ABI 7 does not name its producer.
  if (GetParam().abi == 8) {
    EXPECT_TRUE(facts_.producer.starts_with(
        fmt::format("ptxas, Cuda compilation tools, release {}", GetParam().toolkit)))
        << facts_.producer;
  }
  EXPECT_EQ(facts_.toolkit, GetParam().toolkit);
  EXPECT_EQ(facts_.abi, GetParam().abi);
  EXPECT_EQ(facts_.linked, true);
  EXPECT_EQ(facts_.debug, DebugInfo::kNone);
  EXPECT_TRUE(facts_.remarks.empty()) << facts_.remarks[0];
  EXPECT_EQ(kernel(facts_, "none").arch, GetParam().arch);
}

TEST_P(CubinVectors, ReadsParameters) {
  EXPECT_EQ(layout(facts_, "params"),
            (std::vector<Pair>{{0, 1}, {4, 4}, {8, 8}, {16, 16}, {32, 1}}));
  EXPECT_TRUE(kernel(facts_, "none").params.value().empty());
  EXPECT_EQ(layout(facts_, "small_block"), (std::vector<Pair>{{0, 4352}}));
  EXPECT_EQ(layout(facts_, "large_block"), (std::vector<Pair>{{0, 4400}}));
  // From sm_100 on the compiler says which parameters are pointers.
  const ParamKind pointer = kernel(facts_, "params").params.value()[2].kind;
  EXPECT_EQ(pointer, GetParam().sm >= 100 ? ParamKind::kPointer : ParamKind::kUnknown);
}

// Offsets are aligned in the constant bank, whose start depends on the architecture.
TEST_P(CubinVectors, TakesTheImagesOwnOffsets) {
  const std::uint32_t first = GetParam().sm == 80 ? 0x20 : GetParam().sm == 90 ? 0x30 : 0;
  EXPECT_EQ(layout(facts_, "aligned"), (std::vector<Pair>{{first, 128}, {first + 128, 8}}));
}

TEST_P(CubinVectors, ReadsBounds) {
  const KernelFacts& bounds = kernel(facts_, "bounds");
  EXPECT_EQ(bounds.max_threads, 256u);
  EXPECT_EQ(bounds.max_registers, 80u);
  EXPECT_FALSE(bounds.required_block);
  EXPECT_EQ(kernel(facts_, "capped").max_registers, 40u);
  EXPECT_FALSE(kernel(facts_, "capped").max_threads);
  EXPECT_GT(bounds.registers.value(), 0u);
  EXPECT_EQ(kernel(facts_, "shared").barriers, 1u);
  EXPECT_EQ(kernel(facts_, "none").barriers, 0u);
}

TEST_P(CubinVectors, ReadsMemory) {
  EXPECT_EQ(kernel(facts_, "shared").static_shared, 400u);
  EXPECT_EQ(kernel(facts_, "dynamic").static_shared, 0u);
  EXPECT_EQ(kernel(facts_, "none").static_shared, 0u);
  EXPECT_GE(kernel(facts_, "frame").local_bytes.value(), 128u);
  EXPECT_EQ(kernel(facts_, "none").local_bytes, 0u);
  const std::uint32_t limit = GetParam().sm == 80 ? 166912 : GetParam().sm == 120 ? 101376 : 232448;
  EXPECT_EQ(max_dynamic_shared(kernel(facts_, "shared")), limit - 400);
  EXPECT_EQ(max_dynamic_shared(kernel(facts_, "none")), limit);
}

TEST_P(CubinVectors, ReadsNames) {
  const KernelFacts& scale = kernel(facts_, "_Z5scaleIfEvPT_PKS0_fm");
  EXPECT_EQ(scale.demangled, "scale<float>(float*, float const*, float, unsigned long)");
  EXPECT_EQ(scale.params.value()[1].type, "float const*");
  EXPECT_TRUE(scale.params.value()[1].read_only);
  EXPECT_EQ(scale.params.value()[3].dtype, DType::kU64);
  EXPECT_EQ(&find_kernel(facts_, "scale", "<cubin>"), &scale);
  EXPECT_EQ(&find_kernel(facts_, "scale< float >", "<cubin>"), &scale);
  EXPECT_EQ(kernel(facts_, "_Z8internalPi").demangled, "internal(int*)");
}

TEST_P(CubinVectors, ReadsVariables) {
  const auto variable = [&](std::string_view name) {
    const auto found = std::find_if(facts_.variables.begin(), facts_.variables.end(),
                                    [&](const VariableFacts& v) { return v.name == name; });
    return found == facts_.variables.end() ? VariableFacts{} : *found;
  };
  EXPECT_EQ(variable("ctab").size, 20u);
  EXPECT_TRUE(variable("ctab").constant);
  EXPECT_EQ(variable("gdat").size, 28u);
  EXPECT_FALSE(variable("gdat").constant);
  EXPECT_EQ(variable("ginit").size, 4u);
}

TEST_P(CubinVectors, ReadsClustersAndProgrammaticLaunch) {
  EXPECT_EQ(kernel(facts_, "none").waits, false);
  if (GetParam().sm < 90) return;
  EXPECT_EQ(kernel(facts_, "ranked").max_threads, 128u);
  EXPECT_FALSE(kernel(facts_, "ranked").required_cluster);
  EXPECT_EQ(kernel(facts_, "ranked").max_cluster, 8u);
  EXPECT_FALSE(kernel(facts_, "clustered").max_cluster);
  EXPECT_EQ(kernel(facts_, "clustered").required_cluster, (std::array<std::uint32_t, 3>{4, 2, 1}));
  EXPECT_EQ(kernel(facts_, "sized").required_block, (std::array<std::uint32_t, 3>{128, 2, 1}));
  EXPECT_FALSE(kernel(facts_, "sized").required_cluster);
  // PTX of CUDA 12 has no word for it.
  EXPECT_EQ(kernel(facts_, "sized").grid_in_clusters, GetParam().toolkit == "13.0");
  EXPECT_EQ(kernel(facts_, "clustered").grid_in_clusters, false);
  EXPECT_EQ(kernel(facts_, "waits").waits, true);
  EXPECT_EQ(kernel(facts_, "waits").triggers, false);
  EXPECT_EQ(kernel(facts_, "triggers").waits, true);
  EXPECT_EQ(kernel(facts_, "triggers").triggers, true);
  EXPECT_EQ(kernel(facts_, "calls_waiter").waits, true);
  EXPECT_EQ(kernel(facts_, "calls_waiter").triggers, false);
}

TEST(CubinFacts, FollowsCallsOfALinkedFile) {
  const ImageFacts facts = facts_of(bytes_of("linked_sm_90"));
  EXPECT_EQ(kernel(facts, "calls_waiter").waits, true);
  EXPECT_EQ(kernel(facts, "calls_waiter").triggers, false);
  // Whatever the pointer points to is not known.
  EXPECT_EQ(kernel(facts, "calls_pointer").waits, std::nullopt);
  EXPECT_EQ(kernel(facts, "none").waits, false);
}

// Code is scanned to its end: a wait in the last slot counts, one in front of the section's end
// that never executes does not.
TEST(CubinFacts, TheLastInstructionOfASectionCounts) {
  constexpr std::uint32_t kProgbits = 1;
  constexpr std::size_t kSlot = 16;
  std::string bytes = bytes_of("vectors_sm_90");
  ASSERT_EQ(kernel(facts_of(bytes), "none").waits, false);
  const image::ElfFile file(bytes, "vectors_sm_90", "cubin");
  const image::ElfSection* code = file.section(".text.none", kProgbits);
  ASSERT_NE(code, nullptr);
  ASSERT_EQ(code->size % kSlot, 0u);
  const auto with_last = [&](std::uint64_t instruction) {
    std::string changed = bytes;
    std::memcpy(changed.data() + code->offset + code->size - kSlot, &instruction,
                sizeof instruction);
    return kernel(facts_of(changed), "none");
  };
  EXPECT_EQ(with_last(0x782e).waits, true);
  EXPECT_EQ(with_last(0xf82e).waits, false);
  EXPECT_EQ(with_last(0x782d).triggers, true);
}

TEST(CubinFacts, AnObjectIsListedAndSaidNotToBeLinked) {
  const ImageFacts facts = facts_of(bytes_of("relocatable_sm_90"));
  ASSERT_FALSE(facts.remarks.empty());
  EXPECT_TRUE(facts.remarks[0].starts_with("not linked"));
  EXPECT_EQ(layout(facts, "params").size(), 5u);
  EXPECT_EQ(kernel(facts, "waits").waits, std::nullopt);
  EXPECT_EQ(kernel(facts, "shared").static_shared, std::nullopt);
}

// CUDA 12 writes ABI version 7, whose e_flags are laid out otherwise.
TEST(CubinFacts, ReadsTheHeaderOfAbi7) {
  std::string bytes = bytes_of("vectors_sm_90");
  bytes[7] = 0x33;
  bytes[8] = 7;
  const std::uint32_t flags = 0x005a055a;
  std::memcpy(bytes.data() + 48, &flags, sizeof flags);
  EXPECT_EQ(facts_of(bytes).arch, "sm_90");
  const std::uint32_t accelerated = flags | 0x800;
  std::memcpy(bytes.data() + 48, &accelerated, sizeof accelerated);
  EXPECT_EQ(facts_of(bytes).arch, "sm_90a");
  EXPECT_EQ(kernel(facts_of(bytes), "shared").static_shared, 400u);
}

TEST(CubinFacts, AKernelWithoutASectionOfItsOwnHasNoSharedMemory) {
  EXPECT_EQ(kernel(facts_of(bytes_of("linked_sm_90")), "none").static_shared, 0u);
  EXPECT_EQ(kernel(facts_of(bytes_of("linked_sm_90")), "shared").static_shared, 400u);
  EXPECT_EQ(kernel(facts_of(bytes_of("debug_lines")), "_Z6secondPi").static_shared, 0u);
}

TEST(CubinFacts, SaysWhatDebuggersFind) {
  EXPECT_EQ(facts_of(bytes_of("debug_lines")).debug, DebugInfo::kLines);
  EXPECT_EQ(facts_of(bytes_of("debug_full")).debug, DebugInfo::kFull);
}

TEST(CubinFacts, DebugInformationNamesParameters) {
  EXPECT_EQ(kernel(facts_of(bytes_of("debug_full")), "_Z6secondPi").params.value()[0].name, "out");
  EXPECT_EQ(kernel(facts_of(bytes_of("debug_lines")), "_Z6secondPi").params.value()[0].name, "");
}

TEST(CubinFacts, AnUnknownAbiGivesNamesAlone) {
  std::string bytes = bytes_of("vectors_sm_90");
  bytes[8] = 9;
  const ImageFacts facts = facts_of(bytes);
  EXPECT_TRUE(facts.arch.empty());
  EXPECT_FALSE(kernel(facts, "params").params);
  EXPECT_FALSE(kernel(facts, "waits").waits);
  EXPECT_FALSE(facts.remarks.empty());
}

TEST(CubinFacts, MachineCodeAndPtxAreMerged) {
  const ImageFacts ptx = read_facts(Image::from_bytes(R"(.version 9.0
.target sm_80
.address_size 64
.entry params(.param .u8 a, .param .u32 b, .param .u64 c, .param .align 8 .b8 d[16], .param .u8 e)
{ .reg .b64 %rd<3>; ld.param.u64 %rd1, [c]; cvta.to.global.u64 %rd2, %rd1; ret; }
.entry aligned(.param .align 64 .b8 p[128], .param .u64 o) { ret; }
.entry bounds(.param .u32 wrong) { ret; }
)",
                                                      "<ptx>"));
  const ImageFacts cubin = facts_of(bytes_of("vectors_sm_80"));
  for (const ImageFacts& merged : {merge_facts(ptx, cubin), merge_facts(cubin, ptx)}) {
    EXPECT_EQ(kernel(merged, "params").params.value()[2].kind, ParamKind::kPointer);
    EXPECT_EQ(kernel(merged, "params").registers, kernel(cubin, "params").registers);
    EXPECT_EQ(kernel(merged, "aligned").params.value()[0].offset, 0x20u);
    EXPECT_EQ(kernel(merged, "bounds").params.value()[0].size, 8u);
    EXPECT_EQ(merged.kernels.size(), cubin.kernels.size());
    EXPECT_EQ(merged.remarks.size(), 1u);
  }
}

TEST(CubinFacts, RefusesWhatIsNoCubin) {
  const std::string whole = bytes_of("vectors_sm_90");
  EXPECT_THROW(Image::from_bytes("", "x"), Error);
  EXPECT_THROW(Image::from_bytes("\x7f"
                                 "ELF",
                                 "x"),
               Error);
  EXPECT_THROW(facts_of(whole.substr(0, 63)), Error);
  std::string host = whole;
  host[18] = 62;  // EM_X86_64
  EXPECT_THROW(Image::from_bytes(host, "x"), Error);
}

// Damage must cost an error or facts, never a crash, and nothing outside the bytes may be read.
void survives(const std::string& bytes) {
  // A buffer of just that size lets the sanitizer see a read past it.
  try {
    const ImageFacts facts = facts_of(bytes);
    for (const KernelFacts& each : facts.kernels) EXPECT_FALSE(each.name.empty());
  } catch (const Error& refused) {
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
  }
}

TEST(CubinFacts, SurvivesBeingCutAnywhere) {
  for (const Vector& vector : kVectors) {
    const std::string whole = bytes_of(vector.name);
    for (std::size_t size = 0; size < whole.size(); size += 64) survives(whole.substr(0, size));
  }
}

TEST(CubinFacts, SurvivesDamagedHeaders) {
  const std::string whole = bytes_of("vectors_sm_90a");
  std::uint64_t table = 0;
  std::memcpy(&table, whole.data() + 40, sizeof table);
  const auto damage = [&](std::size_t at) {
    for (const char mask : {'\xff', '\x80', '\x01'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      survives(damaged);
    }
  };
  for (std::size_t at = 0; at < 64; ++at) damage(at);
  for (std::size_t at = table; at < whole.size(); at += 5) damage(at);
}

TEST(CubinFacts, SurvivesDamagedAttributes) {
  const std::string whole = bytes_of("vectors_sm_90a");
  const image::Cubin cubin(whole, "<cubin>");
  for (const image::Cubin::Section& section : cubin.sections()) {
    const bool is_table = section.type == image::Cubin::kInfo || section.name == ".symtab" ||
                          section.type == image::Cubin::kCallGraph ||
                          section.type == image::Cubin::kCompat || section.name == ".strtab" ||
                          section.name == ".note.nv.tkinfo";
    if (!is_table) continue;
    const auto start = static_cast<std::size_t>(section.bytes.data() - whole.data());
    for (std::size_t i = 0; i < section.bytes.size(); i += 3) {
      std::string damaged = whole;
      damaged[start + i] = static_cast<char>(damaged[start + i] ^ 0xff);
      survives(damaged);
    }
  }
}

}  // namespace
}  // namespace baton::cubin_facts_test
