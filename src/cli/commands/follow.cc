#include "cli/commands/follow.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "baton/dtype.h"
#include "cli/output/format.h"
#include "tools/basics.h"
#include "tools/file/program_arrays.h"

namespace baton::cli {
namespace {

// A run begins every other buffer anew.
const ProgramBuffer& named_state(const Program& program, const std::string& name) {
  const ProgramBuffer& buffer = tools::named_buffer(program, "--follow", name, tools::Serves::kAll);
  if (buffer.role == BufferRole::kState && buffer.shards.empty()) return buffer;
  throw error_at(buffer.where, ErrorCode::kInvalidInput,
                 "--follow takes states, which keep their contents from run to run, and {} {}; "
                 "make it a whole state",
                 printable(name),
                 buffer.shards.empty() ? fmt::format("has the role {}", to_string(buffer.role))
                                       : std::string("is divided among ranks"));
}

}  // namespace

ListFollower::ListFollower(const Program& program, const Followed& what) : what_(what) {
  const ProgramBuffer& buffer = named_state(program, what.buffer);
  if (buffer.shape.size() != 1) {
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "--follow shows the elements of a list, and {} has {} dimensions",
                   printable(what.buffer), buffer.shape.size());
  }
  const ProgramBuffer& counter = named_state(program, what.counter);
  if (is_float(counter.dtype) || counter.dtype == DType::kBool) {
    throw error_at(counter.where, ErrorCode::kInvalidInput,
                   "--follow counts the elements of {} by {}, which is {}; a counter is an integer",
                   printable(what.buffer), printable(what.counter), to_string(counter.dtype));
  }
}

std::int64_t ListFollower::count(const Executable& executable) const {
  const Array& counter = executable.output(what_.counter);
  const std::int64_t elements = executable.output(what_.buffer).elements();
  const std::int64_t value = counter.elements() == 0 ? 0 : std::stoll(format_element(counter, 0));
  const std::int64_t count = value + what_.more;
  if (count >= 0 && count <= elements) return count;
  throw error(ErrorCode::kInvalidInput,
              "--follow: {} is {} after the run, which makes {} elements of {}, and it has {}",
              printable(what_.counter), value, count, printable(what_.buffer), elements);
}

void ListFollower::show(const Array& array, std::int64_t from, std::int64_t to,
                        Output& output) const {
  nlohmann::ordered_json& values = output.result()["followed"]["values"];
  std::string text;
  for (std::int64_t i = from; i < to; ++i) {
    const std::string element = format_element(array, i);
    text += " " + element;
    values.push_back(nlohmann::ordered_json::parse(element, nullptr, false));
    if (values.back().is_discarded()) values.back() = element;
  }
  output.text(text);
  output.flush();
}

RunReport ListFollower::run(Executable& executable, const RunOptions& options, Output& output) {
  output.text(what_.buffer + " ");
  try {
    RunReport report = run_all(executable, options, output);
    output.line("");
    return report;
  } catch (...) {
    output.line("");
    throw;
  }
}

RunReport ListFollower::run_all(Executable& executable, const RunOptions& options,
                                Output& output) const {
  RunOptions once = options;
  once.repeat = 1;
  once.progress = {};  // it would be written over the line that grows
  output.result()["followed"] = {
      {"buffer", what_.buffer}, {"runs", 0}, {"values", nlohmann::ordered_json::array()}};
  RunReport report;
  std::int64_t shown = 0;
  for (std::uint64_t runs = 1;; ++runs) {
    executable.run(once);
    if (runs == 1) {
      report = executable.report();
    } else {
      std::ranges::copy(executable.report().findings, std::back_inserter(report.findings));
    }
    const Array& array = executable.output(what_.buffer);
    const std::int64_t there = count(executable);
    show(array, shown, there, output);
    output.result()["followed"]["runs"] = runs;
    if (there <= shown || there == array.elements() || runs == what_.runs) return report;
    shown = there;
  }
}

}  // namespace baton::cli
