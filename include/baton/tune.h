#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/bindings.h"
#include "baton/bundle.h"
#include "baton/device.h"
#include "baton/executable.h"
#include "baton/export.h"
#include "baton/program.h"
#include "baton/tune_choices.h"

namespace baton {

// A way to execute a program that tuning compares with others.
struct TuneVariant {
  TuneChoices choices = {};
  ExecutorKind executor = ExecutorKind::kStream;

  friend bool operator==(const TuneVariant& a, const TuneVariant& b) {
    return a.choices == b.choices && a.executor == b.executor;
  }
};
// "BLOCK = 128, as a graph"; "untuned" for a program as it is, on a stream.
BATON_API std::string to_text(const TuneVariant& variant);

// The cost of one variant as a share of another's: 0.9 is 10 % less. The true ratio of the medians
// is between `low` and `high` with a certainty of 95 %. An exact cost has no interval.
struct TuneRatio {
  double ratio = 1, low = 1, high = 1;
  std::uint64_t samples = 0;  // pairs of runs
};

// One variant that was tried.
struct TuneTrial {
  TuneVariant variant;
  std::string pass;     // what was varied: "rewrite of all kernels"
  std::string refused;  // why it was not measured; else empty
  double cost = 0;      // the median of its runs
  // Against the best variant so far, which it was measured in turn with. Empty where it was
  // refused, or the time ran out before the sixth run.
  std::optional<TuneRatio> ratio = {};
  bool best = false;  // it became the best variant so far
};

// Where a search is. Valid during the call that gets it.
struct TuneProgress {
  std::string what;    // "BLOCK: 3 variants, round 8"
  double share = 0;    // of the budget that is used
  double seconds = 0;  // since the search began
};

struct TuneOptions {
  // Values of symbols, and inputs. A symbol that has its value from here is not tuned.
  Bindings bindings = {};
  // Where `pdl` or `rewrite` are not their defaults, edges and rewrites are not tuned.
  LoadOptions load = {};
  std::optional<ExecutorKind> executor = {};  // empty: tuned too
  double budget = 20;                         // seconds, of all measurements; at least 0
  std::optional<std::chrono::duration<double>> timeout = {};  // of each run
  // Polled: the search throws kInterrupted soon after it becomes true.
  const std::atomic<bool>* interrupt = nullptr;
  // Called from the thread that tunes, at most once a round.
  std::function<void(const TuneProgress&)> progress = {};
  // Runs a variant in place of Baton, and returns its cost in seconds: for programs whose kernels
  // another host launches. `symbols`: the values of all. An Error with kInvalidInput refuses the
  // variant, such as for wrong results, which Baton then does not see. Only [tune] symbols are
  // varied. Called from the thread that tunes.
  std::function<double(const TuneVariant& variant, const std::vector<BoundSymbol>& symbols)>
      measure = {};
  bool keep = true;  // whether the result becomes a record that later runs find
};

// The result of a search, and where it holds.
struct TuneRecord {
  std::string program;  // SHA-256 in hexadecimal: of the program, without its kernels' code
  std::string images;   // the same, of the kernels' code
  std::string device;   // "NVIDIA H200"
  int multiprocessors = 0;
  int driver = 0;  // 13000 for CUDA 13.0
  // Of all symbols but those of [tune], in the program's order.
  std::vector<std::pair<std::string, std::int64_t>> symbols = {};
  // The untuned variant where no other one was accepted.
  TuneVariant variant = {};
  bool accepted = false;
  TuneRatio ratio = {};  // of the variant to the untuned program, on fresh runs
  double noise = 0;      // how far two copies of the untuned program differ: 0.01 is 1 %
  std::string cost;      // "seconds", or "warp instructions" on the simulated GPU

  friend BATON_API bool operator==(const TuneRecord& a, const TuneRecord& b);
};

// A record as JSON, as BundleOptions::tuned takes it.
BATON_API std::string to_text(const TuneRecord& record);

struct TuneReport {
  TuneRecord record;
  double base_cost = 0;           // the median of the untuned program's runs
  std::vector<TuneTrial> trials;  // in the order in which they were tried
  std::string remark;             // why little or nothing was tried; else empty
  bool out_of_time = false;       // the budget ended before the search
  double seconds = 0;             // that it took
  std::filesystem::path file;     // of the record; empty where none was kept
};

// Searches for a faster way to execute a program: edges that are full although they may be
// programmatic, places of triggers (RewriteMode), even placement, values of [tune] symbols, and the
// executor. Each variant has to give the results of the untuned program, bit by bit. The best one
// is accepted only if it is faster in fresh runs, beyond what two copies of the untuned program
// differ by. The simulated GPU has no time: there the cost is the number of warp instructions, and
// [tune] symbols alone are tried.
//
// Throws kInvalidInput for a negative budget, kMismatch for a program whose results differ from run
// to run, and what preparing, binding and running the untuned program throw. Thread-safe; each call
// has kernels and memory of its own, but shares weights between the variants.
BATON_API TuneReport tune(const Program& program, const Device& device,
                          const TuneOptions& options = {});
BATON_API TuneReport tune(const Bundle& bundle, const Device& device,
                          const TuneOptions& options = {});

// The record that holds for a program on a device with these values; nothing where there is none,
// BATON_TUNE=off is set, or `options` choose edges or rewrites themselves, or `bindings` choose
// what executes collectives and the record does too. A record of another driver or of other images
// is logged and ignored. Throws kInvalidInput for another value of BATON_TUNE. Thread-safe.
BATON_API std::optional<TuneRecord> find_tuned(const Program& program, const Device& device,
                                               const Bindings& bindings = {},
                                               const LoadOptions& options = {});
BATON_API std::optional<TuneRecord> find_tuned(const Bundle& bundle, const Device& device,
                                               const Bindings& bindings = {},
                                               const LoadOptions& options = {});

}  // namespace baton
