// Random programs run on the engine as the plain interpreter runs them, in whatever order the text
// has their blocks. More of them: BATON_SIM_PROGRAMS=100000, others: BATON_SIM_SEED=7.

#include "sim/engine/lower/random_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>

#include "sim/engine/run/test_device.h"

namespace baton::sim::programs::random_program_test {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr std::uint32_t kBlocks = 2;

class RandomPrograms : public testing::Test {
 protected:
  // False, with the program's text, where something is not as the interpreter has it.
  bool agrees(const RandomProgram& program, const RandomInput& input, const std::vector<int>& order,
              const std::vector<std::uint64_t>& right) {
    const std::string text = ptx_of(program, order);
    const auto module = device_.load(text);
    const std::uint64_t out = device_.upload(std::vector<std::uint64_t>(right.size(), 0));
    const std::uint64_t scratch =
        device_.upload(std::vector<std::uint32_t>(kBlocks * input.threads * 8, 0));
    const auto grid = device_.run(module, "k", {kBlocks}, {input.threads}, out, scratch, input.word,
                                  input.number);
    bool good = true;
    for (const driver::Finding& finding : device_.engine.findings()) {
      ADD_FAILURE() << to_string(finding.kind) << ": " << finding.message << " at "
                    << finding.where;
      good = false;
    }
    const auto cells = device_.download<std::uint64_t>(out, right.size());
    const auto differs = std::mismatch(cells.begin(), cells.end(), right.begin());
    if (good && differs.first != cells.end()) {
      const auto at = static_cast<int>(differs.first - cells.begin());
      ADD_FAILURE() << "thread " << at / program.cells << " has " << *differs.first << " in cell "
                    << at % program.cells << ", not " << *differs.second;
      good = false;
    }
    if (!good) ADD_FAILURE() << text;
    device_.memory.free(out);
    device_.memory.free(scratch);
    return good;
  }

  // Whether the program runs right in all of these orders of its blocks.
  bool check(const RandomProgram& program, std::mt19937_64& random,
             const std::vector<std::vector<int>>& orders) {
    const RandomInput input{static_cast<std::uint32_t>(1 + random() % 70),
                            static_cast<std::uint32_t>(random() % 50), random()};
    std::vector<std::uint64_t> right;
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      for (std::uint32_t thread = 0; thread < input.threads; ++thread) {
        const auto cells = run_thread(program, input, block, thread);
        right.insert(right.end(), cells.begin(), cells.end());
      }
    }
    return std::all_of(orders.begin(), orders.end(), [&](const std::vector<int>& order) {
      return agrees(program, input, order, right);
    });
  }

  TestDevice device_;
};

TEST_F(RandomPrograms, OfFewBlocksRunRightInEveryOrder) {
  const std::uint64_t seed = number_from("BATON_SIM_SEED", 1);
  const std::uint64_t programs = number_from("BATON_SIM_PROGRAMS", 1000) / 10;
  for (std::uint64_t k = 0; k < programs; ++k) {
    std::mt19937_64 random(seed << 32 | k);
    const RandomProgram program = random_program(random, 4);
    std::vector<int> order = {0, 1, 2, 3};
    std::vector<std::vector<int>> orders;
    do {
      orders.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    ASSERT_TRUE(check(program, random, orders)) << "program " << k << " of seed " << seed;
  }
}

TEST_F(RandomPrograms, OfManyBlocksRunRightInRandomOrders) {
  const std::uint64_t seed = number_from("BATON_SIM_SEED", 1);
  const std::uint64_t programs = number_from("BATON_SIM_PROGRAMS", 1000);
  for (std::uint64_t k = 0; k < programs; ++k) {
    std::mt19937_64 random(~seed << 32 | k);
    const int blocks = static_cast<int>(5 + random() % 12);
    const RandomProgram program = random_program(random, blocks);
    std::vector<int> order(static_cast<std::size_t>(blocks));
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::vector<int>> orders = {order};
    for (int shuffles = 0; shuffles < 3; ++shuffles) {
      for (std::size_t at = order.size(); at > 1; --at) {
        std::swap(order[at - 1], order[random() % at]);
      }
      orders.push_back(order);
    }
    ASSERT_TRUE(check(program, random, orders)) << "program " << k << " of seed " << seed;
  }
}

}  // namespace
}  // namespace baton::sim::programs::random_program_test
