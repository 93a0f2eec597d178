#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "baton/baton.h"

namespace baton::conformance {

// One suite for every device: BATON_TEST_DEVICE names it (sim where it is unset), and a test skips
// with the reason where there is no such device. Nothing in a test asks what kind of device it is.
class Conformance : public testing::Test {
 protected:
  void SetUp() override;

  const Device& device() const { return *device_; }

  // Compiles tests/conformance/kernels/FILE for the device and loads it.
  Module load(std::string_view file, std::vector<std::string> entries = {}) const;
  // Loads a prebuilt image of that folder.
  Module load_image(std::string_view file) const;

  // Runs `kernel(out, in..., n)` with one thread an element; all inputs have equal sizes.
  template <typename Out, typename First, typename... Rest>
  std::vector<Out> map(const Kernel& kernel, const std::vector<First>& first,
                       const std::vector<Rest>&... rest) const {
    const auto n = static_cast<unsigned>(first.size());
    const Buffer<Out> out(device(), first.size());
    kernel.launch({.grid = ceil_div(n, 128u), .block = 128}, out,
                  Buffer<First>::of(device(), first), Buffer<Rest>::of(device(), rest)..., n);
    return out.download();
  }

 private:
  std::unique_ptr<Device> device_;
};

// The device that the suite runs on; throws where it is absent.
Device open_test_device();

std::string kernel_path(std::string_view file);

// Runs the statement and expects an Error of that code whose text holds every one of `parts`.
template <typename Statement>
void expect_error(ErrorCode code, std::initializer_list<std::string_view> parts,
                  Statement statement) {
  try {
    statement();
    ADD_FAILURE() << "no error; " << to_string(code) << " was expected";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), code) << failure.what();
    for (std::string_view part : parts) {
      EXPECT_NE(std::string_view(failure.what()).find(part), std::string_view::npos)
          << "\"" << part << "\" is not in: " << failure.what();
    }
  }
}

}  // namespace baton::conformance
