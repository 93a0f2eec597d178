// Hooks of the functions that launch a kernel.

#include <cuda.h>

#include <cstdint>

#include "record/call_meaning.h"
#include "shim/record/functions.h"
#include "shim/record/journal.h"
#include "shim/record/params.h"
#include "shim/record/real_driver.h"

namespace baton::recorder {
namespace {

static_assert(sizeof(CUlaunchAttribute) == sizeof(record::AttributeNote));

struct LaunchHook {
  void* real = nullptr;
  unsigned number = 0;
};
LaunchHook g_kernel[2], g_kernel_ex[2], g_cooperative[2];  // by default stream

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
