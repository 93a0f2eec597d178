#include "shim/call_errors.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/system/environment.h"
#include "shim/host_frames.h"
#include "shim/process_report.h"

namespace baton::shim {
namespace {

constexpr std::string_view kUnknownCaller = "a caller that is not known";

struct ToldCall {
  std::string error;  // "cudaErrorInvalidValue (1): invalid argument"
  std::string where;
  std::string through;
  unsigned long long count = 0;
};
// The function, the number of the error, and the calls that led there.
using CallSite = std::tuple<std::string, int, std::vector<const void*>>;

std::mutex g_mutex;
// Never destroyed: the host may call until the process is gone.
std::map<CallSite, ToldCall>& all_told() {
  static auto& all = *new std::map<CallSite, ToldCall>;
  return all;
}

void tell(const CallSite& place, const ToldCall& told) {
  ProcessReport::call(std::get<0>(place), told.error, told.where, told.through, told.count);
}

void tell_counts() {
  const std::lock_guard lock(g_mutex);
  for (const auto& [place, told] : all_told()) {
    if (told.count > 1) tell(place, told);
  }
}

std::string_view folder_of(std::string_view path) {
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

// The file that this function is in.
Dl_info own_file() {
  Dl_info facts = {};
  dladdr(reinterpret_cast<const void*>(&own_file), &facts);
  return facts;
}

// Compilers make these functions of a launch.
bool is_of_compiler(std::string_view function) {
  return function.find("__cudaLaunchKernel") != std::string_view::npos ||
         function.find("__device_stub__") != std::string_view::npos;
}

// {"fill+0x1f (a.out+0x11ce)", "main+0x2a (a.out+0x1234)"}: as far as the program's functions go.
std::vector<std::string> callers(const std::vector<HostFrame>& frames, std::size_t first) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> names;
  for (std::size_t k = first; k < frames.size() && names.size() < kMost; ++k) {
    if (frames[k].object.find("/libc.so") != std::string_view::npos) break;
    std::string frame = describe(frames[k]);
    if (frame.starts_with("_start+")) break;
    if (!is_of_compiler(frame)) names.push_back(std::move(frame));
  }
  return names;
}

void note_call(std::string_view function, int number, const char* name, const char* text) {
  const std::vector<HostFrame> frames = host_frames();
  const Dl_info own = own_file();
  std::string called(function);
  std::size_t caller = 0;
  // The last symbol before the caller's is the one that was called.
  for (; caller < frames.size() && frames[caller].base == own.dli_fbase; ++caller) {
    if (function.empty() && !frames[caller].function.empty()) called = frames[caller].function;
  }
  const bool is_known = caller < frames.size();
  const bool is_implicit = is_known && folder_of(frames[caller].object) == folder_of(own.dli_fname);
  if (is_implicit && CallErrors::which() != CallErrors::Which::kAll) return;
  // Compilers put calls with two underscores in the place of a launch.
  if (called.starts_with("__")) called.erase(0, 2);

  const std::lock_guard lock(g_mutex);
  CallSite place(called, number, {});
  for (std::size_t k = caller; k < frames.size(); ++k) {
    std::get<2>(place).push_back(frames[k].address);
  }
  ToldCall& told = all_told()[place];
  if (++told.count != 1) return;
  told.error = fmt::format("{} ({}): {}", name, number, text);
  const std::vector<std::string> names = callers(frames, caller);
  told.where = names.empty() ? kUnknownCaller : names.front();
  for (std::size_t k = 1; k < names.size(); ++k) {
    told.through += (k == 1 ? "" : ", ") + names[k];
  }
  static std::once_flag once;
  std::call_once(once, [] {
    std::atexit(tell_counts);
    // A child may have errors of its own, though another thread was here during the fork.
    pthread_atfork([] { g_mutex.lock(); }, [] { g_mutex.unlock(); }, [] { g_mutex.unlock(); });
  });
  tell(place, told);
}

}  // namespace

CallErrors::Which CallErrors::which() {
  static const Which asked = [] {
    const auto word = read_environment("BATON_EXEC_API_ERRORS");
    if (!word || *word == "no") return Which::kNone;
    if (*word == "explicit") return Which::kExplicit;
    if (*word == "all") return Which::kAll;
    throw error(ErrorCode::kInvalidInput,
                "BATON_EXEC_API_ERRORS takes no, explicit or all, \"{}\" was given", *word);
  }();
  return asked;
}

void CallErrors::note(std::string_view function, int number, const char* name,
                      const char* text) noexcept {
  try {
    // That work goes on is an answer, and no error.
    constexpr int kNotReady = 600;
    if (number == kNotReady || which() == Which::kNone) return;
    const auto folder = read_environment("BATON_EXEC_REPORT");
    if (!folder) return;
    ProcessReport::append_to(*folder);
    note_call(function, number, name, text);
  } catch (const std::exception& failure) {
    log(LogLevel::kError, "an error of a call is not told: {}", failure.what());
  }
}

}  // namespace baton::shim
