#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "driver/simulator.h"

namespace baton::shim {

// What a process tells `baton exec` while it runs: lines of JSON in a file of its own, each written
// whole, so that what was told before a process dies is there. Where a line cannot be written, the
// file's owner may not write it any more. Thread-safe.
//
//   {"event": "process", "pid": 7, "program": "/usr/bin/python3"}
//   {"event": "finding", "kind": "shared_race", ..., "count": 1}
//       when it is first seen, and again with its count when its context ends
//   {"event": "missing", "name": "cuTexObjectCreate", "count": 1}
//       at the first call of an entry that is not there, and again with its count at the end
//   {"event": "image", "what": "..."}   an image that does not run here
//   {"event": "call", "name": "cudaMalloc", "error": "cudaErrorMemoryAllocation (2): out of
//   memory",
//    "where": "fill+0x1f (a.out+0x11ce)", "through": "main+0x2a (a.out+0x1234)", "count": 1}
//       a call that returned an error, where asked for; again with its count at the end
//   {"event": "leak", "count": 3, "message": "..."}   memory that was never freed, where asked for
class ProcessReport {
 public:
  // Nothing is told before `open`, which is called once, before the process uses the GPU.
  static void open(const std::filesystem::path& folder);
  // The same for another library of the process, whose file is the same; a no-op where it is open.
  static void append_to(const std::filesystem::path& folder);
  static bool is_open();

  static void finding(const driver::Finding& finding);
  static void findings(std::span<const driver::Finding> findings);
  static void missing(std::string_view name, unsigned long long count);
  static void call(std::string_view name, std::string_view error, std::string_view where,
                   std::string_view through, unsigned long long count);
  static void image(std::string_view what);
  static void leak(std::uint64_t count, std::string_view what);
};

}  // namespace baton::shim
