#include "shim/record/functions.h"

#include <atomic>
#include <mutex>

#include "shim/record/embedded.h"
#include "shim/record/journal.h"
#include "shim/record/real_driver.h"

namespace baton::recorder {
namespace {

// Open addressing. What is found is never freed: another thread may look at it.
constexpr std::size_t kSlots = 1 << 16;
constexpr std::size_t kProbes = 256;
std::atomic<const KnownFunction*> g_slots[kSlots];
std::mutex g_writers;

std::size_t place_of(std::uint64_t function) {
  return static_cast<std::size_t>(function * 0x9E3779B97F4A7C15U >> 48U);
}

const KnownFunction* find(std::uint64_t function) {
  std::size_t at = place_of(function);
  for (std::size_t k = 0; k < kProbes; ++k, at = (at + 1) % kSlots) {
    const KnownFunction* const found = g_slots[at].load(std::memory_order_acquire);
    if (found == nullptr) return nullptr;
    if (found->function == function) return found;
  }
  return nullptr;
}

void keep(const KnownFunction* known) {
  std::size_t at = place_of(known->function);
  for (std::size_t k = 0; k < kProbes; ++k, at = (at + 1) % kSlots) {
    const KnownFunction* const found = g_slots[at].load(std::memory_order_relaxed);
    if (found != nullptr && found->function != known->function && found->function != 0) continue;
    return g_slots[at].store(known, std::memory_order_release);
  }
}

// A handle may be a CUfunction or a CUkernel: the one whose functions answer.
struct Questions {
  CUresult (*name)(const char**, CUfunction) = nullptr;
  CUresult (*module)(CUmodule*, CUfunction) = nullptr;
  CUresult (*param)(CUfunction, std::size_t, std::size_t*, std::size_t*) = nullptr;
};

const Questions& questions(bool kernel) {
  static const Questions both[] = {
      {real<CUresult(const char**, CUfunction)>("cuFuncGetName"),
       real<CUresult(CUmodule*, CUfunction)>("cuFuncGetModule"),
       real<CUresult(CUfunction, std::size_t, std::size_t*, std::size_t*)>("cuFuncGetParamInfo")},
      {real<CUresult(const char**, CUfunction)>("cuKernelGetName"),
       real<CUresult(CUmodule*, CUfunction)>("cuKernelGetLibrary"),
       real<CUresult(CUfunction, std::size_t, std::size_t*, std::size_t*)>(
           "cuKernelGetParamInfo")}};
  return both[kernel ? 1 : 0];
}

void read_params(const Questions& ask, CUfunction function, KnownFunction& known) {
  if (ask.param == nullptr) return;
  for (std::size_t k = 0;; ++k) {
    std::size_t offset = 0, size = 0;
    const CUresult result = ask.param(function, k, &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) break;  // after the last one
    if (result != CUDA_SUCCESS || offset + size > 65536) return;
    known.params.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
    known.param_bytes = std::max(known.param_bytes, static_cast<std::uint32_t>(offset + size));
  }
  known.params_known = true;
}

const KnownFunction& learn(std::uint64_t handle, std::uint64_t module) {
  const InsideCall inside;
  auto* const known = new KnownFunction{handle, module, false, 0, {}};
  const auto function = reinterpret_cast<CUfunction>(handle);
  std::string_view name;
  for (const bool kernel : {false, true}) {
    const Questions& ask = questions(kernel);
    const char* text = nullptr;
    if (ask.name == nullptr || ask.name(&text, function) != CUDA_SUCCESS || text == nullptr) {
      continue;
    }
    name = text;
    CUmodule owner = nullptr;
    if (module == 0 && ask.module != nullptr && ask.module(&owner, function) == CUDA_SUCCESS) {
      known->module = reinterpret_cast<std::uintptr_t>(owner);
    }
    read_params(ask, function, *known);
    break;
  }
  const record::FunctionNote text = {handle, known->module,
                                     static_cast<std::uint32_t>(known->params.size()),
                                     known->params_known ? 0 : record::kParamsUnknown};
  note(record::EventKind::kFunction, 0, next_order(), 0,
       {{&text, sizeof text},
        {known->params.data(),
         static_cast<std::uint32_t>(known->params.size() * sizeof(record::ParamNote))}},
       name);
  if (module == 0) note_embedded_images();
  const std::lock_guard lock(g_writers);
  keep(known);
  return *known;
}

}  // namespace

const KnownFunction& known_function(std::uint64_t function) {
  const KnownFunction* const known = find(function);
  return known != nullptr ? *known : learn(function, 0);
}

void note_function(std::uint64_t function, std::uint64_t module) {
  const KnownFunction* const known = find(function);
  if (known == nullptr || known->module != module) learn(function, module);
}

void forget_functions(std::uint64_t module) {
  static const KnownFunction kNone;
  const std::lock_guard lock(g_writers);
  for (auto& slot : g_slots) {
    const KnownFunction* const known = slot.load(std::memory_order_relaxed);
    if (known != nullptr && known->function != 0 &&
        (known->module == module || known->module == 0)) {
      slot.store(&kNone, std::memory_order_release);
    }
  }
}

}  // namespace baton::recorder
