#include "cli/commands/follow.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baton/dtype.h"
#include "baton/stream.h"
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

// Some elements of a buffer as they are on the device, where nothing is running.
Array part_of(const Executable& executable, const std::string& name, std::int64_t from,
              std::int64_t to) {
  const DType dtype = executable.array(name).dtype;
  const auto count = static_cast<std::size_t>(to - from);
  Array part{dtype, {to - from}, std::string(count * size_of(dtype), '\0')};
  const Stream stream(executable.device());
  executable.memory(name).download(part.bytes.data(), part.bytes.size(),
                                   static_cast<std::size_t>(from) * size_of(dtype), stream);
  stream.synchronize();
  return part;
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

std::int64_t ListFollower::count(const Executable& executable, std::int64_t most) const {
  const std::vector<std::int64_t>& shape = executable.shape(what_.counter);
  const bool is_empty = std::ranges::find(shape, 0) != shape.end();
  const std::int64_t value =
      is_empty ? 0 : std::stoll(format_element(part_of(executable, what_.counter, 0, 1), 0));
  const std::int64_t count = value + what_.more;
  if (count >= 0 && count <= most) return count;
  throw error(ErrorCode::kInvalidInput,
              "--follow: {} is {} after the run, which makes {} elements of {}, and it has {}",
              printable(what_.counter), value, count, printable(what_.buffer), most);
}

void ListFollower::show(const Array& elements, Output& output) const {
  nlohmann::ordered_json& values = output.result()["followed"]["values"];
  std::string text;
  for (std::int64_t i = 0; i < elements.elements(); ++i) {
    const std::string element = format_element(elements, i);
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
  const std::int64_t most = executable.shape(what_.buffer)[0];
  std::int64_t shown = 0;
  std::uint64_t runs = 0;
  bool is_last = false;
  once.wants_states = [&] {
    const std::int64_t there = count(executable, most);
    if (there > shown) show(part_of(executable, what_.buffer, shown, there), output);
    output.result()["followed"]["runs"] = ++runs;
    is_last = there <= shown || there == most || runs == what_.runs;
    shown = there;
    return is_last;
  };
  RunReport report = executable.run(once);
  while (!is_last) {
    const RunReport& next = executable.run(once);
    std::ranges::copy(next.findings, std::back_inserter(report.findings));
  }
  return report;
}

}  // namespace baton::cli
