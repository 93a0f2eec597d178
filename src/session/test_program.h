#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "driver/driver.h"

// What the tests of this room share: programs over the kernels of testdata/kernels.ptx.

namespace baton::session_test {

inline bool is_simulated(const Device& device) {
  return device.driver().simulator != nullptr;
}

// BATON_TEST_DEVICE, or the simulated GPU. A GPU's context takes seconds to make while other
// tests run, so the process keeps it.
inline Device open_device() {
  const char* spec = std::getenv("BATON_TEST_DEVICE");
  Device device = Device::open(spec != nullptr && *spec != '\0' ? spec : "sim");
  [[maybe_unused]] static const Device* const kept =
      is_simulated(device) ? nullptr : new Device(device);
  return device;
}

// A kernel of kernels.ptx, known by its own name.
inline std::string kernel(const std::string& name) {
  return "[kernels." + name + "]\nptx = \"kernels.ptx\"\nentry = \"" + name + "\"\n";
}

// A kernel of edges.ptx, known by its own name.
inline std::string edge_kernel(const std::string& name, const std::string& more = "") {
  return "[kernels." + name + "]\nptx = \"edges.ptx\"\nentry = \"" + name + "\"\n" + more;
}

inline std::string buffer(const std::string& name, const std::string& dtype,
                          const std::string& shape, const std::string& role,
                          const std::string& init = "") {
  return "[buffers." + name + "]\ndtype = \"" + dtype + "\"\nshape = " + shape + "\nrole = \"" +
         role + "\"\n" + (init.empty() ? "" : "init = \"" + init + "\"\n");
}

inline Program program(const std::string& text) {
  return Program::from_text(text, "test.toml", BATON_SOURCE_DIR "/src/session/testdata");
}

template <typename T>
std::vector<T> values(const Array& array) {
  std::vector<T> result(array.bytes.size() / sizeof(T));
  std::memcpy(result.data(), array.bytes.data(), array.bytes.size());
  return result;
}

template <typename T>
Array array(DType dtype, std::vector<std::int64_t> shape, const std::vector<T>& elements) {
  Array result{dtype, std::move(shape), std::string(elements.size() * sizeof(T), '\0')};
  std::memcpy(result.bytes.data(), elements.data(), result.bytes.size());
  return result;
}

// Parts of a program's text: an array of steps, branches side by side, and a copy of four elements.
inline std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return "[ " + text + " ]";
}
inline std::string parallel(const std::vector<std::vector<std::string>>& branches) {
  std::vector<std::string> texts;
  for (const std::vector<std::string>& branch : branches) texts.push_back(join(branch));
  return "{ parallel = " + join(texts) + " }";
}
inline std::string copy(const std::string& from, const std::string& to) {
  return "{ copy = { from = \"" + from + "\", to = \"" + to + "\", count = 4 } }";
}

// What preparing, binding and running it is refused with.
inline Error refusal_on(const std::function<Device()>& open, const std::string& text,
                        Bindings bindings = {}, const RunOptions& run = {}) {
  try {
    const Device device = open();
    Executable executable = Executable::prepare(program(text), device);
    executable.bind(std::move(bindings));
    executable.run(run);
  } catch (const Error& failure) {
    return failure;
  }
  ADD_FAILURE() << "was not refused";
  return Error(ErrorCode::kInternal, "");
}

inline Error refusal(const std::string& text, Bindings bindings = {}, const RunOptions& run = {}) {
  return refusal_on(open_device, text, std::move(bindings), run);
}

// Runs the tests on a device that is there.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      open_device();
    } catch (const Error& failure) {
      GTEST_SKIP() << failure.message();
    }
  }
};

}  // namespace baton::session_test
