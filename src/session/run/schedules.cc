#include "baton/schedules.h"

#include <cstring>
#include <map>
#include <utility>

#include "base/array/array.h"
#include "base/error.h"
#include "baton/stream.h"
#include "program/buffer_roles.h"

namespace baton {
namespace {

// The first element whose bits differ; nothing for equal arrays.
std::optional<ScheduleDifference> difference_of(const std::string& buffer, const Array& got,
                                                const Array& reference) {
  if (got.bytes == reference.bytes) return std::nullopt;
  ScheduleDifference found;
  found.buffer = buffer;
  found.elements = got.elements();
  const std::size_t size = size_of(got.dtype);
  for (std::size_t at = 0; at < got.bytes.size(); at += size) {
    if (std::memcmp(got.bytes.data() + at, reference.bytes.data() + at, size) == 0) continue;
    if (found.count++ != 0) continue;
    // NaNs with other bits are as different as numbers.
    const auto element = [&](const Array& array) {
      return Array{array.dtype, {1}, array.bytes.substr(at, size)};
    };
    const Comparison shown = compare(element(got), element(reference), {}, buffer);
    found.index = index_of(static_cast<std::int64_t>(at / size), got.shape);
    found.got = shown.got_text;
    found.reference = shown.want_text;
  }
  return found;
}

void reset_states(Executable& executable) {
  const Stream stream(executable.device());
  for (const ProgramBuffer& buffer : executable.program().buffers()) {
    if (is_kept(buffer.role)) executable.reset(buffer.name, stream);
  }
  stream.synchronize();
}

}  // namespace

std::vector<ScheduleRun> compare_schedules(Executable& executable, Span<const Schedule> schedules,
                                           const RunOptions& options) {
  std::map<std::string, Array> reference;
  for (const std::string& name : executable.outputs()) {
    reference.emplace(name, executable.output(name));
  }
  std::vector<ScheduleRun> runs;
  for (const Schedule& schedule : schedules) {
    RunOptions own = options;
    own.schedule = schedule;
    own.repeat = 1;
    ScheduleRun& run = runs.emplace_back(ScheduleRun{schedule, {}, {}, {}});
    reset_states(executable);
    try {
      run.findings = executable.run(own).findings;
    } catch (Error& failure) {
      failure.note("under the schedule " + to_string(schedule));
      run.findings = executable.report().findings;
      const bool is_found = failure.code() == ErrorCode::kFault && failure.driver_result() == 0;
      if (!is_found || run.findings.empty()) throw;
      run.failure = std::move(failure);
      continue;
    }
    for (const auto& [name, array] : reference) {
      run.difference = difference_of(name, executable.output(name), array);
      if (run.difference) break;
    }
  }
  return runs;
}

}  // namespace baton
