#include "conformance/conformance.h"

#include <cstdlib>

namespace baton::conformance {

Device open_test_device() {
  const char* chosen = std::getenv("BATON_TEST_DEVICE");
  return Device::open(chosen != nullptr && *chosen != '\0' ? chosen : "sim");
}

std::string kernel_path(std::string_view file) {
  return std::string(BATON_SOURCE_DIR "/tests/conformance/kernels/").append(file);
}

void Conformance::SetUp() {
  try {
    device_ = std::make_unique<Device>(open_test_device());
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kNoDevice) throw;
    GTEST_SKIP() << failure.what();
  }
}

Module Conformance::load(std::string_view file, std::vector<std::string> entries) const {
  CompileOptions options;
  options.entries = std::move(entries);
  return compile(device(), Source::from_file(kernel_path(file)), options);
}

Module Conformance::load_image(std::string_view file) const {
  return Module::load(device(), Image::from_file(kernel_path(file)));
}

}  // namespace baton::conformance
