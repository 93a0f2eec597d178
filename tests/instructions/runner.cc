#include "instructions/runner.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "instructions/kernel_text.h"
#include "instructions/match.h"

namespace baton::instructions {
namespace {

constexpr std::size_t kExamples = 3;

void describe(std::string& out, const Case& one, const u64* inputs, std::size_t result, u64 got,
              const u64* want) {
  out += "\n   ";
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    fmt::format_to(std::back_inserter(out), " {}={}", kInputNames[i],
                   show(one.inputs[i], inputs[i]));
  }
  fmt::format_to(std::back_inserter(out), " gives {}={}, not {}", kResultNames[result],
                 show(one.results[result].kind, got), show_wanted(one.results[result], want));
}

// Bits beyond the operand's own are not part of it.
u64 masked(Kind kind, u64 bits) {
  const unsigned width = info(kind).bits;
  return width == 64 ? bits : bits & ((u64{1} << width) - 1);
}

Outcome compare(const Case& one, const std::vector<u64>& inputs, const std::vector<u64>& got,
                std::size_t rows) {
  const std::size_t arity = one.inputs.size(), results = one.results.size();
  const std::size_t group = one.rows.group;
  Outcome outcome{&one, rows, 0, {}, {}};
  std::vector<u64> want(group * results * kSlotsPerResult);
  std::string examples;
  for (std::size_t first = 0; first < rows; first += group) {
    std::fill(want.begin(), want.end(), 0);
    one.reference(inputs.data() + first * arity, want.data());
    for (std::size_t row = 0; row < group; ++row) {
      for (std::size_t i = 0; i < results; ++i) {
        const u64 bits = masked(one.results[i].kind, got[(first + row) * results + i]);
        const u64* wanted = want.data() + (row * results + i) * kSlotsPerResult;
        if (matches(one.results[i], one.bounds, bits, wanted)) continue;
        if (++outcome.mismatches <= kExamples) {
          describe(examples, one, inputs.data() + (first + row) * arity, i, bits, wanted);
        }
        break;
      }
    }
  }
  if (outcome.mismatches > 0) {
    outcome.detail =
        fmt::format("{}: {} of {} rows differ:{}", one.text, outcome.mismatches, rows, examples);
  }
  return outcome;
}

std::string refusal(const Case& one, const Error& failure) {
  std::string text = fmt::format("{}: did not run: {}", one.text, failure.what());
  return text;
}

}  // namespace

struct Runner::Context {
  Device device;
  Stream stream;

  explicit Context(const std::string& spec) : device(Device::open(spec)), stream(device) {}

  Outcome run(const std::string& group, const Case& one, const Kernel& kernel) {
    const std::vector<u64> inputs = make_rows(one.rows);
    const std::size_t arity = one.inputs.size();
    // A case without inputs runs three groups of its threads.
    const std::size_t rows =
        arity == 0 ? std::max<std::size_t>(one.rows.group, 32) * 3 / one.rows.group * one.rows.group
                   : inputs.size() / arity;
    const Buffer<u64> in(device, inputs.size()), out(device, rows * one.results.size());
    std::vector<u64> got(out.size(), 0);
    in.upload(inputs, stream);
    out.upload(got, stream);
    const DeviceAddress in_address = in.data().address, out_address = out.data().address;
    const auto count = static_cast<u32>(rows);
    std::vector<Argument> arguments = {{&in_address, sizeof in_address, true, std::nullopt},
                                       {&out_address, sizeof out_address, true, std::nullopt},
                                       {&count, sizeof count, false, std::nullopt}};
    for (const std::string& bytes : one.bytes) {
      arguments.push_back({bytes.data(), static_cast<u32>(bytes.size()), false, std::nullopt});
    }
    LaunchConfig config;
    config.block = one.block;
    config.grid = ceil_div(rows, static_cast<std::size_t>(one.block.count()));
    config.stream = stream;
    kernel.launch_arguments(config, arguments);
    out.download(got, stream);
    stream.synchronize();
    Outcome outcome = compare(one, inputs, got, rows);
    outcome.record = make_record(group, one, inputs, got, rows);
    return outcome;
  }
};

Runner::Runner(std::string device_spec) : spec_(std::move(device_spec)) {
  try {
    context();
  } catch (const Error& failure) {
    unavailable_ = failure.what();
  }
}

Runner::Context& Runner::context() {
  if (context_ == nullptr) context_ = std::make_shared<Context>(spec_);
  return *context_;
}

// A fault spoils the context, and some of them a GPU for the whole process.
void Runner::reopen(const Case& culprit) {
  context_.reset();
  try {
    context();
  } catch (const Error& failure) {
    unavailable_ = fmt::format("a fault took it away from this process, in \"{}\": {}",
                               culprit.text, failure.what());
  }
}

std::size_t Runner::run_some(const std::string& name, const Group& group,
                             std::span<const Case* const> cases, std::vector<Outcome>& outcomes) {
  Context& here = context();
  std::optional<Module> module;
  try {
    module = Module::load(
        here.device, Image::from_bytes(module_text(group.declarations(), cases), group.name()));
  } catch (const Error& failure) {
    if (cases.size() > 1) {  // one bad case must not hide the others: halve
      const std::size_t half = cases.size() / 2;
      return run_some(name, group, cases.first(half), outcomes);
    }
    outcomes.push_back({cases[0], 0, 0, refusal(*cases[0], failure), {}});
    return 1;
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    try {
      outcomes.push_back(here.run(name, *cases[i], module->kernel(entry_name(i))));
    } catch (const Error& failure) {
      outcomes.push_back({cases[i], 0, 0, refusal(*cases[i], failure), {}});
      reopen(*cases[i]);
      return i + 1;
    }
  }
  return cases.size();
}

std::vector<Outcome> Runner::run(const Family& family, const Group& group) {
  std::vector<const Case*> cases;
  for (const Case& one : group.cases()) cases.push_back(&one);
  std::vector<Outcome> outcomes;
  std::span<const Case* const> rest = cases;
  const std::string name = family.name + "." + group.name();
  while (!rest.empty() && unavailable() == nullptr)
    rest = rest.subspan(run_some(name, group, rest, outcomes));
  return outcomes;
}

}  // namespace baton::instructions
