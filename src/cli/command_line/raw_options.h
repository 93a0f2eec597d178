#pragma once

#include <string>
#include <variant>
#include <vector>

namespace baton::cli {

// The words of a command line, split into options and arguments but not yet checked. An option that
// was left out is empty. Several commands share a member where they take the same option.
struct RawOptions {
  bool json = false, help = false, version = false, strict = false, verbose = false;
  bool ptx = false, cubin = false, no_sources = false, weights = false, find_nan = false;
  bool keep_going = false, warnings_as_errors = false, print_environment = false;
  bool reference = false, untuned = false, contents = false, quiet = false;
  std::string file, second, word, folder;  // the arguments
  std::string device, devices, rtol, atol, repeat, executor, collectives, pdl, rewrite, schedule,
      schedules, races, seed, timeout;
  std::string trace, trace_by, keep, dump, until, output, arch, extract, kernel, depfile, key,
      tvm_library;
  std::string budget, baseline, follow, tune_with, function, limit, plot, html, sarif, junit;
  std::string memory, gdb, from, json_file, log_file, error_status, suppressions;
  std::string tool, processes, print_limit, print_level, on_error, excluded, leaks, needs_cuda,
      launch_skip, launch_count, api_errors;
  std::vector<std::string> files;  // arguments, where a command takes several
  std::vector<std::string> set, inputs, outputs, expected, entries, trusted,
      call_arguments;             // options that may be repeated
  std::vector<std::string> rest;  // all after "--"
};

// Where the value of an option goes: a flag, one value, or one value each time.
using RawTarget = std::variant<bool RawOptions::*, std::string RawOptions::*,
                               std::vector<std::string> RawOptions::*>;

// Where a positional argument goes: one word, or all that are left.
using ArgumentTarget =
    std::variant<std::string RawOptions::*, std::vector<std::string> RawOptions::*>;

}  // namespace baton::cli
