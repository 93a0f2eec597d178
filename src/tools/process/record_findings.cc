#include "tools/process/record_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "record/call_meaning.h"
#include "runtime/release.h"
#include "tools/basics.h"
#include "tools/draft/readable_names.h"

namespace baton::tools {
namespace {

using record::CallMeaning;
using record::EventKind;
using record::RecordedEvent;

// Launches that a message lists.
constexpr std::size_t kMostListed = 4;
constexpr const char* kGraph = "a graph";

std::string counted_launches(std::size_t count) {
  return fmt::format("{} launch{}", count, count == 1 ? "" : "es");
}

// Follows a process, and knows at each event which launches are not known to have ended.
class LaunchFollower {
 public:
  explicit LaunchFollower(const ObservedProcess& observed) : observed_(observed) {}

  void follow(const RecordedEvent& event) {
    switch (event.kind) {
      case EventKind::kFunction:
        names_[record::function_of(event).note.function] = event.text;
        return;
      case EventKind::kLaunch:
        return launch(event);
      case EventKind::kCall:
        return call(event);
      default:
        return;
    }
  }

  std::vector<FindingReport> take() {
    std::vector<FindingReport> all;
    if (fault_) all.push_back(std::move(*fault_));
    for (auto& [key, finding] : refused_) all.push_back(std::move(finding));
    return all;
  }

 private:
  struct Pending {
    std::uint64_t number = 0;  // in the process, without refused launches
    std::string kernel;
  };
  // The default stream of a thread is its own.
  using StreamKey = std::pair<std::uint64_t, std::uint32_t>;

  static StreamKey stream_of(std::uint64_t handle, const RecordedEvent& event) {
    constexpr std::uint64_t kLegacy = 1, kPerThread = 2;
    if (handle == 0) handle = record::is_per_thread(event.function) ? kPerThread : kLegacy;
    return {handle, handle == kPerThread ? event.thread : 0};
  }

  std::string kernel_name(std::uint64_t function) const {
    const auto known = names_.find(function);
    return known == names_.end() ? "(not known)" : known->second;
  }

  void launch(const RecordedEvent& event) {
    const record::RecordedLaunch launch = record::launch_of(event);
    const StreamKey stream = stream_of(launch.note.stream, event);
    const std::string kernel = kernel_name(launch.note.function);
    if (event.succeeded() || event.result == record::kNotReturned) {
      if (observed_.blocking) pending_.clear();
      pending_[stream].push_back({launches_++, kernel});
      return;
    }
    if (!is_sticky(static_cast<CUresult>(event.result))) return refuse(event, launch, kernel);
    if (observed_.blocking) {
      pending_.clear();
      pending_[stream].push_back({launches_, kernel});
    }
    fault(event);
  }

  void refuse(const RecordedEvent& event, const record::RecordedLaunch& launch,
              const std::string& kernel) {
    FindingReport& finding = refused_[{kernel, event.result}];
    if (!finding.kind.empty()) {
      ++finding.count;
      return;
    }
    finding.kind = to_string(Observation::kLaunchRefused);
    finding.kernel = kernel;
    finding.message = fmt::format(
        "{} gave {} ({}) for a grid of ({}), a block of ({}) and {} bytes of dynamic shared memory",
        event.function, observed_.result_name(event.result), event.result,
        fmt::join(launch.note.grid, ", "), fmt::join(launch.note.block, ", "),
        launch.note.shared_bytes);
  }

  void call(const RecordedEvent& event) {
    if (is_sticky(static_cast<CUresult>(event.result))) return fault(event);
    const record::RecordedCall* const row = record::find_call(event.function);
    if (row == nullptr || !event.succeeded()) return;
    const auto own_stream = [&] {
      return row->stream < 0 ? stream_of(0, event)
                             : stream_of(event.word(static_cast<std::size_t>(row->stream)), event);
    };
    switch (row->meaning) {
      case CallMeaning::kGraphLaunch:
        pending_[own_stream()].push_back({launches_, kGraph});
        return;
      case CallMeaning::kEventRecord:
        recorded_[event.word(0)] = {own_stream(), launches_};
        return;
      case CallMeaning::kSynchronize:
        return synchronized(event, *row);
      case CallMeaning::kCopy:
        // One without a stream waits for the default stream.
        if (row->stream < 0) pending_.erase(own_stream());
        return;
      default:
        return;
    }
  }

