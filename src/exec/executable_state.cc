#include "exec/executable_state.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "base/npy.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "exec/binding.h"
#include "exec/initialise.h"

namespace baton {
namespace {

// What an output holds before anything writes it, on a device that cannot tell who reads or writes:
// a value that no computation is likely to leave in every byte.
constexpr std::uint8_t kPoison = 0xC7;

constexpr std::chrono::milliseconds kProgressInterval{250};

constexpr int kFirstWithPdl = 90;  // compute capability 9.0

exec::BufferTable unbound_buffers(const Program& program) {
  exec::BufferTable table;
  for (const ProgramBuffer& buffer : program.buffers()) {
    table.emplace_back().definition = &buffer;
  }
  return table;
}

// A variable has what its image says even where the program says nothing.
bool is_initialised(const ProgramBuffer& buffer) {
  return buffer.init != BufferInit::kNone || buffer.variable;
}

// Read before it is written: something must be in it.
bool needs_contents(const ProgramBuffer& buffer) {
  return buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight ||
         buffer.role == BufferRole::kInout;
}

// Calls the user's progress callback a few times a second.
std::function<void()> progress_tick(const RunOptions& options, const RunProgress& progress) {
  if (!options.progress) return {};
  auto next = std::chrono::steady_clock::now() + kProgressInterval;
  return [&options, &progress, next]() mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now < next) return;
    next = now + kProgressInterval;
    options.progress(progress);
  };
}

FindingReport to_report(driver::Finding finding) {
  FindingReport report;
  report.error = finding.severity == driver::Finding::Severity::kError;
  report.kind = std::move(finding.kind);
  report.kernel = std::move(finding.kernel);
  report.block = finding.block;
  report.thread = finding.thread;
  report.where = std::move(finding.where);
  report.message = std::move(finding.message);
  report.count = finding.count;
  return report;
}

void log_edges(const exec::RunExtent& extent) {
  for (const EdgeReport& edge : extent.edges) {
    log(LogLevel::kInfo, "edge {} -> {} is {}: {}; it is {}: {}", edge.from, edge.to,
        to_string(edge.verdict), edge.reason, edge.programmatic ? "programmatic" : "full",
        edge.decision_reason);
  }
}

std::string finding_text(const FindingReport& finding) {
  return fmt::format("{}{}{}", finding.where, finding.where.empty() ? "" : ": ", finding.message);
}

}  // namespace

ExecutableState::ExecutableState(const Program& prepared, const Device& on,
                                 const PrepareOptions& options)
    : program(prepared),
      device(on),
      kernels(program, device, options),
      buffers_(unbound_buffers(program)),
      footprints_(kernels),
      plan_(exec::make_plan(program, buffers_, options.pdl,
                            [this](const std::string& name) { return kernels.kernel(name); })),
      stream_(device),
      executor_(exec::make_executor(options.executor, device)) {}

bool ExecutableState::is_result(const exec::BoundBuffer& buffer) {
  const BufferRole role = buffer.definition->role;
  return !buffer.given && (role == BufferRole::kOutput || role == BufferRole::kInout);
}

ExecutableState::Resolved ExecutableState::resolve(const Bindings& given) {
  Resolved resolved;
  resolved.symbols = exec::bind_symbols(program, given);
  resolved.buffers = unbound_buffers(program);
  for (exec::BoundBuffer& buffer : resolved.buffers) {
    buffer.shape = exec::bind_shape(*buffer.definition, resolved.symbols);
    buffer.bytes = exec::bytes_of(buffer.shape, buffer.definition->dtype);
    buffer.elements = static_cast<std::int64_t>(buffer.bytes / buffer.element_size());
    exec::check_arange(buffer);
  }
  for (const auto& [name, array] : given.memory) {
    exec::BoundBuffer& buffer = resolved.buffers[exec::buffer_index(resolved.buffers, name)];
    exec::check_memory(buffer, array.address, device);
    buffer.given = array.address;
  }
  for (const auto& symbol : resolved.symbols) resolved.values.push_back(symbol.value);
  resolved.extent = exec::check_run(plan_, resolved.values, resolved.buffers, stream_, footprints_,
                                    device.architecture() >= kFirstWithPdl);
  return resolved;
}

CheckReport ExecutableState::check(Bindings given) {
  exec::RunExtent extent = resolve(given).extent;
  CheckReport result;
  result.steps = extent.steps;
  result.launches = std::move(extent.launches);
  result.edges = std::move(extent.edges);
  result.objection = std::move(extent.refusal ? extent.refusal : extent.unsafe);
  result.warnings = plan_.warnings;
  for (LaunchReport& launch : result.launches) {
    if (!launch.config) continue;
    launch.limits = kernel_limits(kernels.kernel(launch.kernel), *launch.config);
    launch.config->stream = {};  // it is the executable's own
  }
  return result;
}

