#include "baton/tune.h"

#include <nlohmann/json.hpp>

#include "baton/bundle.h"
#include "baton/loaded_program.h"
#include "baton/tune_choices.h"
#include "cli/commands/commands.h"
#include "cli/commands/ranks.h"
#include "cli/commands/unused_options.h"
#include "cli/output/counted.h"
#include "cli/picture/tune_plot.h"
#include "cli/report/check_report.h"
#include "cli/report/run_report.h"
#include "cli/report/tune_report.h"
#include "tools/basics.h"
#include "tools/file/files.h"
#include "tools/file/program_arrays.h"
#include "tools/file/program_file.h"
#include "tools/measure/tune_command.h"
#include "tools/ranks.h"

namespace baton::cli {
namespace {

TuneOptions tune_options(const TuneCommand& command, const Program& program, Output& output,
                         const std::atomic<bool>& interrupt) {
  TuneOptions options;
  options.bindings.symbols = command.symbols;
  options.bindings.seed = command.seed;
  options.bindings.inputs =
      tools::read_arrays(program, "--input", command.inputs, tools::Serves::kInputs);
  options.executor = command.executor;
  options.bindings.collectives = command.collectives;
  options.budget = command.budget;
  if (command.timeout) options.timeout = std::chrono::duration<double>(*command.timeout);
  options.interrupt = &interrupt;
  if (command.tune_with) {
    const tools::TuneCommandLine line{*command.tune_with, options.timeout};
    options.measure = [line, &interrupt](const TuneVariant&,
                                         const std::vector<BoundSymbol>& symbols) {
      return tools::run_tune_command(line, symbols, interrupt);
    };
  }
  options.progress = [&output](const TuneProgress& progress) {
    output.progress(progress.what, progress.share, progress.seconds);
  };
  return options;
}

// What may help beyond what a search tries, of the program as it was found best.
void show_what_is_left(const tools::ProgramFile& named, const Device& device,
                       const Bindings& bindings, const TuneChoices& choices, Output& output) {
  const LoadedProgram best =
      named.bundle ? LoadedProgram::load(*named.bundle, device, choices)
                   : LoadedProgram::load(with_choices(named.program, choices), device);
  const std::vector<EdgeReport> edges = best.check(bindings).edges;
  add_edges(edges, output);
  show_forecasts(edges, false, output);
}

// One rank, or the only one.
void tune_rank(const TuneCommand& command, RankOfRun& rank, Output& output,
               const std::atomic<bool>& interrupt) {
  for (const char* value : {"device", "device_name", "program", "cost", "untuned", "tuned",
                            "accepted", "remark", "record"}) {
    output.result()[value] = nullptr;
  }
  output.result()["trials"] = nlohmann::ordered_json::array();
  output.result()["edges"] = nlohmann::ordered_json::array();
  const tools::ProgramFile named = tools::open_program(command.program, command.trusted);
  rank.enter(named.program, output, {});
  output.files().reads(named.program);
  if (command.output && rank.world() && rank.world()->ranks() > 1) {
    throw error(ErrorCode::kInvalidInput,
                "-o builds a bundle with the record of one rank, and this run has {} ranks; leave "
                "it out",
                rank.world()->ranks());
  }
  if (command.output) {
    if (named.bundle) {
      throw error(ErrorCode::kInvalidInput,
                  "-o builds a bundle, and {} is one already; tune the program file",
                  command.program.string());
    }
    tools::require_target("-o " + command.output->string(), *command.output);
  }
  if (command.plot) {
    tools::require_target("--plot " + command.plot->string(), *command.plot);
  }
  show_program(named.program, command.program, output);
  require_collectives(command.collectives, named.program);
  warn_of_seed(command.seed, named.program, output);
  const Device device = tools::device_of_rank(command.device, rank.world().value_or(World()));
  show_device(device, output);
  output.flush();
  TuneOptions options = tune_options(command, named.program, output, interrupt);
  options.bindings.world = rank.world();
  const TuneReport report =
      named.bundle ? tune(*named.bundle, device, options) : tune(named.program, device, options);
  show_search(report, output);
  if (command.plot && rank.is_first()) {
    tools::write_file(*command.plot, tune_plot(output.result(), *command.plot));
  }
  if (command.output) {
    output.progress("build the bundle");
    BundleOptions bundle;
    bundle.architectures = {device.compile_arch()};
    bundle.tuned = {to_text(report.record)};
    for (const std::string& remark : write_bundle(named.program, *command.output, bundle)) {
      output.warning(remark);
    }
    output.result()["bundle"] = command.output->string();
    output.line("wrote    {}", command.output->string());
  }
  // The outcome is kept by now, whatever is wrong with the program that it is shown for.
  show_what_is_left(named, device, options.bindings, report.record.variant.choices, output);
}

void tune_or_fail(const TuneCommand& command, RankOfRun rank, Output& output,
                  const std::atomic<bool>& interrupt) {
  try {
    tune_rank(command, rank, output, interrupt);
  } catch (...) {
    throw Error(rank.fail(current_error(), output));
  }
}

}  // namespace

void tune(const TuneCommand& command, Output& output, const std::atomic<bool>& interrupt) {
  if (command.devices.empty()) return tune_or_fail(command, {}, output, interrupt);
  on_devices(command, output, [&](const TuneCommand& own, RankOfRun rank, Output& to) {
    tune_or_fail(own, std::move(rank), to, interrupt);
  });
}

}  // namespace baton::cli
