#include "cli/command_line.h"

#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "tools/basics.h"

namespace baton::cli {
namespace {

constexpr const char* kVersion = "baton " BATON_VERSION;

constexpr std::string_view kLaterCommands[] = {"tune"};

// What CLI11 fills: text as written, which is checked below, so that every message is ours.
struct RawRun {
  std::string device, rtol, atol, repeat, executor, pdl, rewrite, schedule, races, seed, timeout,
      trace, keep;
  std::vector<std::string> set, input, output, expect;
};

struct Raw {
  bool json = false, strict = false, verbose = false;
  RawRun run;
  std::string file, output, arch, extract, kernel, action, folder;
  bool ptx = false, cubin = false, no_sources = false, weights = false;
  std::vector<std::string> entries;
};

[[noreturn]] void refuse_value(std::string_view option, std::string_view text,
                               std::string_view wanted) {
  throw error(ErrorCode::kInvalidInput, "{} takes {}, \"{}\" was given", option, wanted, text);
}

template <typename T>
T parse_integer(std::string_view option, const std::string& text, T least,
                std::string_view wanted) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < least) {
    refuse_value(option, text, wanted);
  }
  return value;
}

double parse_real(std::string_view option, const std::string& text, bool zero,
                  std::string_view wanted) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0 || (value == 0 && !zero)) {
    refuse_value(option, text, wanted);
  }
  return value;
}

// NAME=VALUE with both sides there. Two values for one name in a list are a contradiction.
std::vector<Assignment> parse_assignments(std::string_view option,
                                          const std::vector<std::string>& texts,
                                          std::string_view value) {
  std::vector<Assignment> assignments;
  for (const std::string& text : texts) {
    const std::size_t cut = text.find('=');
    if (cut == std::string::npos || cut == 0 || cut + 1 == text.size()) {
      refuse_value(option, text, fmt::format("NAME={}", value));
    }
    Assignment assignment(text.substr(0, cut), text.substr(cut + 1));
    const auto other =
        std::find_if(assignments.begin(), assignments.end(),
                     [&](const Assignment& earlier) { return earlier.first == assignment.first; });
    if (other == assignments.end()) {
      assignments.push_back(std::move(assignment));
    } else if (other->second != assignment.second) {
      throw error(ErrorCode::kInvalidInput, "{} names \"{}\" twice: \"{}\" and \"{}\"; keep one",
                  option, assignment.first, other->second, assignment.second);
    }
  }
  return assignments;
}

void check_choice(std::string_view option, const std::string& given,
                  std::span<const std::string_view> known) {
  if (given.empty() || std::find(known.begin(), known.end(), given) != known.end()) return;
  throw error(ErrorCode::kInvalidInput, "{} has no choice \"{}\"{}", option, given,
              suggestion(given, known));
}

std::optional<Schedule> checked_schedule(const std::string& given) {
  constexpr std::string_view kKnown[] = {"serial", "late", "early", "reverse", "random"};
  if (given.empty()) return std::nullopt;
  // random:SEED is written with its seed.
  const bool seeded = given.starts_with("random:");
  if (seeded) parse_integer<std::uint64_t>("--schedule random:", given.substr(7), 0, "a seed");
  check_choice("--schedule", seeded ? "random" : given, kKnown);
  return parse_schedule(given);
}

Races checked_races(const std::string& given) {
  constexpr std::string_view kKnown[] = {"usual", "global"};
  check_choice("--races", given, kKnown);
  return given == "global" ? Races::kGlobal : Races::kUsual;
}

std::vector<std::pair<std::string, std::int64_t>> parse_symbols(
    const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  for (const auto& [name, value] : parse_assignments("--set", texts, "VALUE")) {
    symbols.emplace_back(name, parse_integer<std::int64_t>("--set " + name, value,
                                                           std::numeric_limits<std::int64_t>::min(),
                                                           "a 64-bit integer"));
  }
  return symbols;
}

