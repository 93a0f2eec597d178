// What happens when a process loads the library: the variants for per-thread default streams, and
// how calls of functions that are not there are told.

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "base/log.h"
#include "base/system/environment.h"
#include "shim/cudart/thread_state.h"
#include "shim/process_report.h"

extern "C" {
// exports.S has these.
extern void* baton_slots[];
// Called by the jumps of missing functions, with the number of the symbol.
__attribute__((visibility("hidden"))) cudaError_t baton_missing(unsigned number);
}

namespace baton::cudart {
namespace {

constexpr std::string_view kSymbols[] = {
#define BATON_SYMBOL(symbol) #symbol,
#include "shim/cudart/symbols.inc"
};

std::atomic<unsigned long long> g_missing[std::size(kSymbols)];

template <auto kFunction>
struct ThreadVariant;
template <typename Result, typename... Arguments, Result (*kFunction)(Arguments...)>
struct ThreadVariant<kFunction> {
  static Result call(Arguments... arguments) {
    const OwnDefaultStream own;
    return kFunction(arguments...);
  }
};

void fill_slot(std::string_view symbol, void* function) {
  for (std::size_t k = 0; k < std::size(kSymbols); ++k) {
    if (kSymbols[k] == symbol) baton_slots[k] = function;
  }
}

void tell_missing() {
  for (std::size_t k = 0; k < std::size(kSymbols); ++k) {
    if (const auto count = g_missing[k].load()) shim::ProcessReport::missing(kSymbols[k], count);
  }
}

__attribute__((constructor(101))) void load() {
#define BATON_THREAD_VARIANT(symbol, function) \
  fill_slot(#symbol, reinterpret_cast<void*>(&ThreadVariant<&function>::call));
#include "shim/cudart/variants.inc"
}

}  // namespace
}  // namespace baton::cudart

cudaError_t baton_missing(unsigned number) {
  using namespace baton;
  if (cudart::g_missing[number].fetch_add(1) == 0) {
    const std::string_view name = cudart::kSymbols[number];
    if (const auto folder = read_environment("BATON_EXEC_REPORT")) {
      shim::ProcessReport::append_to(*folder);
      std::atexit(cudart::tell_missing);
      shim::ProcessReport::missing(name, 1);
    } else {
      log(LogLevel::kWarning, "{} is not simulated: it gives cudaErrorNotSupported", name);
    }
  }
  return cudart::answer(cudaErrorNotSupported);
}
