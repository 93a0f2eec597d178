// What the analysis says that an instruction computes, against what it computes: the references of
// the instruction suite, which the simulated GPU and GPUs are held to. Operands are constants, or
// ranges whose members are tried one by one.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "instructions/suite.h"
#include "pdl/code/code.h"
#include "pdl/footprint/access_ranges.h"
#include "pdl/footprint/footprint.h"
#include "pdl/value/thread.h"
#include "pdl/value/value.h"

namespace baton::overlap::values_test {
namespace {

using instructions::Case;
using instructions::Family;
using instructions::Group;
using instructions::Match;
using OperandKind = instructions::Kind;

constexpr std::size_t kRows = 24;  // of operands, for each instruction
constexpr std::array<std::uint32_t, 4> kExtents = {1, 2, 33, 1024};

// What depends on the thread: the test gives it other ones.
constexpr const char* kIndexes[] = {"%index", "%tid", "%ctaid", "%ntid", "%nctaid", "%laneid"};

std::uint64_t low_bits(std::uint64_t bits, unsigned count) {
  return count >= 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
}

bool is_followed(OperandKind kind) {
  const instructions::KindInfo& facts = info(kind);
  const bool is_byte = kind == OperandKind::kU8 || kind == OperandKind::kS8;
  return facts.format == nullptr && facts.lanes == 1 && !is_byte;
}

// Whether the case computes one value from its operands alone.
bool is_plain(const Case& one) {
  return !one.inputs.empty() && std::ranges::all_of(one.inputs, is_followed) &&
         is_followed(one.results[0].kind) && one.results[0].match == Match::kBits &&
         one.rows.group == 1 && one.parameters.empty() && one.directives.empty() &&
         std::ranges::none_of(
             kIndexes, [&](const char* name) { return one.text.find(name) != std::string::npos; });
}

// Operand k is parameter k, plus an index of the thread where `varies`: the first one's of its
// block, the second one's of the block.
std::string text_of(const Case& one, const std::string& declarations, bool varies) {
  std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n" + declarations;
  text += ".visible .entry k(";
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    text += fmt::format("{}.param .u64 p{}", k == 0 ? "" : ", ", k);
  }
  text += ", .param .u64 base) {\n.reg .b64 %raw, %more; .reg .b32 %word; .reg .b16 %half;\n";
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    text += fmt::format(".reg .{} %{};\n", info(one.inputs[k]).reg, instructions::kInputNames[k]);
  }
  for (std::size_t k = 0; k < one.results.size(); ++k) {
    text += fmt::format(".reg .{} %{};\n", info(one.results[k].kind).reg,
                        instructions::kResultNames[k]);
  }
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    text += fmt::format("ld.param.u64 %raw, [p{}];\n", k);
    if (varies && k < 2) {
      text += fmt::format("cvt.u64.u32 %more, {}; add.u64 %raw, %raw, %more;\n",
                          k == 0 ? "%tid.x" : "%ctaid.x");
    }
    const std::string_view name = instructions::kInputNames[k];
    const unsigned bits = info(one.inputs[k]).bits;
    text += bits == 1    ? fmt::format("setp.ne.u64 %{}, %raw, 0;\n", name)
            : bits == 64 ? fmt::format("mov.u64 %{}, %raw;\n", name)
                         : fmt::format("cvt.u{}.u64 %{}, %raw;\n", bits, name);
  }
  text += one.text + "\n";
  const unsigned bits = info(one.results[0].kind).bits;
  if (bits == 1) text += "selp.u32 %word, 1, 0, %d; ";
  // The result as an offset, for what is told of addresses.
  text += bits == 64 ? "mov.u64 %more, %d;\n"
                     : fmt::format("cvt.u64.u{} %more, {};\n", bits == 1 ? 32 : bits,
                                   bits == 1 ? "%word" : "%d");
  text += "ld.param.u64 %raw, [base]; add.u64 %raw, %raw, %more; st.global.u8 [%raw], 0;\n";
  text += fmt::format("st.global.b{} [0], {};\nret;\n}}\n", bits == 1 ? 32 : bits,
                      bits == 1 ? "%word" : "%d");
  return text;
}

// Returns what the analysis knows of the value that the kernel stores last.
Value stored_value(const Code& code, const KnownThread& thread) {
  const std::vector<Value> values = find_values(code, thread);
  for (std::size_t at = code.operations.size(); at-- > 0;) {
    const Operation& operation = code.operations[at];
    if (operation.kind != Operation::Kind::kStore) continue;
    const ValueSource& source = operation.sources.front();
    return source.kind == ValueSource::Kind::kRegister ? values[source.id] : Value::varies();
  }
  return Value::varies();
}

class Checker {
 public:
  Checker(const Case& one, const std::string& declarations)
      : one_(one),
        constant_(read(declarations, false)),
        varying_(read(declarations, true)),
        graph_(*varying_.code) {}

  void check(std::mt19937_64& random) {
    const std::vector<std::uint64_t> rows = make_rows(one_.rows);
    const std::size_t width = one_.inputs.size(), count = rows.size() / width;
    for (std::size_t n = 0; n < kRows; ++n) {
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>(random() % count * width);
      operands_.assign(first, first + static_cast<std::ptrdiff_t>(width));
      check_constants();
      for (std::uint64_t& operand : operands_) operand -= random() % 3 == 0 ? random() % 8 : 0;
      check_ranges(kExtents[random() % kExtents.size()], kExtents[random() % kExtents.size()],
                   random);
    }
  }

