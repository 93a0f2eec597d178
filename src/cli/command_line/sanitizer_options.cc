#include "cli/command_line/sanitizer_options.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "tools/basics.h"

namespace baton::cli {
namespace {

// What an option takes. kYesNo: "yes" or "no"; without a value it is "yes".
enum class Takes { kYesNo, kWord, kNumber };

constexpr std::string_view kAny = "*";

struct SanitizerOption {
  std::string_view name;
  Takes takes;
  // The values that ask for what every run does, with blanks between them; kAny: each does.
  std::string_view holds;
  std::string_view advice;          // what to do in the place of the other values
  std::uint64_t most = UINT64_MAX;  // of a number that holds
};

constexpr std::string_view kNoCoredump = "--gdb PORT stops the kernel where it fails; leave it out";
constexpr std::string_view kNoOptix = "programs of OptiX are not simulated; leave it out";
constexpr std::string_view kNoInjection = "baton exec finds its own libraries; leave it out";
constexpr std::string_view kNoUnusedMemory = "unused memory is not looked for; leave it out";
constexpr std::string_view kAlwaysChecked =
    "this is always checked; name what is known in a table of --suppressions FILE.toml";

constexpr SanitizerOption kOptions[] = {
    // --- All tools ---
    {"--backtrace-short", Takes::kYesNo, kAny, ""},
    {"--check-exit-code", Takes::kYesNo, kAny, ""},
    {"--check-optix", Takes::kYesNo, "no", kNoOptix},
    {"--check-optix-leaks", Takes::kYesNo, "no", kNoOptix},
    {"--coredump-behavior", Takes::kWord, "", kNoCoredump},
    {"--coredump-name", Takes::kWord, "", kNoCoredump},
    {"--demangle", Takes::kWord, "full", "--json FILE has the names as the image has them"},
    {"--dump-kernel-launches", Takes::kYesNo, "no", "baton record notes each launch"},
    {"--force-blocking-launches", Takes::kYesNo, kAny, ""},
    {"--force-synchronization-limit", Takes::kNumber, kAny, ""},
    {"--generate-coredump", Takes::kYesNo, "no", kNoCoredump},
    {"--ignore-getprocaddress-notfound", Takes::kYesNo, "yes",
     "that an entry is not there is an answer to the program; leave it out"},
    {"--injection-path", Takes::kWord, "", kNoInjection},
    {"--injection-path32", Takes::kWord, "", kNoInjection},
    {"--kill", Takes::kYesNo, "no", "--timeout SECONDS stops a program; leave it out"},
    {"--language", Takes::kWord, "c", "places are those of the compiler's lines; leave it out"},
    {"--launch-timeout", Takes::kNumber, kAny, ""},
    {"--max-connections", Takes::kNumber, kAny, ""},
    {"--mode", Takes::kWord, "launch launch-and-attach",
     "baton exec starts the program and does not attach to one"},
    {"--num-callers-device", Takes::kNumber, kAny, ""},
    {"--num-callers-host", Takes::kNumber, kAny, ""},
    {"--nvtx", Takes::kYesNo, "no", "annotations of NVTX are not read; leave it out"},
    {"--port", Takes::kNumber, kAny, ""},
    {"--prefix", Takes::kWord, "",
     "lines begin with error: or warning:; --json FILE is for programs"},
    {"--preload-library", Takes::kWord, "", "set LD_PRELOAD for the program"},
    {"--print-session-details", Takes::kYesNo, "no", "--print-env prints the environment"},
    {"--read", Takes::kWord, "", "--json FILE is the report in a form that other programs read"},
    {"--save", Takes::kWord, "", "write --json FILE"},
    {"--save-session-details", Takes::kYesNo, "no", "write --json FILE"},
    {"--show-backtrace", Takes::kWord, "no device",
     "findings name lines of kernels, not of the host; write --show-backtrace device"},
    {"--strip-paths", Takes::kYesNo, "no",
     "places name files as the compiler has them; leave it out"},
    {"--support-32bit", Takes::kYesNo, "no", "processes of 32 bits are not checked; leave it out"},
    {"--target-processes-filter", Takes::kWord, "",
     "--target-processes application-only leaves children out"},
    {"--xml", Takes::kYesNo, "no", "write --json FILE, --sarif FILE or --junit FILE"},
    // --- memcheck ---
    {"--check-api-memory-access", Takes::kYesNo, "yes", kAlwaysChecked},
    {"--check-bulk-copy", Takes::kYesNo, "yes", kAlwaysChecked},
    {"--check-cache-control", Takes::kYesNo, "yes", kAlwaysChecked},
    {"--check-device-heap", Takes::kYesNo, "yes", kAlwaysChecked},
    {"--check-warpgroup-mma", Takes::kYesNo, "yes", kAlwaysChecked},
    {"--detect-missing-module-unload", Takes::kYesNo, "no",
     "modules that stay loaded are not looked for; leave it out"},
    // That much is free behind each allocation (DeviceMemory::Impl::span_of).
    {"--padding", Takes::kNumber, kAny, "65536 bytes behind each allocation are free in every run",
     65536},
    {"--report-device-side-allocation-failure", Takes::kYesNo, "no",
     "a malloc of a kernel that fails tells the kernel alone; leave it out"},
    {"--track-stream-ordered-races", Takes::kWord, "all use-before-alloc use-after-free",
     kAlwaysChecked},
    // --- initcheck ---
    {"--initcheck-address-space", Takes::kWord, "all",
     "global and shared memory are always checked"},
    {"--track-unused-memory", Takes::kYesNo, "no", kNoUnusedMemory},
    {"--unused-memory-threshold", Takes::kNumber, "", kNoUnusedMemory},
    {"--unused-shared-memory-report-limit", Takes::kNumber, "", kNoUnusedMemory},
    // --- racecheck ---
    {"--racecheck-continue-on-deadlock", Takes::kYesNo, "no",
     "a deadlock ends its kernel; --keep-going lets the program go on"},
    {"--racecheck-deadlock-timeout", Takes::kNumber, kAny, ""},
    {"--racecheck-detect-level", Takes::kWord, "warn",
     "--races model also counts equal writes; --warnings-as-errors counts warnings"},
    {"--racecheck-filter-cluster-id", Takes::kNumber, "", "all clusters are checked; leave it out"},
    {"--racecheck-memcpy-async", Takes::kYesNo, "yes", kAlwaysChecked},
    {"--racecheck-num-workers", Takes::kNumber, kAny, ""},
    {"--racecheck-report", Takes::kWord, "all analysis hazard", ""},
    {"--racecheck-trace-sync", Takes::kYesNo, "no", "--gdb PORT stops kernels at barriers"},
    // --- synccheck ---
    {"--missing-barrier-init-is-fatal", Takes::kYesNo, "yes",
     "--destroy-on-device-error kernel ends the kernel alone"},
    {"--num-cuda-barriers", Takes::kNumber, kAny, ""},
};

const SanitizerOption* find_option(std::string_view name) {
  const auto found = std::ranges::find(kOptions, name, &SanitizerOption::name);
  return found == std::end(kOptions) ? nullptr : &*found;
}

// Empty for another word.
std::string_view yes_or_no(std::string_view word) {
  if (word == "yes" || word == "true") return "yes";
  if (word == "no" || word == "false") return "no";
  return {};
}

std::optional<std::uint64_t> number_of(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t cut = list.find(' ');
    if (list.substr(0, cut) == word) return true;
    list = cut == std::string_view::npos ? "" : list.substr(cut + 1);
  }
  return false;
}

void check_value(const SanitizerOption& option, std::string_view value) {
  if (option.takes == Takes::kYesNo) {
    const std::string_view known = yes_or_no(value);
    if (known.empty()) {
      throw error(ErrorCode::kInvalidInput, "{} takes yes or no, \"{}\" was given", option.name,
                  printable(value));
    }
    value = known;
  }
  const std::optional<std::uint64_t> number =
      option.takes == Takes::kNumber ? number_of(value) : std::optional<std::uint64_t>(0);
  if (!number) {
    throw error(ErrorCode::kInvalidInput, "{} takes a number from 0 up, \"{}\" was given",
                option.name, printable(value));
  }
  const bool holds = option.holds == kAny || has_word(option.holds, value);
  if (holds && *number <= option.most) return;
  throw error(ErrorCode::kInvalidInput,
              "{} {} is an option of compute-sanitizer that baton exec does not have: {}",
              option.name, printable(value), option.advice);
}

}  // namespace

