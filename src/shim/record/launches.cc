// Hooks of the functions that launch a kernel.

#include <cuda.h>

#include <cstdint>
#include <cstring>

#include "record/call_meaning.h"
#include "shim/record/functions.h"
#include "shim/record/journal.h"
#include "shim/record/real_driver.h"

namespace baton::recorder {
namespace {

static_assert(sizeof(CUlaunchAttribute) == sizeof(record::AttributeNote));

struct LaunchHook {
  void* real = nullptr;
  unsigned number = 0;
};
LaunchHook g_kernel[2], g_kernel_ex[2], g_cooperative[2];  // by default stream

// More than any kernel has.
constexpr std::uint32_t kMaxParamBytes = 32768;

// A launch's bytes of parameters, in one block.
class Params {
 public:
  Params(const KnownFunction& known, void** params, void** extra) {
    if (extra != nullptr) {
      take_extra(extra);
      return;
    }
    if (!known.params_known || known.param_bytes > kMaxParamBytes) return;
    if (params == nullptr && !known.params.empty()) return;
    is_known_ = true;
    size_ = known.param_bytes;
    std::memset(own_, 0, size_);
    for (std::size_t k = 0; k < known.params.size(); ++k) {
      if (params[k] == nullptr) {
        is_known_ = false;
        size_ = 0;
        return;
      }
      std::memcpy(own_ + known.params[k].offset, params[k], known.params[k].size);
    }
  }

  bool is_known() const { return is_known_; }
  EventPart part() const { return {bytes_, size_}; }

 private:
  void take_extra(void** extra) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) bytes = extra[1];
      if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
        std::memcpy(&size, extra[1], sizeof size);
      }
    }
    if (size > kMaxParamBytes || (bytes == nullptr && size != 0)) return;
    bytes_ = bytes;
    size_ = static_cast<std::uint32_t>(size);
    is_known_ = true;
  }

  char own_[kMaxParamBytes];
  const void* bytes_ = own_;
  std::uint32_t size_ = 0;
  bool is_known_ = false;
};

record::EventHeader* note_launch(unsigned number, record::LaunchEvent launch,
                                 const CUlaunchAttribute* attributes, void** params, void** extra) {
  const Params given(known_function(launch.function), params, extra);
  launch.param_bytes = given.part().size;
  if (!given.is_known()) launch.flags |= record::kParamsUnknown;
  const auto size = static_cast<std::uint32_t>(launch.attributes * sizeof(record::AttributeNote));
  return note(record::EventKind::kLaunch, number, next_order(), record::kNotReturned,
              {{&launch, sizeof launch}, {attributes, size}, given.part()});
}

std::uint64_t word(const void* handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

template <bool kOwnStream>
CUresult launch(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                unsigned by, unsigned bz, unsigned shared, CUstream stream, void** params,
                void** extra) {
  const LaunchHook& hooked = g_kernel[kOwnStream];
  const auto call = reinterpret_cast<decltype(&::cuLaunchKernel)>(hooked.real);
  if (InsideCall::is_on()) {
    return call(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
  }
  const InsideCall inside;
  record::EventHeader* const event = note_launch(
      hooked.number, {word(function), word(stream), {gx, gy, gz}, {bx, by, bz}, shared, 0, 0, 0},
      nullptr, params, extra);
  const CUresult result = call(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
  if (event != nullptr) event->result = result;
  return result;
}

template <bool kOwnStream>
CUresult launch_cooperative(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, CUstream stream,
                            void** params) {
  const LaunchHook& hooked = g_cooperative[kOwnStream];
  const auto call = reinterpret_cast<decltype(&::cuLaunchCooperativeKernel)>(hooked.real);
  if (InsideCall::is_on()) {
    return call(function, gx, gy, gz, bx, by, bz, shared, stream, params);
  }
  const InsideCall inside;
  record::EventHeader* const event = note_launch(hooked.number,
                                                 {word(function),
                                                  word(stream),
                                                  {gx, gy, gz},
                                                  {bx, by, bz},
                                                  shared,
                                                  0,
                                                  0,
                                                  record::kCooperative},
                                                 nullptr, params, nullptr);
  const CUresult result = call(function, gx, gy, gz, bx, by, bz, shared, stream, params);
  if (event != nullptr) event->result = result;
  return result;
}

template <bool kOwnStream>
CUresult launch_ex(const CUlaunchConfig* config, CUfunction function, void** params, void** extra) {
  const LaunchHook& hooked = g_kernel_ex[kOwnStream];
  const auto call = reinterpret_cast<decltype(&::cuLaunchKernelEx)>(hooked.real);
  if (InsideCall::is_on() || config == nullptr) return call(config, function, params, extra);
  const InsideCall inside;
  const CUlaunchConfig& c = *config;
  const unsigned attributes = c.attrs == nullptr || c.numAttrs > 64 ? 0 : c.numAttrs;
  record::EventHeader* const event = note_launch(hooked.number,
                                                 {word(function),
                                                  word(c.hStream),
                                                  {c.gridDimX, c.gridDimY, c.gridDimZ},
                                                  {c.blockDimX, c.blockDimY, c.blockDimZ},
                                                  c.sharedMemBytes,
                                                  attributes,
                                                  0,
                                                  0},
                                                 c.attrs, params, extra);
  const CUresult result = call(config, function, params, extra);
  if (event != nullptr) event->result = result;
  return result;
}

}  // namespace

void* launch_hook(std::string_view symbol, void* real) {
  struct Row {
    std::string_view symbol;
    LaunchHook* hooked;
    void* hook;
  };
  static const Row rows[] = {
      {"cuLaunchKernel", &g_kernel[0], reinterpret_cast<void*>(launch<false>)},
      {"cuLaunchKernel_ptsz", &g_kernel[1], reinterpret_cast<void*>(launch<true>)},
      {"cuLaunchKernelEx", &g_kernel_ex[0], reinterpret_cast<void*>(launch_ex<false>)},
      {"cuLaunchKernelEx_ptsz", &g_kernel_ex[1], reinterpret_cast<void*>(launch_ex<true>)},
      {"cuLaunchCooperativeKernel", &g_cooperative[0],
       reinterpret_cast<void*>(launch_cooperative<false>)},
      {"cuLaunchCooperativeKernel_ptsz", &g_cooperative[1],
       reinterpret_cast<void*>(launch_cooperative<true>)}};
  for (const Row& row : rows) {
    if (row.symbol != symbol) continue;
    *row.hooked = {real, name_number(symbol)};
    return row.hook;
  }
  return nullptr;
}

}  // namespace baton::recorder
