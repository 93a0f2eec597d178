#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "baton/error.h"
#include "record/events.h"
#include "record/judge.h"

// A file of events, any bytes: read, and judged with one image for all digests.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string image =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 x, .param .u64 y)\n{\n .reg .b64 %rd<3>;\n .reg .b32 %r<2>;\n"
      " ld.param.u64 %rd1, [x];\n ld.param.u64 %rd2, [y];\n ld.global.u32 %r1, [%rd1];\n"
      " griddepcontrol.wait;\n st.global.u32 [%rd2], %r1;\n ret;\n}\n";
  try {
    const baton::record::ProcessRecord process =
        baton::record::read_events(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
    baton::record::judge(process, [](const auto&) { return std::optional(image); });
  } catch (const baton::Error&) {
  }
  return 0;
}