std::regex parse_regex(std::string_view option, const std::string& text) {
  try {
    return std::regex(text, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& failure) {
    throw error(ErrorCode::kInvalidInput, "{} takes a regular expression, \"{}\" is none: {}",
                option, text, failure.what());
  }
}

PdlMode parse_pdl(const std::string& text) {
  constexpr std::string_view kModes[] = {"auto", "on", "off"};
  check_choice("--pdl", text, kModes);
  return text == "on" ? PdlMode::kOn : text == "off" ? PdlMode::kOff : PdlMode::kAuto;
}

std::optional<RewriteMode> parse_rewrite(const std::string& text) {
  if (text.empty()) return std::nullopt;
  check_choice("--rewrite", text, kRewriteNames);
  const auto found = std::find(kRewriteNames.begin(), kRewriteNames.end(), text);
  return static_cast<RewriteMode>(found - kRewriteNames.begin());
}

CheckCommand checked_check(const Raw& raw) {
  const RawRun& run = raw.run;
  CheckCommand command;
  command.json = raw.json;
  command.strict = raw.strict;
  command.verbose = raw.verbose;
  command.file = raw.file;
  command.symbols = parse_symbols(run.set);
  command.pdl = parse_pdl(run.pdl);
  command.rewrite = parse_rewrite(run.rewrite);
  if (!run.device.empty()) command.device = run.device;
  return command;
}

// What running and measuring have in common.
template <typename T>
T checked_common(const Raw& raw) {
  const RawRun& run = raw.run;
  T command;
  command.json = raw.json;
  command.program = raw.file;
  if (!run.device.empty()) command.device = run.device;
  command.symbols = parse_symbols(run.set);
  command.inputs = parse_assignments("--input", run.input, "FILE.npy");
  if (!run.repeat.empty()) {
    command.repeat =
        parse_integer<std::uint64_t>("--repeat", run.repeat, 1, "a number of at least 1");
  }
  if (!run.seed.empty()) {
    command.seed = parse_integer<std::uint64_t>("--seed", run.seed, 0, "a number of at least 0");
  }
  if (!run.timeout.empty()) {
    command.timeout = parse_real("--timeout", run.timeout, false, "a number of seconds above 0");
  }
  constexpr std::string_view kExecutors[] = {"stream", "graph"};
  check_choice("--executor", run.executor, kExecutors);
  if (run.executor == "graph") command.executor = ExecutorKind::kGraph;
  command.pdl = parse_pdl(run.pdl);
  command.rewrite = parse_rewrite(run.rewrite);
  return command;
}

RunCommand checked_run(const Raw& raw) {
  const RawRun& run = raw.run;
  RunCommand command = checked_common<RunCommand>(raw);
  command.strict = raw.strict;
  command.outputs = parse_assignments("--output", run.output, "FILE.npy");
  command.expected = parse_assignments("--expect", run.expect, "FILE.npy");
  constexpr std::string_view kTolerance = "a number of at least 0";
  if (!run.rtol.empty()) command.rtol = parse_real("--rtol", run.rtol, true, kTolerance);
  if (!run.atol.empty()) command.atol = parse_real("--atol", run.atol, true, kTolerance);
  if (command.expected.empty() && (command.rtol || command.atol)) {
    throw error(ErrorCode::kInvalidInput, "{} compares nothing without --expect; give --expect too",
                command.rtol ? "--rtol" : "--atol");
  }
  if (!run.keep.empty()) command.keep = run.keep;

  command.schedule = checked_schedule(run.schedule);
  command.races = checked_races(run.races);
  if (!run.trace.empty()) command.trace = run.trace;
  return command;
}

BuildCommand checked_build(const Raw& raw) {
  BuildCommand command{raw.json, raw.file, raw.output, {}, !raw.no_sources, raw.weights};
  std::string_view left = raw.arch;
  while (!raw.arch.empty()) {
    const std::size_t comma = left.find(',');
    const std::string_view name = left.substr(0, comma);
    if (name.empty()) {
      throw error(
          ErrorCode::kInvalidInput,
          "--arch takes architectures between commas, \"{}\" was given; write sm_90a,sm_100a",
          raw.arch);
    }
    command.architectures.emplace_back(name);
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  return command;
}

CacheCommand::Action parse_action(const std::string& text) {
  constexpr std::pair<std::string_view, CacheCommand::Action> kActions[] = {
      {"stats", CacheCommand::Action::kStats},   {"list", CacheCommand::Action::kList},
      {"verify", CacheCommand::Action::kVerify}, {"clear", CacheCommand::Action::kClear},
      {"export", CacheCommand::Action::kExport}, {"import", CacheCommand::Action::kImport}};
  std::vector<std::string_view> names;
  for (const auto& [name, action] : kActions) {
    if (name == text) return action;
    names.push_back(name);
  }
  throw error(ErrorCode::kInvalidInput, "baton cache has no action \"{}\"{}", text,
              suggestion(text, std::span<const std::string_view>(names)));
}

// "baton run --help": where the options of `app` are listed.
std::string help_call(const CLI::App& app) {
  return app.get_parent() == nullptr ? "baton --help"
                                     : fmt::format("baton {} --help", app.get_name());
}

// A name near `word` among the options of `app`, as the end of a message.
std::string option_suggestion(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    if (option->get_lnames().empty()) {
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest(word.substr(0, word.find('=')), views);
  if (near.empty()) return fmt::format("; {} lists the options", help_call(app));
  return fmt::format("; did you mean \"{}\"?", near);
}

// CLI11 splits options from values and writes --help; what it does not know it leaves to us, so
// that every unknown word is named with its nearest neighbour.
class CommandLineParser {
 public:
  CommandLineParser() {
    app_.require_subcommand(0, 1);
    app_.allow_extras();
    app_.set_help_flag("-h,--help", "Show this help");
    app_.set_version_flag("-V,--version", std::string(kVersion));
    app_.add_flag("--json", raw_.json, "Print one JSON object");
    app_.footer("\nbaton COMMAND --help, or baton help COMMAND, shows the options of a command.");
    add("doctor",
        "Show what is installed and what is missing: devices, driver, NVRTC, headers, cache");
    add_init();
    add_run();
    add_check();
    add_bench();
    add_build();
    add_compile();
    CLI::App* inspect = add("inspect", "Show the kernels of an image, a program or a bundle");
    inspect->add_option("FILE", raw_.file, "A file with images, a program file or a bundle");
    option(inspect, "--kernel", raw_.kernel, "REGEX", "Show only the kernels whose names match");
    option(inspect, "--arch", raw_.arch, "sm_NN", "Show only the images for one architecture");
    option(inspect, "--extract", raw_.extract, "DIR",
           "Write its images, sources and metadata into a folder");
    CLI::App* explain =
        add("explain", "Explain a finding, a verdict's cause, a decision or an error");
    explain->add_option("CODE", raw_.action, "As in messages and JSON; without it, all are listed");
    CLI::App* cache = add("cache", "Show, verify, clear or copy the compile cache");
    cache->add_option("ACTION", raw_.action, "stats, list, verify, clear, export or import");
    cache->add_option("DIR", raw_.folder, "The folder to export to or to import from");
    app_.add_subcommand("help", "Show the options of a command: baton help run");
    app_.add_subcommand("version", "Show the version");
  }

  std::string command_name(const std::vector<std::string>& arguments) {
    const std::vector<std::string> names = command_names();
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    const auto found = std::find_first_of(arguments.begin(), end, names.begin(), names.end());
    if (found != end) return *found;
    const bool word = !arguments.empty() && !arguments.front().starts_with("-");
    return word ? arguments.front() : "";
  }

  Command parse(std::vector<std::string> arguments) {
    // What stands behind "--" is for the CUDA compiler, whatever it looks like.
    const auto separator = std::find(arguments.begin(), arguments.end(), "--");
    const bool separated = separator != arguments.end();
    std::vector<std::string> behind(separated ? separator + 1 : separator, arguments.end());
    arguments.erase(separator, arguments.end());
    const std::string called = command_name(arguments);
    // The words mean what the options mean.
    if (!arguments.empty() && arguments.front() == "version") arguments.front() = "--version";
    if (!arguments.empty() && arguments.front() == "help") {
      arguments.erase(arguments.begin());
      arguments.push_back("--help");
    }
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
      return ShowText{app_.help()};
    } catch (const CLI::CallForVersion&) {
      return ShowText{kVersion + std::string("\n")};
    } catch (const CLI::ParseError& failure) {
      throw error(ErrorCode::kInvalidInput, "{}; {} lists the options", failure.what(),
                  help_call(named(called)));
    }

    const std::vector<CLI::App*> chosen = app_.get_subcommands();
    if (!chosen.empty()) refuse_misplaced(*chosen.front());
    refuse_unknown(chosen.empty() ? app_ : *chosen.front());
    if (chosen.empty()) {
      throw error(ErrorCode::kInvalidInput, "no command was given{}",
                  suggestion("", command_names()));
    }
    const std::string name = chosen.front()->get_name();
    if (separated && name != "compile") {
      throw error(ErrorCode::kInvalidInput,
                  "\"--\" is for baton compile only, baton {} was called; leave it out", name);
    }
    return command(name, std::move(behind));
  }

 private:
  CLI::App* add(const char* name, const char* description) {
    CLI::App* sub = app_.add_subcommand(name, description);
    sub->allow_extras();
    sub->set_version_flag("-V,--version", std::string(kVersion));
    sub->add_flag("--json", raw_.json, "Print one JSON object");
    return sub;
  }

  // Each occurrence takes exactly one value.
  template <typename T>
  static void option(CLI::App* sub, const char* name, T& target, const char* value,
                     const char* description) {
    sub->add_option(name, target, description)->type_name(value)->allow_extra_args(false);
  }

  void add_strict(CLI::App* sub) {
    sub->add_flag("--strict", raw_.strict, "End with status 1 if there is a warning");
  }

  // What a run and its check have in common.
  void add_binding(CLI::App* sub) {
    RawRun& run = raw_.run;
    option(sub, "--device", run.device, "DEVICE",
           "sim, sim:h100, sim:h200, sim:b200, sim:tiny, cuda or cuda:N; default: BATON_DEVICE, "
           "then the first GPU, then sim");
    option(sub, "--set", run.set, "NAME=VALUE", "Give a symbol a value");
    option(
        sub, "--pdl", run.pdl, "MODE",
        "auto, on or off: PDL mode for steps that leave it at auto; BATON_PDL=off overrides this");
    option(
        sub, "--rewrite", run.rewrite, "MODE",
        "auto or wait: add a PDL wait to kernels that have none; loads, exit, top: also a trigger, "
        "at that place; off: the default");
  }

  // What a run and its measurement have in common.
  void add_running(CLI::App* sub, const char* repeat) {
    RawRun& run = raw_.run;
    add_binding(sub);
    option(sub, "--input", run.input, "NAME=FILE.npy", "Fill an input, weight or inout buffer");
    option(sub, "--repeat", run.repeat, "K", repeat);
    option(sub, "--seed", run.seed, "S", "Seed of init = \"random\"; default 0");
    option(sub, "--timeout", run.timeout, "SECONDS", "Stop a run that takes longer");
    option(sub, "--executor", run.executor, "KIND",
           "stream: enqueue step by step (the default); graph: make it one CUDA graph");
  }

  void add_bench() {
    CLI::App* sub =
        add("bench", "Measure a program, step by step, against the device's memory bandwidth");
    sub->add_option("PROGRAM", raw_.file, "The program file or bundle");
    add_running(sub, "Measure K runs; default: about two seconds");
  }

  void add_check() {
    CLI::App* sub = add("check", "Check a program or an image against a device, without a launch");
    sub->add_option("FILE", raw_.file, "A program file, a bundle, or a file with images");
    add_binding(sub);
    add_strict(sub);
    sub->add_flag("--verbose", raw_.verbose,
                  "List all launches and edges, not the exceptions alone");
  }

  void add_run() {
    CLI::App* sub = add("run", "Run a program and compare its results");
    RawRun& run = raw_.run;
    sub->add_option("PROGRAM", raw_.file, "The program file or bundle");
    add_running(sub, "Run K times; the first run is compared");
    option(sub, "--output", run.output, "NAME=FILE.npy", "Save an output or inout buffer");
    option(sub, "--expect", run.expect, "NAME=FILE.npy", "Compare an output or inout buffer");
    option(sub, "--rtol", run.rtol, "R", "Relative tolerance of --expect; default by dtype");
    option(sub, "--atol", run.atol, "A", "Absolute tolerance of --expect; default by dtype");
    option(sub, "--schedule", run.schedule, "ORDER",
           "Order of work on the simulated GPU: serial, late, early, reverse or random:SEED");
    option(sub, "--races", run.races, "WHICH",
           "Races that the simulated GPU looks for: usual, or global for those inside grids too");
    option(sub, "--trace", run.trace, "FILE.json", "Write a timeline of the simulated GPU");
    option(sub, "--keep", run.keep, "DIR", "Write sources, PTX and machine code into a folder");
    add_strict(sub);
  }

  void add_init() {
    CLI::App* sub = add("init", "Write a program file from the facts of a source or an image");
    sub->add_option("FILE", raw_.file, "A .cu source, PTX, a cubin or a fatbin");
    option(sub, "-o,--output", raw_.output, "P.toml",
           "The file to write; default: the name of FILE, with .toml");
    option(sub, "--arch", raw_.arch, "sm_NN", "The architecture of the facts; default: sm_90a");
    option(sub, "--entry", raw_.entries, "NAME", "A kernel to instantiate: \"norm<float>\"");
  }

  void add_build() {
    CLI::App* sub = add("build", "Build a bundle: one file that runs a program without a compiler");
    sub->add_option("PROGRAM", raw_.file, "The program file");
    option(sub, "-o,--output", raw_.output, "OUT.baton", "The file to write");
    option(sub, "--arch", raw_.arch, "A,B",
           "The architectures, as sm_90a or compute_90; default: the default device's");
    sub->add_flag("--no-sources", raw_.no_sources, "Leave out the CUDA sources");
    sub->add_flag("--weights", raw_.weights, "Put in the files that buffers are read from");
  }

  void add_compile() {
    CLI::App* sub = add("compile", "Compile CUDA source to PTX or a cubin");
    sub->add_option("FILE.cu", raw_.file, "The source");
    option(sub, "-o,--output", raw_.output, "OUT",
           "The file to write: PTX or a cubin, by its ending");
    option(sub, "--arch", raw_.arch, "sm_NN", "The architecture; default: the default device's");
    sub->add_flag("--ptx", raw_.ptx, "Write PTX");
    sub->add_flag("--cubin", raw_.cubin, "Write machine code");
    option(sub, "--entry", raw_.entries, "NAME", "A kernel to instantiate: \"norm<float>\"");
    sub->footer("\nEverything after \"--\" goes to NVRTC unchanged.");
  }

  std::vector<std::string> command_names() {
    std::vector<std::string> names;
    for (const CLI::App* sub : app_.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
    }
    return names;
  }

  // The command of that name, else the program itself.
  const CLI::App& named(const std::string& command) {
    for (const CLI::App* sub : app_.get_subcommands([](const CLI::App*) { return true; })) {
      if (sub->get_name() == command) return *sub;
    }
    return app_;
  }

  // What was written before the command, where it does not belong.
  void refuse_misplaced(const CLI::App& command) {
    const std::vector<std::string> before = app_.remaining();
    if (before.empty()) return;
    throw error(ErrorCode::kInvalidInput,
                "\"{0}\" comes before the command \"{1}\"; write it after: baton {1} {0}",
                before.front(), command.get_name());
  }

  void refuse_unknown(const CLI::App& app) {
    const std::vector<std::string> extras = app.remaining();
    if (extras.empty()) return;
    const std::string& word = extras.front();
    if (&app == &app_ && std::find(std::begin(kLaterCommands), std::end(kLaterCommands), word) !=
                             std::end(kLaterCommands)) {
      throw error(ErrorCode::kInvalidInput, "baton {} is not in this release; take one of {}", word,
                  fmt::join(command_names(), ", "));
    }
    const auto found = std::find_if(extras.begin(), extras.end(), [](const std::string& extra) {
      return extra.size() > 1 && extra.front() == '-';
    });
    if (found != extras.end()) {
      throw error(ErrorCode::kInvalidInput, "unknown option \"{}\"{}", *found,
                  option_suggestion(app, *found));
    }
    if (&app != &app_) {
      throw error(
          ErrorCode::kInvalidInput,
          "baton {} does not take \"{}\" in addition to the arguments before it; leave it out",
          app.get_name(), word);
    }
    throw error(ErrorCode::kInvalidInput, "unknown command \"{}\"{}", word,
                suggestion(word, command_names()));
  }

  void require(const std::string& value, std::string_view what) {
    if (value.empty()) throw error(ErrorCode::kInvalidInput, "{}", what);
  }

  Command command(const std::string& name, std::vector<std::string> behind) {
    if (name == "doctor") return DoctorCommand{raw_.json};
    if (name == "cache") {
      require(raw_.action,
              "baton cache needs an action: stats, list, verify, clear, export or import");
      const CacheCommand::Action action = parse_action(raw_.action);
      const bool copies =
          action == CacheCommand::Action::kExport || action == CacheCommand::Action::kImport;
      if (copies) require(raw_.folder, "baton cache " + raw_.action + " needs a folder");
      if (!copies && !raw_.folder.empty()) {
        throw error(ErrorCode::kInvalidInput, "baton cache {} takes no folder, \"{}\" is given",
                    raw_.action, printable(raw_.folder));
      }
      return CacheCommand{raw_.json, action, raw_.folder};
    }
    if (name == "inspect") {
      require(raw_.file, "baton inspect needs an image or a program: baton inspect FILE");
      InspectCommand inspect;
      inspect.json = raw_.json;
      inspect.image = raw_.file;
      inspect.arch = raw_.arch;
      if (!raw_.kernel.empty()) inspect.kernel = parse_regex("--kernel", raw_.kernel);
      if (!raw_.extract.empty()) inspect.extract = raw_.extract;
      return inspect;
    }
    if (name == "run") {
      require(raw_.file, "baton run needs a program file: baton run PROGRAM");
      return checked_run(raw_);
    }
    if (name == "bench") {
      require(raw_.file, "baton bench needs a program file: baton bench PROGRAM");
      return checked_common<BenchCommand>(raw_);
    }
    if (name == "check") {
      require(raw_.file, "baton check needs a program or an image: baton check FILE");
      return checked_check(raw_);
    }
    if (name == "explain") return ExplainCommand{raw_.json, raw_.action};
    if (name == "init") {
      require(raw_.file, "baton init needs a source or an image: baton init FILE.cu");
      InitCommand init{raw_.json, raw_.file, {}, raw_.arch, raw_.entries};
      if (!raw_.output.empty()) init.output = raw_.output;
      return init;
    }
    if (name == "build") {
      require(raw_.file, "baton build needs a program file: baton build PROGRAM -o OUT.baton");
      require(raw_.output, "baton build needs a file to write: baton build PROGRAM -o OUT.baton");
      return checked_build(raw_);
    }
    require(raw_.file, "baton compile needs a source: baton compile FILE.cu");
    if (raw_.ptx && raw_.cubin) {
      throw Error(ErrorCode::kInvalidInput,
                  "--ptx and --cubin name two outputs, one file is written; keep one");
    }
    CompileCommand compile{raw_.json, raw_.file,  {},           raw_.arch,
                           raw_.ptx,  raw_.cubin, raw_.entries, std::move(behind)};
    if (!raw_.output.empty()) compile.output = raw_.output;
    return compile;
  }

  CLI::App app_{"Baton loads, launches and checks GPU kernels.", "baton"};
  Raw raw_;
};

}  // namespace

std::string command_name(const std::vector<std::string>& arguments) {
  return CommandLineParser().command_name(arguments);
}

Command parse_command_line(const std::vector<std::string>& arguments) {
  return CommandLineParser().parse(arguments);
}

}  // namespace baton::cli
