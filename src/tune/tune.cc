#include "baton/tune.h"

#include <utility>

#include "base/log.h"
#include "base/text/text.h"
#include "tune/record_store.h"
#include "tune/search.h"
#include "tune/subject.h"

namespace baton {
namespace {

using tuning::Subject;

TuneReport tune_subject(const Subject& subject, const TuneOptions& options) {
  // What is wrong with the symbols is known before anything is compiled.
  TuneRecord identity = tuning::identity_of(subject, options.bindings);
  TuneReport report = tuning::Search(subject, options, tuning::cost_on(subject.device())).run();
  identity.variant = report.record.variant;
  identity.accepted = report.record.accepted;
  identity.ratio = report.record.ratio;
  identity.noise = report.record.noise;
  identity.cost = report.record.cost;
  report.record = std::move(identity);
  report.record.images = subject.images_digest();
  // A search that was cut off says nothing, and one for other edges than a run has is not found.
  const bool is_default =
      options.load.pdl == PdlMode::kAuto && options.load.rewrite == RewriteMode::kOff;
  const bool says_something = report.record.accepted || !report.out_of_time;
  if (options.keep && is_default && says_something) report.file = tuning::keep(report.record);
  return report;
}

std::optional<TuneRecord> find_for(const Subject& subject, const Bindings& bindings) {
  if (tuning::is_switched_off()) return std::nullopt;
  const LoadOptions& options = subject.options();
  if (options.pdl != PdlMode::kAuto || options.rewrite != RewriteMode::kOff) return std::nullopt;
  std::optional<TuneRecord> record;
  try {
    record = tuning::find(tuning::identity_of(subject, bindings), subject.bundle());
    // What the caller names executes the collectives, not what a record chose.
    if (record && bindings.collectives != CollectiveExecutor::kAuto &&
        !record->variant.choices.collectives.empty()) {
      log(LogLevel::kInfo,
          "{}: its tuned record is not used: it chooses what executes collectives, and the run "
          "asks for {}",
          printable(subject.program().name()), to_string(bindings.collectives));
      return std::nullopt;
    }
    if (!record || record->images == subject.images_digest()) return record;
  } catch (const Error& failure) {
    // Loading and binding say what is wrong, if anything is.
    log(LogLevel::kDebug, "no tuned record is looked for: {}", failure.message());
    return std::nullopt;
  }
  log(LogLevel::kWarning,
      "{}: its tuned record is ignored: the kernels have changed since; baton tune makes a new one",
      printable(subject.program().name()));
  return std::nullopt;
}

}  // namespace

std::string to_text(const TuneVariant& variant) {
  const std::string choices = to_text(variant.choices);
  return variant.executor == ExecutorKind::kGraph ? choices + ", as a graph" : choices;
}

std::string to_text(const TuneRecord& record) {
  return tuning::text_of(record);
}

TuneReport tune(const Program& program, const Device& device, const TuneOptions& options) {
  return tune_subject(Subject(program, std::nullopt, device, options.load), options);
}

TuneReport tune(const Bundle& bundle, const Device& device, const TuneOptions& options) {
  return tune_subject(Subject(bundle.program(), bundle, device, options.load), options);
}

std::optional<TuneRecord> find_tuned(const Program& program, const Device& device,
                                     const Bindings& bindings, const LoadOptions& options) {
  return find_for(Subject(program, std::nullopt, device, options), bindings);
}

std::optional<TuneRecord> find_tuned(const Bundle& bundle, const Device& device,
                                     const Bindings& bindings, const LoadOptions& options) {
  return find_for(Subject(bundle.program(), bundle, device, options), bindings);
}

}  // namespace baton
