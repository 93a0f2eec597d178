#include "baton/simulation.h"

#include <utility>

#include "base/error.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "runtime/findings.h"
#include "runtime/host_wait.h"

namespace baton {

struct Simulation::State {
  Device device;  // outlives the session
  std::unique_ptr<driver::Simulator::Session> session;
};

Simulation::Simulation(const Device& device, const SimulationOptions& options) {
  driver::Simulator* const simulator = device.driver().simulator;
  if (simulator == nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "a simulation needs the simulated GPU, the device is {}; open \"sim\"",
                device.name());
  }
  driver::Simulator::Options asked;
  asked.schedule = options.schedule;
  asked.watch = driver::Simulator::Watch::kOn;
  asked.races = options.races;
  asked.trace = options.trace;
  // Another schedule begins after the work before it.
  if (asked.schedule) await_work(device.driver(), device.native_context());
  state_ = std::make_unique<State>(State{device, simulator->begin(device.native_context(), asked)});
}

Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

const Device& Simulation::device() const {
  return state_->device;
}

std::vector<FindingReport> Simulation::take_findings() {
  std::vector<FindingReport> reports;
  for (driver::Finding& finding : state_->session->take_findings()) {
    reports.push_back(to_report(std::move(finding)));
  }
  return reports;
}

std::string Simulation::trace() const {
  return state_->session->trace({});
}

}  // namespace baton
