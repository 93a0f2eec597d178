#include <cstring>
#include <limits>

#include "conformance/conformance.h"
#include "conformance/kernels/arguments.h"

namespace baton::conformance::argument_test {
namespace {

class Arguments : public Conformance {
 protected:
  template <typename T>
  void echo(const Module& module, const std::string& type, std::initializer_list<T> values) {
    const Kernel kernel = module.kernel("echo<" + type + ">");
    const Buffer<T> out(device(), 1);
    for (const T& value : values) {
      kernel.launch({}, out, value);
      T got{};
      device().synchronize();
      const Stream stream(device());
      out.download(std::span(&got, 1), stream);
      stream.synchronize();
      EXPECT_EQ(std::memcmp(&got, &value, sizeof(T)), 0) << type;
    }
  }
};

TEST_F(Arguments, OfEveryWidthArrive) {
  const std::vector<std::string> types = {
      "bool",         "signed char", "unsigned char",      "short", "unsigned short", "int",
      "unsigned int", "long long",   "unsigned long long", "float", "double",         "Tiny",
      "Twelve",       "Aligned16"};
  std::vector<std::string> entries;
  for (const std::string& type : types) entries.push_back("echo<" + type + ">");
  const Module module = load("arguments.cu", entries);
  echo<bool>(module, "bool", {true, false});
  echo<signed char>(module, "signed char", {-128, -1, 0, 127});
  echo<unsigned char>(module, "unsigned char", {0, 200, 255});
  echo<short>(module, "short", {-32768, -1, 0, 32767});
  echo<unsigned short>(module, "unsigned short", {0, 65535});
  echo<int>(module, "int", {std::numeric_limits<int>::min(), -1, 0, 1 << 30});
  echo<unsigned>(module, "unsigned int", {0u, ~0u});
  echo<long long>(module, "long long", {std::numeric_limits<long long>::min(), -1, 1LL << 40});
  echo<unsigned long long>(module, "unsigned long long", {0ull, ~0ull, 1ull << 63});
  echo<float>(module, "float", {0.0f, -0.0f, 1.5f, std::numeric_limits<float>::infinity(), 1e-45f});
  echo<double>(module, "double", {0.0, -1.0 / 3, std::numeric_limits<double>::denorm_min()});
  echo<Tiny>(module, "Tiny", {Tiny{7}});
  Twelve twelve{};
  twelve.a = -5, twelve.b = 2.25f, twelve.c = -9;
  const Kernel kernel = module.kernel("echo<Twelve>");
  const Buffer<Twelve> out(device(), 1);
  kernel.launch({}, out, twelve);
  const Twelve got = out.download()[0];
  EXPECT_EQ(got.a, -5);
  EXPECT_EQ(got.b, 2.25f);
  EXPECT_EQ(got.c, -9);
  echo<Aligned16>(module, "Aligned16", {Aligned16{1, 2, 3, 4}});
}

TEST_F(Arguments, KeepTheirAlignmentBesideOthers) {
  const Kernel kernel = load("arguments.cu").kernel("mixed");
  const Buffer<Mixed> out(device(), 1);
  kernel.launch({}, out, 'x', -1.25, static_cast<short>(-77), Aligned16{1, 2, 3, 4}, true,
                0x0123456789abcdefull, Tiny{250}, 3.5f);
  const Mixed got = out.download()[0];
  EXPECT_EQ(got.a, 'x');
  EXPECT_EQ(got.b, -1.25);
  EXPECT_EQ(got.c, -77);
  EXPECT_EQ(got.d.x, 1);
  EXPECT_EQ(got.d.w, 4);
  EXPECT_TRUE(got.e);
  EXPECT_EQ(got.f, 0x0123456789abcdefull);
  EXPECT_EQ(got.g.value, 250);
  EXPECT_EQ(got.h, 3.5f);
}

TEST_F(Arguments, MayBeLargeStructs) {
  const Module module = load("arguments.cu");
  Large large;
  unsigned want = 0;
  for (unsigned i = 0; i < kLargeWords; ++i) {
    large.words[i] = i * 2654435761u;
    want = want * 31 + large.words[i];
  }
  const Buffer<unsigned> out(device(), 1);
  module.kernel("sum_large").launch({}, out, large);
  EXPECT_EQ(out.download()[0], want);

  const Buffer<unsigned> picked(device(), 128);
  module.kernel("pick").launch({.block = 128}, picked, large, 37);
  const auto got = picked.download();
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(got[i], large.words[i * 37 % kLargeWords]) << i;
}

TEST_F(Arguments, MayBeNone) {
  const Kernel nothing = load("arguments.cu").kernel("nothing");
  nothing.launch({.grid = 3, .block = 5});
  device().synchronize();
  expect_error(ErrorCode::kInvalidInput, {"nothing takes 0 arguments", "1 was given"},
               [&] { nothing.launch({}, 1); });
}

TEST_F(Arguments, MayBeMoreThanFitTheStack) {
  const Kernel kernel = load("arguments.cu").kernel("many");
  const int weights[] = {1, 3, 5, 7, 11, 13, 17, 19, 23, 29};
  const Buffer<int> out(device(), 1);
  const DevicePointer<int> pointer = out.data();
  std::vector<int> values(80);
  std::vector<Argument> arguments = {{&pointer, sizeof(pointer), true, {}}};
  int want = 0;
  for (int i = 0; i < 80; ++i) {
    values[i] = i * i - 100;
    want += weights[i / 8] * (i % 8 + 1) * values[i];
    arguments.push_back({&values[i], sizeof(int), false, DType::kI32});
  }
  kernel.launch_arguments({}, arguments);
  EXPECT_EQ(out.download()[0], want);
}

TEST_F(Arguments, MayBeAddressesInMemory) {
  const Module module = load("arguments.cu");
  const Buffer<int> target(device(), 1);
  const auto from = Buffer<DeviceAddress>::of(device(), std::vector{target.data().address});
  const Buffer<DeviceAddress> to(device(), 1);
  module.kernel("swap_pointers").launch({}, from, to);
  EXPECT_EQ(to.download()[0], target.data().address);

  const Buffer<int> is_null(device(), 1);
  const Kernel null_is_null = module.kernel("null_is_null");
  null_is_null.launch({}, is_null, nullptr);
  EXPECT_EQ(is_null.download()[0], 1);
  null_is_null.launch({}, is_null, DevicePointer<float>{target.data().address});
  EXPECT_EQ(is_null.download()[0], 0);
  null_is_null.launch({}, is_null, target.memory());
  EXPECT_EQ(is_null.download()[0], 0);
}

TEST_F(Arguments, ThatDoNotFitAreRefusedWithTheSignature) {
  const Module module = load("streams.cu");
  const Kernel add = module.kernel("add");
  const Buffer<int> values(device(), 1);
  expect_error(ErrorCode::kInvalidInput, {"kernel add takes 3 arguments", "2 were given"},
               [&] { add.launch({}, values, 1); });
  expect_error(ErrorCode::kInvalidInput, {"argument 1", "8 bytes", "has 4"},
               [&] { add.launch({}, values, 1LL, 1u); });
  expect_error(ErrorCode::kInvalidInput, {"argument 0", "4 bytes", "has 8"},
               [&] { add.launch({}, 1, 1, 1u); });
  expect_error(ErrorCode::kInvalidInput, {"argument 1", "8 bytes"},
               [&] { add.launch({}, values, 1.0, 1u); });
  const Kernel slow = module.kernel("slow_add");
  expect_error(ErrorCode::kInvalidInput, {"argument 1", "f32"},
               [&] { slow.launch({}, values, 1.0f, 1u, 1u); });
}

}  // namespace
}  // namespace baton::conformance::argument_test
