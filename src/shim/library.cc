// What happens when a process loads the library: its options, and what each exported symbol calls.

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "base/system/environment.h"
#include "shim/call_errors.h"
#include "shim/options.h"
#include "shim/own_entry.h"
#include "shim/proc_address.h"
#include "shim/process_report.h"
#include "shim/symbols.h"
#include "sim/api/driver.h"
#include "sim/api/entry_points.h"
#include "sim/api/error_names.h"

extern "C" {
// exports.S has these.
extern void* baton_slots[];
void baton_call_missing();
// Called by the jumps of missing functions, with the number of the symbol.
__attribute__((visibility("hidden"))) CUresult baton_missing(unsigned number);
}

namespace baton::shim {
namespace {

// How often each symbol was called that is not there, by number.
std::atomic<unsigned long long>* g_missing = nullptr;

// The folder of the report, or null.
const std::filesystem::path* g_report = nullptr;

CUresult no_device() {
  return CUDA_ERROR_NO_DEVICE;
}

CUresult not_initialized() {
  return CUDA_ERROR_NOT_INITIALIZED;
}

void tell_missing() {
  for (std::size_t k = 0; k < symbols().size(); ++k) {
    if (const auto count = g_missing[k].load()) ProcessReport::missing(symbols()[k].symbol, count);
  }
}

void start() {
  if (g_report != nullptr) {
    ProcessReport::open(*g_report);
    std::atexit(tell_missing);
  }
  sim::simulated_driver();
}

// The simulated GPU starts here and not when the library is loaded: a process that has not used it
// may be forked, and its child may.
CUresult init(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  static std::once_flag once;
  std::call_once(once, start);
  return CUDA_SUCCESS;
}

// What a symbol calls: an entry of the simulated driver that has the same signature, or null.
void* function_of(const Symbol& symbol) {
  if (symbol.symbol == "cuInit") return reinterpret_cast<void*>(&OwnEntry<init>::call);
  if (void* own = own_function(symbol.symbol)) return own;
  for (const Symbol& plain : symbols()) {
    if (plain.symbol != symbol.plain()) continue;
    for (const sim::EntryPoint& entry : sim::entry_points()) {
      if (entry.name != plain.name || entry.version != plain.version) continue;
      return symbol.stream == DefaultStream::thread ? entry.thread_call : entry.call;
    }
  }
  return nullptr;
}

void tell_call(std::string_view symbol, CUresult result) noexcept {
  const char* const name = sim::error_name(result);
  const char* const text = sim::error_text(result);
  CallErrors::note(symbol, result, name != nullptr ? name : "an error without a name",
                   text != nullptr ? text : "");
}

// Nothing works, and the reason is told once.
void refuse_all(const char* why) {
  log(LogLevel::kError, "the simulated CUDA driver does not start: {}", why);
  for (std::size_t k = 0; k < symbols().size(); ++k) {
    baton_slots[k] =
        reinterpret_cast<void*>(symbols()[k].name == "cuInit" ? no_device : not_initialized);
  }
}

// Before anything else of the process can call the driver.
__attribute__((constructor(101))) void load() {
  try {
    g_missing = new std::atomic<unsigned long long>[symbols().size()] {};
    for (std::size_t k = 0; k < symbols().size(); ++k) {
      void* const function = function_of(symbols()[k]);
      baton_slots[k] = function != nullptr ? function : reinterpret_cast<void*>(baton_call_missing);
    }
    Options options = read_options();
    if (CallErrors::which() != CallErrors::Which::kNone) {
      options.settings.call_failed = call_failed;
    }
    if (options.report) {
      g_report = new std::filesystem::path(*options.report);
      options.settings.first_seen = ProcessReport::finding;
      options.settings.left = ProcessReport::findings;
      options.settings.image_refused = ProcessReport::image;
      if (options.finds_leaks) options.settings.leaked = ProcessReport::leak;
      // The parent says at the end what the log says now.
      if (!read_environment("BATON_LOG")) set_log_level(LogLevel::kError);
    }
    sim::configure(std::move(options.settings));
  } catch (const std::exception& failure) {
    refuse_all(failure.what());
  }
}

}  // namespace

void call_failed(const void* function, CUresult result) noexcept {
  if (CallErrors::which() == CallErrors::Which::kNone) return;
  void* const* const slots = baton_slots;
  const auto slot = std::find(slots, slots + symbols().size(), function);
  if (slot == slots + symbols().size()) return;  // no symbol of this library
  const Symbol& symbol = symbols()[static_cast<std::size_t>(slot - slots)];
  // That an entry is not there is an answer.
  if (result == CUDA_ERROR_NOT_FOUND && symbol.name == "cuGetProcAddress") return;
  tell_call(symbol.symbol, result);
}

}  // namespace baton::shim

CUresult baton_missing(unsigned number) {
  using namespace baton;
  const std::string_view name = shim::symbols()[number].symbol;
  if (shim::g_missing[number].fetch_add(1) == 0) {
    shim::ProcessReport::missing(name, 1);
    if (!shim::ProcessReport::is_open()) {
      log(LogLevel::kWarning, "{} is not simulated: it gives CUDA_ERROR_NOT_SUPPORTED", name);
    }
  }
  if (shim::CallErrors::which() != shim::CallErrors::Which::kNone) {
    shim::tell_call(name, CUDA_ERROR_NOT_SUPPORTED);
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}
