#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace baton::record {

// What a recorded call is for whoever reads the record.
enum class CallMeaning : std::uint8_t {
  kAllocate,       // words: address, bytes
  kAllocatePitch,  // words: address, bytes of a row, width, rows
  kFree,           // words: address
  kMap,            // words: address, bytes, offset, handle
  kUnmap,          // words: address, bytes
  kCopy,
  kFill,
  kStreamWork,  // other work in the order of a stream
  kHostFunction,
  kStreamCreate,
  kStreamDestroy,
  kSynchronize,
  kEventCreate,
  kEventDestroy,
  kEventRecord,
  kEventWait,
  kCaptureBegin,
  kCaptureEnd,
  kGraph,            // a graph is built, changed or destroyed
  kGraphKernelNode,  // a kernel node is added or changed without a capture
  kGraphInstantiate,
  kGraphLaunch,
  kUnload,           // words: module or library
  kModuleOfLibrary,  // words: module, library
};

// A row of recorded_calls.inc.
struct RecordedCall {
  std::string_view function;  // without _ptsz or _ptds
  CallMeaning meaning = CallMeaning::kGraph;
  std::uint32_t outputs = 0;
  int stream = -1;
};
std::span<const RecordedCall> recorded_calls();
// The row of a symbol, with or without _ptsz or _ptds; null: none.
const RecordedCall* find_call(std::string_view symbol);

// Whether the symbol takes the thread's own stream for the default one.
bool is_per_thread(std::string_view symbol);

}  // namespace baton::record