  std::size_t constants() const { return constants_; }
  std::size_t ranges() const { return ranges_; }
  std::size_t offsets() const { return offsets_; }

 private:
  Footprint read(const std::string& declarations, bool varies) const {
    const auto module =
        ptx::ParsedModule::parse(text_of(one_, declarations, varies), "operands.ptx");
    return read_footprint(module, *module->function("k"), {});
  }

  // What the instruction gives thread `tid` of block `block`.
  std::uint64_t truth(std::uint32_t tid, std::uint32_t block) const {
    std::vector<std::uint64_t> inputs = operands_;
    inputs[0] += tid;
    if (inputs.size() > 1) inputs[1] += block;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const unsigned bits = info(one_.inputs[k]).bits;
      inputs[k] = bits == 1 ? (inputs[k] != 0 ? 1 : 0) : low_bits(inputs[k], bits);
    }
    std::vector<std::uint64_t> results(one_.results.size() * instructions::kSlotsPerResult);
    one_.reference(inputs.data(), results.data());
    return low_bits(results[0], info(one_.results[0].kind).bits);
  }

  KnownThread thread() {
    params_.assign(operands_.begin(), operands_.end());
    KnownThread thread;
    thread.params = params_;
    return thread;
  }

  void check_constants() {
    KnownThread known = thread();
    known.tid = known.index = {{0, 0, 0}};
    known.block = known.grid = {{1, 1, 1}};
    const Value value = stored_value(*constant_.code, known);
    if (!value.is_range()) return;
    constants_ += value.is_constant() ? 1 : 0;
    expect_holds(value, truth(0, 0));
  }

  void check_ranges(std::uint32_t threads, std::uint32_t blocks, std::mt19937_64& random) {
    KnownThread known = thread();
    known.tid.reset();
    known.index.reset();
    known.block = {{threads, 1, 1}};
    known.grid = {{blocks, 1, 1}};
    check_offsets(threads, blocks, random);
    const Value value = stored_value(*varying_.code, known);
    if (!value.is_range()) return;
    ranges_ += value.is_constant() ? 0 : 1;
    for (const std::uint32_t tid : {0u, threads - 1, std::uint32_t(random() % threads)}) {
      for (const std::uint32_t block : {0u, blocks - 1, std::uint32_t(random() % blocks)}) {
        expect_holds(value, truth(tid, block));
      }
    }
  }

  // The same of the address that the result is added to.
  void check_offsets(std::uint32_t threads, std::uint32_t blocks, std::mt19937_64& random) {
    std::vector<GivenArgument> given;
    for (const std::uint64_t operand : operands_) given.push_back(GivenArgument::scalar(operand));
    given.push_back(GivenArgument::pointer(1));
    const LaunchExtents extents{{threads, 1, 1}, {blocks, 1, 1}};
    const VariableNumber variable = [](std::string_view, bool) { return 2u; };
    AccessRanges addresses(varying_, graph_, given, extents, variable);
    for (const AccessGroup& group : varying_.accesses) {
      const std::optional<ReachedBytes> found = addresses.of(group);
      if (!found || found->memory != 1 || found->end - found->begin > std::int64_t{1} << 31)
        continue;
      ++offsets_;
      for (const std::uint32_t tid : {0u, threads - 1, std::uint32_t(random() % threads)}) {
        for (const std::uint32_t block : {0u, blocks - 1, std::uint32_t(random() % blocks)}) {
          const auto offset = static_cast<std::int64_t>(truth(tid, block));
          EXPECT_TRUE(found->begin <= offset && offset < found->end)
              << one_.text << "\n  operands from " << fmt::format("{:#x}", operands_[0]) << ": "
              << offset << " outside of [" << static_cast<std::int64_t>(found->begin) << ", "
              << static_cast<std::int64_t>(found->end) << ")";
        }
      }
    }
  }

  void expect_holds(const Value& value, std::uint64_t bits) const {
    const unsigned width = info(one_.results[0].kind).bits;
    const bool holds = value.is_constant() ? low_bits(value.bits, width) == bits
                                           : value.bits <= bits && bits <= value.most;
    EXPECT_TRUE(holds) << one_.text << "\n  operands from " << fmt::format("{:#x}", operands_[0])
                       << (operands_.size() > 1 ? fmt::format(", {:#x}", operands_[1]) : "")
                       << fmt::format("\n  known: {:#x} to {:#x}, is {:#x}", value.bits, value.most,
                                      bits);
  }

  const Case& one_;
  const Footprint constant_, varying_;
  const DefinitionGraph graph_;
  std::vector<std::uint64_t> operands_;
  std::vector<std::optional<std::uint64_t>> params_;
  std::size_t constants_ = 0, ranges_ = 0, offsets_ = 0;
};

TEST(KnownValues, HoldWhatInstructionsCompute) {
  std::mt19937_64 random(20261123);
  std::size_t cases = 0, constants = 0, ranges = 0, offsets = 0;
  for (const Family& family : instructions::all_families()) {
    for (const Group& group : family.groups) {
      for (const Case& one : group.cases()) {
        if (!is_plain(one)) continue;
        Checker checker(one, group.declarations());
        checker.check(random);
        ++cases;
        constants += checker.constants();
        ranges += checker.ranges();
        offsets += checker.offsets();
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(cases, 200u);
  EXPECT_GT(constants, 1000u);
  EXPECT_GT(ranges, 200u);
  EXPECT_GT(offsets, 1000u);
}

}  // namespace
}  // namespace baton::overlap::values_test