void ExecutableState::bind(Bindings given) {
  Resolved resolved = resolve(given);
  log_edges(resolved.extent);
  if (resolved.extent.refusal) throw std::move(*resolved.extent.refusal);
  auto read = read_contents(given, resolved.buffers);

  // Nothing throws from here on but the allocations, which need the old buffers gone.
  bound_ = false;
  outputs.clear();
  buffers_ = unbound_buffers(program);
  allocate(resolved.buffers);
  buffers_ = std::move(resolved.buffers);
  contents_ = std::move(read);
  symbols = std::move(resolved.symbols);
  values_ = std::move(resolved.values);
  extent_ = std::move(resolved.extent);
  seed_ = given.seed;
  ++binding_;
  bound_ = true;
}

std::map<std::string, Array, std::less<>> ExecutableState::read_contents(
    Bindings& given, const exec::BufferTable& table) const {
  std::map<std::string, Array, std::less<>> result;
  for (auto& [name, array] : given.inputs) result.emplace(name, std::move(array));
  for (const exec::BoundBuffer& buffer : table) {
    const ProgramBuffer& definition = *buffer.definition;
    if (buffer.given || result.count(definition.name) != 0) continue;
    if (!is_initialised(definition) && needs_contents(definition)) {
      throw error_at(definition.where, ErrorCode::kInvalidInput,
                     "nothing initialises the buffer {} of role {}; give it an --input, or an init "
                     "or a file in the program",
                     definition.name, to_string(definition.role));
    }
    if (definition.init != BufferInit::kFile) continue;
    try {
      Array array = read_npy(definition.file, definition.dtype);
      if (array.shape != buffer.shape) {
        throw error(ErrorCode::kInvalidInput,
                    "{} holds an array of shape {}, the buffer {} has the shape {}",
                    definition.file.string(), exec::shape_text(array.shape), definition.name,
                    exec::shape_text(buffer.shape));
      }
      result.emplace(definition.name, std::move(array));
    } catch (Error& failure) {
      failure.at(definition.where);
      throw;
    }
  }
  return result;
}

void ExecutableState::allocate(exec::BufferTable& table) const {
  for (exec::BoundBuffer& buffer : table) {
    const ProgramBuffer& definition = *buffer.definition;
    try {
      buffer.memory.emplace(buffer.given ? Memory::adopt(device, *buffer.given, buffer.bytes)
                            : definition.variable ? variable(buffer)
                                                  : Memory(device, buffer.bytes));
    } catch (Error& failure) {
      failure.at(definition.where);
      throw;
    }
    if (definition.variable || buffer.given) continue;  // its module or its owner has named it
    buffer.memory->set_name(fmt::format("buffer {} ({} {})", definition.name,
                                        to_string(definition.dtype),
                                        exec::shape_text(buffer.shape)));
  }
}

Memory ExecutableState::variable(const exec::BoundBuffer& buffer) const {
  const ModuleVariable& variable = *buffer.definition->variable;
  Memory memory = kernels.module(variable.kernel).variable(variable.name);
  if (memory.bytes() < buffer.bytes) {
    throw error(ErrorCode::kInvalidInput,
                "the buffer {} ({} {}) has {} bytes, the variable {} of kernel {} has {}",
                buffer.definition->name, to_string(buffer.definition->dtype),
                exec::shape_text(buffer.shape), buffer.bytes, variable.name, variable.kernel,
                memory.bytes());
  }
  return memory;
}

const Array* ExecutableState::contents(const ProgramBuffer& buffer) const {
  const auto found = contents_.find(buffer.name);
  return found == contents_.end() ? nullptr : &found->second;
}

void ExecutableState::initialise() {
  const bool poison = device.driver().simulator == nullptr;
  for (const exec::BoundBuffer& buffer : buffers_) {
    if (buffer.given) continue;
    const ProgramBuffer& definition = *buffer.definition;
    const Array* given = contents(definition);
    exec::initialise(buffer, given, seed_, stream_);
    if (poison && is_result(buffer) && given == nullptr && !is_initialised(definition)) {
      buffer.memory->fill(kPoison, 1, buffer.bytes, 0, stream_);
    }
  }
}

void ExecutableState::run(const RunOptions& options) {
  if (!bound_) bind({});
  if (driver::Simulator* simulator = device.driver().simulator; simulator != nullptr) {
    for (const driver::Finding& earlier : simulator->take_findings(device.native_context())) {
      log(LogLevel::kWarning, "found before this run: {}", earlier.message);
    }
  }
  outputs.clear();
  direct_simulator(options);
  stopped_ = false;
  try {
    run_all(options);
  } catch (Error& failure) {
    stopped_ = failure.code() == ErrorCode::kTimeout || failure.code() == ErrorCode::kInterrupted;
    collect_findings();
    release_simulator(options);
    throw;
  }
  release_simulator(options);
  const std::vector<std::string> errors = collect_findings();
  if (errors.empty()) return;
  Error failure = error(ErrorCode::kFault, "the device found {} error{} in the program's kernels",
                        errors.size(), errors.size() == 1 ? "" : "s");
  for (const std::string& text : errors) failure.note(text);
  throw failure;
}

bool ExecutableState::still_runs() const noexcept {
  if (!stopped_) return false;
  try {
    return !stream_.done();
  } catch (...) {
    return false;  // it came to its end by a failure, which the run has told
  }
}