std::size_t sanitizer_words(std::string_view word, std::string_view next) {
  const std::size_t equals = word.find('=');
  const SanitizerOption* const option = find_option(word.substr(0, equals));
  if (option == nullptr) return 0;
  if (equals != std::string_view::npos) return 1;
  if (option->takes == Takes::kYesNo) return yes_or_no(next).empty() ? 1 : 2;
  return next.empty() ? 1 : 2;
}

std::vector<std::string> without_sanitizer_options(const std::vector<std::string>& words) {
  std::vector<std::string> left;
  for (std::size_t k = 0; k < words.size();) {
    const std::string_view word = words[k];
    const std::string_view next = k + 1 < words.size() ? words[k + 1] : std::string_view();
    const std::size_t taken = sanitizer_words(word, next);
    if (taken == 0) {
      left.push_back(words[k++]);
      continue;
    }
    const std::size_t equals = word.find('=');
    const SanitizerOption& option = *find_option(word.substr(0, equals));
    std::string_view value = taken == 2 ? next : "";
    if (equals != std::string_view::npos) value = word.substr(equals + 1);
    if (taken == 1 && equals == std::string_view::npos) {
      if (option.takes != Takes::kYesNo) {
        throw error(ErrorCode::kInvalidInput, "{} lacks its value", option.name);
      }
      value = "yes";
    }
    check_value(option, value);
    k += taken;
  }
  return left;
}

}  // namespace baton::cli
