#include "conformance/conformance.h"

namespace baton::conformance::variables_test {
namespace {

class Variables : public Conformance {
 protected:
  template <typename T>
  void write(const Memory& variable, const std::vector<T>& values) {
    const Stream stream(device());
    variable.upload(values.data(), values.size() * sizeof(T), 0, stream);
    stream.synchronize();
  }
  template <typename T>
  std::vector<T> read(const Memory& variable) {
    device().synchronize();
    std::vector<T> values(variable.bytes() / sizeof(T));
    const Stream stream(device());
    variable.download(values.data(), variable.bytes(), 0, stream);
    stream.synchronize();
    return values;
  }
};

TEST_F(Variables, StartWithTheirInitialValues) {
  const Module module = load("variables.cu");
  const Buffer<double> out(device(), 21);
  module.kernel("read_all").launch({}, out);
  EXPECT_EQ(out.download(),
            (std::vector<double>{10,  20,  30,  40, 0, 5, 0.5, -1.25, 1e100, 'b', 'a',
                                 't', 'o', 'n', 0,  0, 5, 1,   1,     2,     3}));
}

TEST_F(Variables, AreWrittenByTheHost) {
  const Module module = load("variables.cu");
  EXPECT_EQ(module.global("weights").second, 16u);
  write<int>(module.variable("weights"), {1, 2, 3, 4});
  write<float>(module.variable("scale"), {2.5f});
  write<int>(module.variable("counter"), {77});
  const Buffer<double> out(device(), 21);
  module.kernel("read_all").launch({}, out);
  const auto got = out.download();
  EXPECT_EQ(std::vector<double>(got.begin(), got.begin() + 6),
            (std::vector<double>{1, 2, 3, 4, 2.5, 77}));
  EXPECT_EQ(got[16], 77);
  const Buffer<int> gathered(device(), 32);
  module.kernel("gather").launch({.block = 32}, gathered);
  const auto values = gathered.download();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(values[i], i * 7 % 4 + 1) << i;
}

TEST_F(Variables, KeepTheirValuesBetweenLaunches) {
  const Module module = load("variables.cu");
  for (int i = 0; i < 3; ++i) module.kernel("count").launch({.grid = 4, .block = 32});
  EXPECT_EQ(read<int>(module.variable("counter"))[0], 5 + 3 * 128);
  module.kernel("write_zeroed").launch({.block = 100}, 1000);
  const auto zeroed = read<int>(module.variable("zeroed"));
  ASSERT_EQ(zeroed.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(zeroed[i], 1000 + i) << i;
}

TEST_F(Variables, BelongToTheirModule) {
  const Module one = load("variables.cu"), two = load("variables.cu");
  one.kernel("count").launch({.block = 32});
  EXPECT_EQ(read<int>(one.variable("counter"))[0], 37);
  EXPECT_EQ(read<int>(two.variable("counter"))[0], 5);
  EXPECT_NE(one.global("counter").first, two.global("counter").first);
}

TEST_F(Variables, HaveOneAddressForHostAndKernel) {
  const Module module = load("variables.cu");
  const Buffer<unsigned long long> out(device(), 2);
  module.kernel("addresses").launch({}, out);
  EXPECT_EQ(out.download(), (std::vector<unsigned long long>{module.global("counter").first,
                                                             module.global("zeroed").first}));
}

TEST_F(Variables, OutliveTheModuleHandle) {
  const Memory counter = load("variables.cu").variable("counter");
  EXPECT_EQ(read<int>(counter)[0], 5);
}

TEST_F(Variables, UnknownNamesAreErrors) {
  const Module module = load("variables.cu");
  expect_error(ErrorCode::kNotFound, {"no variable \"wieghts\"", "weights"},
               [&] { module.global("wieghts"); });
}

}  // namespace
}  // namespace baton::conformance::variables_test