void ExecutableState::run_all(const RunOptions& options) {
  exec::ReportBuilder builder(report, plan_, extent_.steps, options.join_executions);
  report.warnings = plan_.warnings;
  initialise();
  RunProgress progress{.run = 0, .steps_done = 0, .steps = extent_.steps};
  const exec::RunWatch watch(device, options.timeout, options.interrupt,
                             progress_tick(options, progress));
  try {
    for (std::uint64_t run = 0; run < options.repeat; ++run) {
      progress.run = run;
      progress.steps_done = 0;
      executor_->run({device, stream_, plan_, values_, buffers_, extent_.early, extent_.waits,
                      extent_.spreading, binding_, extent_.steps, builder, watch, progress.steps_done,
                      options.time_steps, run + 1 < options.repeat, options.steps_apart});
      if (run == 0) {
        download(watch);
        note_unwritten();
      }
      if (options.after_run) options.after_run(run);
    }
  } catch (Error& failure) {
    watch.stop(failure);
    throw;
  }
  builder.finish();
}

void ExecutableState::download(const exec::RunWatch& watch) {
  for (const exec::BoundBuffer& buffer : buffers_) {
    if (!is_result(buffer)) continue;
    Array& array = outputs[buffer.definition->name];
    array = {buffer.definition->dtype, buffer.shape, std::string(buffer.bytes, '\0')};
    buffer.memory->download(array.bytes.data(), buffer.bytes, 0, stream_);
  }
  watch.wait([this] { return stream_.done(); });
}

void ExecutableState::note_unwritten() {
  driver::Simulator* simulator = device.driver().simulator;
  const bool poisoned = simulator == nullptr;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const ProgramBuffer& definition = *buffers_[i].definition;
    if (definition.role != BufferRole::kOutput || buffers_[i].bytes == 0) continue;
    // Kernels write variables by their names, which no argument shows; what the caller's memory
    // held is not known.
    if (definition.variable || buffers_[i].given) continue;
    const bool untouched =
        !poisoned && simulator->untouched(buffers_[i].address(), buffers_[i].bytes);
    if (!extent_.written[i] || untouched) {
      report.warnings.push_back(fmt::format("no step writes the output {}, at {}", definition.name,
                                            definition.where.to_string()));
      continue;
    }
    const std::string& bytes = outputs[definition.name].bytes;
    if (poisoned && !is_initialised(definition) &&
        bytes.find_first_not_of(static_cast<char>(kPoison)) == std::string::npos) {
      report.warnings.push_back(
          fmt::format("perhaps no step writes the output {}, at {}: it holds what it held before "
                      "the run",
                      definition.name, definition.where.to_string()));
    }
  }
}

// Tells the simulated GPU how to execute the run and what to look for. Whether accesses are held
// against each other between kernels is decided by the edges: without overlap nothing can be wrong
// there, and the run is faster.
void ExecutableState::direct_simulator(const RunOptions& options) {
  driver::Simulator* simulator = device.driver().simulator;
  if (simulator == nullptr) {
    if (options.schedule != Schedule{}) {
      throw error(ErrorCode::kInvalidInput,
                  "the schedule {} needs the simulated GPU; {} orders its work itself",
                  to_string(options.schedule), device.name());
    }
    if (options.trace) {
      throw error(ErrorCode::kInvalidInput, "a trace needs the simulated GPU, the device is {}",
                  device.name());
    }
    return;
  }
  const CUcontext context = device.native_context();
  simulator->set_schedule(context, options.schedule);
  const bool overlaps = std::any_of(extent_.edges.begin(), extent_.edges.end(),
                                    [](const EdgeReport& edge) { return edge.programmatic; });
  using Watch = driver::Simulator::Watch;
  simulator->watch(context, overlaps ? Watch::kOn : Watch::kOff);
  simulator->expect_no_help(context, true);
  for (const exec::BoundBuffer& buffer : buffers_) {
    if (buffer.definition->role != BufferRole::kWeight || buffer.bytes == 0) continue;
    if (buffer.given) continue;  // more may lie in the same allocation, and it is the caller's
    simulator->protect(buffer.address());
  }
  if (options.trace) simulator->start_trace(context);
}

// Takes what was noted, and leaves the context as others expect it.
void ExecutableState::release_simulator(const RunOptions& options) {
  driver::Simulator* simulator = device.driver().simulator;
  if (simulator == nullptr) return;
  const CUcontext context = device.native_context();
  if (options.trace) report.trace = simulator->take_trace(context);
  simulator->expect_no_help(context, false);
  simulator->watch(context, driver::Simulator::Watch::kAuto);
  simulator->set_schedule(context, Schedule{});
}

std::vector<std::string> ExecutableState::collect_findings() {
  std::vector<std::string> errors;
  driver::Simulator* simulator = device.driver().simulator;
  if (simulator == nullptr) return errors;
  for (driver::Finding& finding : simulator->take_findings(device.native_context())) {
    report.findings.push_back(to_report(std::move(finding)));
    const FindingReport& added = report.findings.back();
    if (added.error) errors.push_back(finding_text(added));
  }
  return errors;
}

}  // namespace baton
