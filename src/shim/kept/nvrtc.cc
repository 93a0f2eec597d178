// NVRTC has the PTX of what it compiled to machine code, and gives it to who asks.

#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "base/log.h"
#include "image/cubin/kept_ptx.h"
#include "shim/kept/hooks.h"

namespace baton::kept {
namespace {

using NvrtcResult = int;  // 0: success
using NvrtcSizeFunction = NvrtcResult (*)(void* program, std::size_t* bytes);
using NvrtcGetFunction = NvrtcResult (*)(void* program, char* bytes);

// NVIDIA's functions, and what was made of the programs that callers have the sizes of.
struct NvrtcState {
  std::mutex mutex;
  NvrtcSizeFunction cubin_size = nullptr;
  NvrtcGetFunction cubin = nullptr;
  NvrtcSizeFunction ptx_size = nullptr;
  NvrtcGetFunction ptx = nullptr;
  std::map<void*, std::string> kept;
};

NvrtcState& nvrtc() {
  static auto& state = *new NvrtcState;
  return state;
}

std::string fetched(NvrtcSizeFunction size, NvrtcGetFunction get, void* program) {
  std::size_t bytes = 0;
  if (size == nullptr || get == nullptr || size(program, &bytes) != 0) return {};
  std::string text(bytes, '\0');
  if (bytes == 0 || get(program, text.data()) != 0) return {};
  return text;
}

NvrtcResult get_cubin_size(void* program, std::size_t* bytes) {
  NvrtcState& state = nvrtc();
  const std::lock_guard lock(state.mutex);
  state.kept.erase(program);
  const NvrtcResult result = state.cubin_size(program, bytes);
  if (result != 0 || bytes == nullptr || *bytes == 0) return result;
  const std::string cubin = fetched(state.cubin_size, state.cubin, program);
  std::string ptx = fetched(state.ptx_size, state.ptx, program);
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  if (cubin.empty() || ptx.empty()) return result;
  try {
    std::string with = image::keep_ptx(cubin, ptx, "NVRTC's cubin");
    *bytes = with.size();
    state.kept[program] = std::move(with);
  } catch (const std::exception& failure) {
    log(LogLevel::kWarning, "the PTX of a cubin is not kept: {}", failure.what());
  }
  return result;
}

// Who asks for a cubin has asked for its size.
NvrtcResult get_cubin(void* program, char* bytes) {
  NvrtcState& state = nvrtc();
  const std::lock_guard lock(state.mutex);
  const auto found = state.kept.find(program);
  if (found == state.kept.end() || bytes == nullptr) return state.cubin(program, bytes);
  std::memcpy(bytes, found->second.data(), found->second.size());
  state.kept.erase(found);
  return 0;
}

}  // namespace

void* nvrtc_hook(const char* name, void* library, BatonFindFunction find) {
  void* hook = nullptr;
  if (std::strcmp(name, "nvrtcGetCUBINSize") == 0) hook = reinterpret_cast<void*>(get_cubin_size);
  if (std::strcmp(name, "nvrtcGetCUBIN") == 0) hook = reinterpret_cast<void*>(get_cubin);
  if (hook == nullptr) return nullptr;
  NvrtcState& state = nvrtc();
  const std::lock_guard lock(state.mutex);
  const auto own = [&](const char* each) { return find(library, each); };
  state.cubin_size = reinterpret_cast<NvrtcSizeFunction>(own("nvrtcGetCUBINSize"));
  state.cubin = reinterpret_cast<NvrtcGetFunction>(own("nvrtcGetCUBIN"));
  state.ptx_size = reinterpret_cast<NvrtcSizeFunction>(own("nvrtcGetPTXSize"));
  state.ptx = reinterpret_cast<NvrtcGetFunction>(own("nvrtcGetPTX"));
  return hook;
}

}  // namespace baton::kept