  void synchronized(const RecordedEvent& event, const record::RecordedCall& row) {
    if (row.stream >= 0) {
      pending_.erase(stream_of(event.word(static_cast<std::size_t>(row.stream)), event));
    } else if (row.function.starts_with("cuCtx")) {
      pending_.clear();
    } else if (const auto known = recorded_.find(event.word(0)); known != recorded_.end()) {
      const auto [stream, launches] = known->second;
      std::erase_if(pending_[stream],
                    [end = launches](const Pending& each) { return each.number < end; });
    }
  }

  void fault(const RecordedEvent& event) {
    if (fault_) return;
    std::vector<Pending> running;
    std::set<std::string> kernels;
    for (const auto& [stream, launches] : pending_) {
      for (const Pending& each : launches) {
        running.push_back(each);
        kernels.insert(each.kernel);
      }
    }
    std::ranges::sort(running, {}, &Pending::number);
    FindingReport& finding = fault_.emplace();
    finding.kind = to_string(Observation::kGpuFault);
    if (kernels.size() == 1 && *kernels.begin() != kGraph) finding.kernel = *kernels.begin();
    finding.message = fmt::format("{} ({}), which {} gave", observed_.result_name(event.result),
                                  event.result, event.function);
    if (running.empty()) {
      finding.message += "; no launch of the record was running";
      return;
    }
    if (running.size() == 1) {
      finding.message += fmt::format("; launch {} ({}) was the only one that had not ended",
                                     running[0].number, with_readable_names(running[0].kernel));
      return;
    }
    std::string list;
    for (std::size_t k = 0; k < std::min(running.size(), kMostListed); ++k) {
      list += fmt::format("{}{} ({})", k == 0 ? "" : ", ", running[k].number,
                          with_readable_names(running[k].kernel));
    }
    finding.message += fmt::format(
        "; {} had not ended: {}{}; set CUDA_LAUNCH_BLOCKING=1 to know which",
        counted_launches(running.size()), list, running.size() > kMostListed ? ", ..." : "");
  }

  const ObservedProcess& observed_;
  std::map<std::uint64_t, std::string> names_;  // of kernels, by handle
  std::map<StreamKey, std::vector<Pending>> pending_;
  std::map<std::uint64_t, std::pair<StreamKey, std::uint64_t>>
      recorded_;  // launches before an event
  std::uint64_t launches_ = 0;
  std::optional<FindingReport> fault_;
  std::map<std::pair<std::string, std::int32_t>, FindingReport> refused_;
};

FindingReport finding_of_edge(const record::RecordEdge& edge) {
  FindingReport finding;
  finding.error = edge.verdict == EdgeVerdict::kUnsafe;
  finding.kind = to_string(edge.cause);
  finding.kernel = edge.to_kernel;
  finding.where = edge.where;
  finding.message =
      fmt::format("launched with PDL after {}, which {}: {}", with_readable_names(edge.from_kernel),
                  finding.error ? "is unsafe" : "may be unsafe", edge.reason);
  finding.count = edge.count;
  return finding;
}

}  // namespace

std::string_view to_string(Observation observation) {
  switch (observation) {
#define BATON_OBSERVATION(name, id, meaning) \
  case Observation::name:                    \
    return id;
#include "tools/process/observations.inc"
#undef BATON_OBSERVATION
  }
  return "";
}

std::vector<FindingReport> record_findings(const record::ProcessRecord& process,
                                           const record::RecordJudgement& judged,
                                           const ObservedProcess& observed) {
  LaunchFollower follower(observed);
  for (const RecordedEvent& event : process.events) follower.follow(event);
  std::vector<FindingReport> findings = follower.take();
  for (const record::RecordEdge& edge : judged.edges) {
    if (edge.programmatic && edge.verdict != EdgeVerdict::kProven) {
      findings.push_back(finding_of_edge(edge));
    }
  }
  return findings;
}

}  // namespace baton::tools
