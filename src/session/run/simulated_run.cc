#include "session/run/simulated_run.h"

#include <utility>

#include "base/error.h"
#include "driver/driver.h"
#include "driver/finding_advice.h"
#include "driver/simulator.h"
#include "runtime/findings.h"
#include "runtime/host_wait.h"

namespace baton {
namespace {

using Watch = driver::Simulator::Watch;

void refuse_simulator_options(const Device& device, const RunOptions& options, bool instrumented) {
  if (options.schedule != Schedule{}) {
    throw error(ErrorCode::kInvalidInput,
                "the schedule {} needs the simulated GPU; {} orders its work itself",
                to_string(options.schedule), device.name());
  }
  if (options.races != Races::kUsual) {
    throw error(ErrorCode::kInvalidInput,
                "races in global memory are found by the simulated GPU, the device is {}",
                device.name());
  }
  if (options.count_accesses) {
    throw error(ErrorCode::kInvalidInput,
                "accesses are counted by the simulated GPU, the device is {}", device.name());
  }
  if (options.trace && !instrumented) {
    throw error(ErrorCode::kInvalidInput,
                "a trace on {} needs kernels that note what they do; load the program with "
                "the option instrument",
                device.name());
  }
}

// A program has no streams: its branches are what runs side by side.
void advise_program(std::string& message) {
  const std::size_t at = message.find(driver::kOrderGrids);
  if (at == std::string::npos) return;
  message.replace(at, driver::kOrderGrids.size(),
                  "put both into one branch, or let the later one come \"after\" an event of the "
                  "earlier one's");
}

}  // namespace

SimulatedRun::SimulatedRun(const Device& device, const RunOptions& options, bool overlaps,
                           bool instrumented, RunReport& report)
    : options_(options), report_(report) {
  driver::Simulator* const simulator = device.driver().simulator;
  if (simulator == nullptr) {
    refuse_simulator_options(device, options, instrumented);
    return;
  }
  const CUcontext context = device.native_context();
  driver::Simulator::Options asked;
  if (options.schedule != Schedule{}) asked.schedule = options.schedule;
  asked.watch = overlaps ? Watch::kOn : Watch::kOff;
  asked.races = options.races;
  asked.trace = own_trace_ = options.trace && !instrumented;
  asked.count_accesses = options.count_accesses;
  asked.alone = true;
  // Another schedule begins after the work before it.
  if (asked.schedule) await_work(device.driver(), context);
  session_ = simulator->begin(context, asked);
}

std::vector<std::string> SimulatedRun::collect(bind::Tape& tape, const play::LaunchTags& tags) {
  std::vector<std::string> errors;
  if (session_ == nullptr) return errors;
  if (own_trace_) {
    const std::vector<std::uint64_t> traced = session_->traced_tags();
    report_.trace = session_->trace(play::traced_launches(tape, tags, traced));
  }
  std::vector<driver::Finding> findings = session_->take_findings();
  std::vector<std::uint64_t> wanted;
  for (const driver::Finding& finding : findings) {
    if (finding.tag) wanted.push_back(*finding.tag);
  }
  const auto launches = play::launch_texts(tape, tags, wanted);
  for (driver::Finding& finding : findings) {
    if (finding.tag) advise_program(finding.message);
    const auto launch = launches.find(finding.tag.value_or(0));
    const std::string what = driver::describe(finding);
    FindingReport& added = report_.findings.emplace_back(to_report(std::move(finding)));
    if (launch != launches.end()) added.launch = launch->second;
    if (!added.error) continue;
    const std::string place = added.where.empty() ? "" : added.where + ": ";
    const std::string during = added.launch.empty() ? "" : added.launch + ": ";
    errors.push_back(fmt::format("{}{}{}", place, during, what));
  }
  return errors;
}

}  // namespace baton
