#include "shim/host_frames.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unwind.h>

#include <cstdint>

#include "shim/preload/symbol_table.h"

namespace baton::shim {
namespace {

constexpr std::size_t kMostFrames = 64;

std::uintptr_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

// A return address may be that of the next function: the call ended its own.
_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* given) {
  auto& frames = *static_cast<std::vector<HostFrame>*>(given);
  const std::uintptr_t next = _Unwind_GetIP(context);
  if (next == 0 || frames.size() == kMostFrames) return _URC_END_OF_STACK;
  HostFrame frame{reinterpret_cast<const void*>(next - 1), {}, nullptr, {}};
  Dl_info facts = {};
  if (dladdr(frame.address, &facts) != 0) {
    frame.object = facts.dli_fname != nullptr ? facts.dli_fname : "";
    frame.base = facts.dli_fbase;
    frame.function = facts.dli_sname != nullptr ? facts.dli_sname : "";
  }
  frames.push_back(frame);
  return _URC_NO_REASON;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// The function of the file around the offset. Files that are loaded elsewhere than they say have
// symbols that count from their first byte.
std::string function_at(const char* path, std::uint64_t offset, bool is_moved, std::uint64_t base) {
  const preload::ReadOnlyFile file(path);
  const preload::SymbolTable table(file.bytes());
  std::string found;
  table.functions([&](std::string_view name, const Elf64_Sym& symbol) {
    const std::uint64_t begin = symbol.st_value - (is_moved ? 0 : base);
    if (offset < begin || offset - begin >= symbol.st_size) return;
    found = fmt::format("{}+{:#x}", name, offset - begin);
  });
  return found;
}

}  // namespace

std::vector<HostFrame> host_frames() {
  std::vector<HostFrame> frames;
  _Unwind_Backtrace(add_frame, &frames);
  if (!frames.empty()) frames.erase(frames.begin());
  return frames;
}

std::string describe(const HostFrame& frame) {
  if (frame.object.empty()) return fmt::format("{:#x}", number_of(frame.address));
  const std::uint64_t base = number_of(frame.base);
  const std::uint64_t offset = number_of(frame.address) - base;
  // The program itself has the path that it was started by, which may not lead there any more.
  const std::string path(frame.object);
  std::string function = function_at(path.c_str(), offset, true, base);
  if (function.empty()) function = function_at(path.c_str(), offset, false, base);
  if (function.empty()) function = function_at("/proc/self/exe", offset, true, base);
  const std::string place = fmt::format("{}+{:#x}", file_name(frame.object), offset);
  return function.empty() ? place : fmt::format("{} ({})", function, place);
}

}  // namespace baton::shim
