// What happens at the first call of the recorder's libcuda.so.1: the driver is opened, and each
// exported symbol leads to the driver's function, or to a hook that notes the call.

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "shim/record/journal.h"
#include "shim/record/real_driver.h"
#include "shim/symbols.h"

extern "C" {
// exports.S has these.
extern void* baton_slots[];
__attribute__((visibility("hidden"))) void* baton_resolve(unsigned number);
}

namespace baton::recorder {
namespace {

void* g_library = nullptr;

CUresult not_there() {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult no_driver() {
  return CUDA_ERROR_NO_DEVICE;
}

void write_names() {
  unsigned number = 0;
  for (const shim::Symbol& symbol : shim::symbols()) {
    note(record::EventKind::kName, number++, next_order(), 0, {}, symbol.symbol);
  }
}

// dlmopen, as the dlopen of this process may be another's that leads to this library.
void* open_driver(const char* path) {
  void* const library = dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::fprintf(stderr, "baton record: %s\n", dlerror());
  return library;
}

void start() {
  const char* const path = std::getenv("BATON_RECORD_DRIVER");
  g_library = path == nullptr || *path == '\0' ? nullptr : open_driver(path);
  const auto symbols = shim::symbols();
  const bool records = !record_folder().empty();
  for (std::size_t k = 0; k < symbols.size(); ++k) {
    const char* const name = symbols[k].symbol.data();  // a literal
    void* const real = g_library == nullptr ? nullptr : dlsym(g_library, name);
    void* target = real;
    if (g_library == nullptr) {
      target = reinterpret_cast<void*>(no_driver);
    } else if (real == nullptr) {
      target = reinterpret_cast<void*>(not_there);
    } else if (records) {
      using FindHook = void* (*)(std::string_view, void*);
      for (const FindHook find :
           {launch_hook, call_hook, load_hook, tensor_map_hook, proc_address_hook}) {
        if (void* const hook = find(symbols[k].symbol, real)) target = hook;
      }
    }
    baton_slots[k] = target;
  }
  if (g_library == nullptr || !records) return;
  int version = 0;
  if (const auto ask = real<CUresult(int*)>("cuDriverGetVersion")) ask(&version);
  name_driver(path, version);
  set_names(write_names);
}

}  // namespace

void* real_function(const char* symbol) {
  return dlsym(g_library, symbol);
}

unsigned name_number(std::string_view symbol) {
  const auto symbols = shim::symbols();
  for (unsigned k = 0; k < symbols.size(); ++k) {
    if (symbols[k].symbol == symbol) return k;
  }
  return ~0U;
}

}  // namespace baton::recorder

void* baton_resolve(unsigned number) {
  static std::once_flag once;
  std::call_once(once, baton::recorder::start);
  return baton_slots[number];
}
