#include "cli/command_line/command_options.h"

namespace baton::cli::rows {
namespace {

using Raw = RawOptions;

}  // namespace

Completion words(std::string text) {
  return {Completion::Kind::kWords, std::move(text)};
}

Completion devices(const std::string& others) {
  return words("sim sim:h100 sim:h200 sim:b200 sim:sm80 sim:sm89 sim:sm120 sim:tiny" +
               (others.empty() ? others : " " + others));
}

Options joined(std::initializer_list<Options> parts) {
  Options all;
  for (const Options& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

OptionRow arch(std::string_view value, std::string_view text) {
  return {"--arch", value, text, &Raw::arch};
}

OptionRow entry() {
  return {"--entry", "NAME", "A kernel to instantiate: \"norm<float>\"", &Raw::entries};
}

OptionRow output(std::string_view value, std::string_view text) {
  return {"-o,--output", value, text, &Raw::output, kFile};
}

OptionRow trusted() {
  return {"--verify-key", "PUB.pem",
          "Take a bundle only if it is signed with this key; default: BATON_TRUSTED_KEYS",
          &Raw::trusted, kFile};
}

OptionRow strict() {
  return {"--strict", "", "End with status 1 if there is a warning", &Raw::strict};
}

Options reports() {
  return {{"--sarif", "FILE.sarif", "Write findings and edges as SARIF 2.1.0", &Raw::sarif, kFile},
          {"--junit", "FILE.xml", "Write findings and edges as JUnit XML", &Raw::junit, kFile}};
}

Options binding() {
  return {
      {"--device", "DEVICE",
       "sim, sim:NAME (h100, h200, b200, sm80, sm89, sm120, tiny), cuda or cuda:N; default: "
       "BATON_DEVICE, "
       "then the first GPU, then sim",
       &Raw::device, devices("cuda cuda:0")},
      {"--set", "NAME=VALUE", "Give a symbol a value", &Raw::set},
      {"--pdl", "MODE",
       "auto, on or off: PDL mode for steps that leave it at auto; BATON_PDL=off overrides this",
       &Raw::pdl, words("auto on off")},
      {"--rewrite", "MODE",
       "auto or wait: add a PDL wait to kernels that have none; loads, exit, top: also a "
       "trigger, at that place; off: the default",
       &Raw::rewrite, words("off auto wait loads exit top")},
      trusted()};
}

namespace {

// What a run and its measurement have in common.
Options running(std::string_view repeat) {
  return joined({binding(),
                 {{"--input", "NAME=FILE.npy", "Fill an input, weight, inout or state buffer",
                   &Raw::inputs, kFile},
                  {"--repeat", "K", repeat, &Raw::repeat},
                  {"--seed", "S", "Seed of init = \"random\"; default 0", &Raw::seed},
                  {"--timeout", "SECONDS", "Stop a run that takes longer", &Raw::timeout},
                  {"--executor", "KIND",
                   "stream: enqueue step by step (the default); graph: make it one CUDA graph",
                   &Raw::executor, words("stream graph")},
                  {"--untuned", "", "Ignore the results of baton tune; so does BATON_TUNE=off",
                   &Raw::untuned}}});
}

// Of programs of several ranks.
Options of_ranks() {
  return {{"--devices", "DEVICE,DEVICE",
           "Run a program that has a [world] on several devices, a rank on each", &Raw::devices,
           words("sim,sim cuda:0,cuda:1")},
          {"--collectives", "KIND",
           "nccl, peer or host: what exchanges contents between ranks; auto: NCCL where all ranks "
           "have it, and peer for small steps of up to four (the default)",
           &Raw::collectives, words("auto nccl peer host")}};
}

}  // namespace

Options tune_options() {
  return joined(
      {{{"--device", "DEVICE", "As of baton run; a tuned record is of one kind of GPU",
         &Raw::device, devices("cuda cuda:0")},
        output("OUT.baton", "Build a bundle with the result"),
        {"--budget", "SECONDS", "The time for all measurements; default: 20", &Raw::budget},
        {"--set", "NAME=VALUE", "Give a symbol a value; one of [tune] is then fixed", &Raw::set},
        {"--input", "NAME=FILE.npy", "Fill an input, weight, inout or state buffer", &Raw::inputs,
         kFile},
        {"--seed", "S", "Seed of init = \"random\"; default 0", &Raw::seed},
        {"--timeout", "SECONDS", "Stop a run that takes longer", &Raw::timeout},
        {"--executor", "KIND", "stream or graph: the one to tune for; default: the faster one",
         &Raw::executor, words("stream graph")},
        {"--tune-with", "COMMAND",
         "Run variants by a command of your own, which prints seconds; [tune] symbols are in "
         "TUNE_NAME",
         &Raw::tune_with},
        {"--plot", "FILE", "Draw what was tried; .svg or .html", &Raw::plot, kFile},
        trusted(),
        strict()},
       of_ranks()});
}

Options run_options() {
  return joined(
      {running("Run K times; the first run is compared"),
       {{"--function", "NAME", "Call a function of a library that TVM or TileLang exported",
         &Raw::function},
        {"--arg", "NAME=VALUE",
         "An argument of the function: p0=x.npy, p1=f32[64,32] (zeros), p2=3, grid.x=4, "
         "p0.box=16,16",
         &Raw::call_arguments, kFile},
        {"--output", "NAME=FILE.npy", "Save a buffer", &Raw::outputs, kFile},
        {"--expect", "NAME=FILE.npy|DIR",
         "Compare a buffer, or all outputs of which a folder has a file", &Raw::expected, kFile},
        {"--follow", "NAME=COUNTER[+N]",
         "Run again and again, and show the elements that each run adds to a state; COUNTER + N is "
         "their number",
         &Raw::follow},
        {"--rtol", "R", "Relative tolerance of --expect; default by dtype", &Raw::rtol},
        {"--atol", "A", "Absolute tolerance of --expect; default by dtype", &Raw::atol}},
       of_ranks(),
       {{"--schedule", "ORDER",
         "Order of work on the simulated GPU: serial, late, early, reverse or random:SEED",
         &Raw::schedule, words("serial late early reverse random:1")},
        {"--schedules", "ORDER,ORDER",
         "Run under each, as serial,reverse,random:1..20, and compare the outputs bit by bit",
         &Raw::schedules, words("serial,reverse,random:1..20")},
        {"--races", "WHICH",
         "Races that the simulated GPU looks for: usual; global: also inside grids; model: also "
         "what only the memory model calls a race",
         &Raw::races, words("usual global model")},
        {"--trace", "FILE.json",
         "Write a timeline; on a GPU, kernels are instrumented for it, and edges are compared",
         &Raw::trace, kFile},
        {"--trace-by", "WHAT",
         "device: the simulated GPU's own timeline (its default); kernels: instrumented kernels, "
         "on "
         "any device",
         &Raw::trace_by, words("device kernels")},
        {"--verbose", "", "List the steps also if a kernel faulted", &Raw::verbose},
        {"--html", "FILE.html", "Write a report of the run as one page", &Raw::html, kFile},
        {"--keep", "DIR", "Write sources, PTX and machine code into a folder", &Raw::keep, kFolder},
        {"--dump", "DIR", "Write all buffers after each step into a folder", &Raw::dump, kFolder},
        {"--until", "STEP", "End the run after a step: its number, its kernel, or topk:layer=2",
         &Raw::until},
        {"--find-nan", "", "Find the first step that makes a NaN or an infinity of finite values",
         &Raw::find_nan},
        strict()},
       reports()});
}

Options bench_options() {
  return joined(
      {running("Measure K runs; default: about two seconds"),
       of_ranks(),
       {{"--baseline", "OLD.json", "Compare with what bench --json wrote", &Raw::baseline, kFile},
        {"--limit", "PERCENT", "End with status 1 if the comparison shows more growth than that",
         &Raw::limit},
        {"--plot", "FILE", "Draw times, their distribution and the ceiling; .svg or .html",
         &Raw::plot, kFile},
        strict()}});
}

Options exec_options() {
  return joined(
      {{{"--device", "DEVICE",
         "sim (the default) or sim:NAME: h100, h200, b200, sm80, sm89, sm120, tiny; cuda: observe "
         "the program on a GPU",
         &Raw::device, devices("cuda")},
        {"--memory", "SIZE", "Memory of the device, as 8GiB; default: a quarter of this machine's",
         &Raw::memory},
        {"--schedule", "ORDER", "Order of work: serial, late, early, reverse or random:SEED",
         &Raw::schedule, words("serial late early reverse random:1")},
        {"--races", "WHICH",
         "Races to look for: usual; global: also inside grids; model: also what only the memory "
         "model calls a race",
         &Raw::races, words("usual global model")},
        {"--keep-going", "", "End a kernel that faults, and let the program go on as if it had not",
         &Raw::keep_going},
        {"--gdb", "PORT",
         "Wait at the first launch for GDB, which stops kernels at lines and findings", &Raw::gdb},
        {"--destroy-on-device-error", "WHAT",
         "The part that a fault ends: context (the default), or kernel, as --keep-going does",
         &Raw::on_error, words("context kernel")},
        {"--tool", "TOOL",
         "Count only findings of one tool of compute-sanitizer: memcheck, racecheck, initcheck or "
         "synccheck; faults always count",
         &Raw::tool, words("memcheck racecheck initcheck synccheck")},
        {"--leak-check", "WHAT", "full: count memory that was never freed as an error; or no",
         &Raw::leaks, words("full no")},
        {"--report-api-errors", "WHICH",
         "Count calls that return an error: explicit, those of the program; all, also those that "
         "the runtime makes; or no",
         &Raw::api_errors, words("all explicit no")},
        {"--target-processes", "WHICH",
         "Processes whose findings count: all (the default), or application-only", &Raw::processes,
         words("all application-only")},
        {"--require-cuda-init", "yes|no", "Whether a program that never uses CUDA has an error",
         &Raw::needs_cuda, words("yes no")},
        {"--kernel-name,--kernel-regex", "REGEX",
         "Count only findings of kernels whose names match; or kns=PART, kne=NAME", &Raw::kernel},
        {"--kernel-name-exclude,--kernel-regex-exclude", "REGEX",
         "Leave out the findings of kernels whose names match", &Raw::excluded},
        {"--launch-skip", "N", "Leave out the findings of the first N launches of each process",
         &Raw::launch_skip},
        {"--launch-count", "N",
         "Count only findings of N launches, after those that are skipped; default: 0, all",
         &Raw::launch_count},
        {"--suppressions", "FILE.toml", "Findings that are known and do not count",
         &Raw::suppressions, kFile},
        {"--error-exitcode", "N",
         "Exit status of a program that ends with 0 and has errors; default: 1",
         &Raw::error_status},
        {"--warnings-as-errors", "", "Treat warnings as errors", &Raw::warnings_as_errors},
        {"--timeout", "SECONDS", "Stop a program that takes longer", &Raw::timeout},
        {"--json", "FILE", "Write the report as JSON", &Raw::json_file, kFile},
        {"--log-file", "FILE",
         "Write the report to a file instead of standard error; %p is the number of the process, "
         "%q{NAME} a variable of the environment",
         &Raw::log_file, kFile},
        {"--print-limit", "N", "Print N findings at most; default: 0, all; files have all",
         &Raw::print_limit},
        {"--print-level", "LEVEL", "Findings to print: warn (the default) or error",
         &Raw::print_level, words("info auto warn error")},
        {"--quiet", "", "Print findings alone, and no summary", &Raw::quiet},
        {"--print-env", "", "Print the environment that a program gets, and run nothing",
         &Raw::print_environment}},
       reports()});
}

}  // namespace baton::cli::rows
