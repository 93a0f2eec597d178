// RunOptions::wants_states: what is downloaded after a run, counted at the driver's table.

#include <gmock/gmock.h>

#include "runtime/device_state.h"
#include "runtime/provider.h"
#include "session/test_program.h"

namespace baton::session_test::kept_states_test {
namespace {

using ::testing::Each;

struct Downloads {
  int copies = 0;
  std::size_t bytes = 0;
};
Downloads downloads;
const driver::Driver* real_driver = nullptr;

CUresult count_download(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  ++downloads.copies;
  downloads.bytes += bytes;
  return real_driver->cuMemcpyDtoHAsync(to, from, bytes, stream);
}

// A simulated device whose downloads are counted.
Device counted_device() {
  const DriverProvider& simulated = driver_providers().back();
  static driver::Driver table = *simulated.driver(nullptr);
  real_driver = simulated.driver(nullptr);
  table.cuMemcpyDtoHAsync = count_download;
  return DeviceState::handle(DeviceState::acquire(simulated, table, *simulated.ordinal("tiny")));
}

TEST(KeptStates, AreDownloadedWhenTheyAreWanted) {
  const std::string text = buffer("list", "i32", "[1024]", "state", "zeros") +
                           buffer("cache", "f32", "[4096]", "state", "zeros") +
                           buffer("done", "i32", "[1]", "output") +
                           buffer("noise", "i32", "[64]", "scratch") +
                           "[[steps]]\nfill = { buffer = \"list\", value = 7 }\n"
                           "[[steps]]\nfill = { buffer = \"noise\", value = 8 }\n"
                           "[[steps]]\nfill = { buffer = \"done\", value = 1 }\n";
  for (const ExecutorKind kind : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    Executable executable(LoadedProgram::load(program(text), counted_device()), kind);
    executable.bind();
    int asked = 0;
    bool are_wanted = false;
    RunOptions options;
    options.results = {"noise"};
    options.wants_states = [&] {
      ++asked;
      const Stream stream(executable.device());
      std::int32_t last = 0;
      executable.memory("list").download(&last, sizeof(last), 1023 * sizeof(last), stream);
      stream.synchronize();
      EXPECT_EQ(last, 7) << "the run is done";
      return are_wanted;
    };
    downloads = {};
    executable.run(options);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(downloads.copies, 2) << "the element that was asked for, and the output";
    EXPECT_EQ(downloads.bytes, 8u);
    EXPECT_THAT(values<std::int32_t>(executable.output("done")), Each(1));
    EXPECT_THROW(executable.output("list"), Error);
    EXPECT_THROW(executable.output("noise"), Error);

    are_wanted = true;
    executable.run(options);
    EXPECT_EQ(executable.output("cache").elements(), 4096);
    EXPECT_THAT(values<std::int32_t>(executable.output("list")), Each(7));
    EXPECT_THAT(values<std::int32_t>(executable.output("noise")), Each(8));
  }
}

}  // namespace
}  // namespace baton::session_test::kept_states_test
