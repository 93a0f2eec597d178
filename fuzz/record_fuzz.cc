#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "baton/device.h"
#include "baton/error.h"
#include "record/events.h"
#include "record/judge.h"
#include "replay/replay.h"

// A file of events, any bytes: read, judged and replayed with one image for all digests. A replay
// that would take long is stopped.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string image =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 x, .param .u64 y)\n{\n .reg .b64 %rd<3>;\n .reg .b32 %r<2>;\n"
      " ld.param.u64 %rd1, [x];\n ld.param.u64 %rd2, [y];\n ld.global.u32 %r1, [%rd1];\n"
      " griddepcontrol.wait;\n st.global.u32 [%rd2], %r1;\n ret;\n}\n";
  try {
    const baton::record::ProcessRecord process =
        baton::record::read_events(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
    const baton::record::ImageBytes images = [](const auto&) { return std::optional(image); };
    baton::record::judge(process, images);
    const baton::replay::RecordFiles files = {
        images, [](const baton::record::ContentsNote& note) {
          return note.bytes > 4096 ? std::nullopt : std::optional(std::string(note.bytes, 'x'));
        }};
    static const baton::Device device = baton::Device::open("sim:tiny");
    baton::replay::ReplayOptions options;
    options.timeout = std::chrono::milliseconds(100);
    baton::replay::replay(device, process, files, options);
  } catch (const baton::Error&) {
  }
  return 0;
}
