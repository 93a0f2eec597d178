// cuGetProcAddress of the recorder: the functions with hooks are the exported ones.

#include <cuda.h>

#include <set>
#include <string>
#include <string_view>

#include "shim/record/journal.h"
#include "shim/record/real_driver.h"
#include "shim/symbols.h"

extern "C" {
extern void* baton_slots[];
extern void* const baton_exports[];
}

namespace baton::recorder {
namespace {

// The version whose functions symbols.inc has.
constexpr int kKnownVersion = 13000;

using AskWithStatus = CUresult (*)(const char*, void**, int, cuuint64_t,
                                   CUdriverProcAddressQueryResult*);
using Ask = CUresult (*)(const char*, void**, int, cuuint64_t);
AskWithStatus g_ask_with_status = nullptr;
Ask g_ask = nullptr;

CUresult ask_driver(const char* name, void** function, int version, cuuint64_t flags) {
  if (g_ask_with_status != nullptr) {
    return g_ask_with_status(name, function, version, flags, nullptr);
  }
  return g_ask(name, function, version, flags);
}

// The exported function in place of what the driver gave. A version that is newer than the known
// ones has an unknown signature: it stays the driver's, and the record says so.
void lead(const char* name, void** function, int version, cuuint64_t flags) {
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  const auto stream = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0
                          ? shim::DefaultStream::thread
                          : shim::DefaultStream::legacy;
  const shim::Lookup found =
      shim::look_up(name, version < kKnownVersion ? version : kKnownVersion, stream);
  if (found.symbol == nullptr) return;
  const auto number = static_cast<std::size_t>(found.symbol - shim::symbols().data());
  const std::string symbol(found.symbol->symbol);
  void* const own = real_function(symbol.c_str());
  // Without a hook, the driver's function is as good.
  if (own == nullptr || baton_slots[number] == own) return;
  if (version > kKnownVersion && *function != own) {
    void* known = nullptr;
    if (ask_driver(name, &known, kKnownVersion, flags) != CUDA_SUCCESS || known != *function) {
      remark(symbol + " of a newer version than 13.0 is called: its calls are not in the record");
      return;
    }
  }
  *function = baton_exports[number];
}

CUresult get_with_status(const char* name, void** function, int version, cuuint64_t flags,
                         CUdriverProcAddressQueryResult* status) {
  const CUresult result = g_ask_with_status(name, function, version, flags, status);
  if (result == CUDA_SUCCESS) lead(name, function, version, flags);
  return result;
}

CUresult get(const char* name, void** function, int version, cuuint64_t flags) {
  const CUresult result = g_ask(name, function, version, flags);
  if (result == CUDA_SUCCESS) lead(name, function, version, flags);
  return result;
}

}  // namespace

void* proc_address_hook(std::string_view symbol, void* real) {
  if (symbol == "cuGetProcAddress_v2") {
    g_ask_with_status = reinterpret_cast<AskWithStatus>(real);
    return reinterpret_cast<void*>(get_with_status);
  }
  if (symbol == "cuGetProcAddress") {
    g_ask = reinterpret_cast<Ask>(real);
    return reinterpret_cast<void*>(get);
  }
  return nullptr;
}

}  // namespace baton::recorder
