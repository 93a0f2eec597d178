#include "record/judge.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "edges/edge_words.h"
#include "pdl/verdict/chain.h"
#include "pdl/verdict/launch_evidence.h"
#include "record/call_meaning.h"
#include "record/memory_map.h"
#include "record/recorded_graphs.h"
#include "record/recorded_kernels.h"
#include "record/stream_key.h"

namespace baton::record {
namespace {

using overlap::GivenArgument;
using overlap::Verdict;

// The attribute of a launch that starts after a trigger of any other, by an event.
constexpr std::uint32_t kProgrammaticEvent = 7;
// A second or two of search, for all launches.
constexpr std::uint64_t kWitnessSteps = std::uint64_t{1} << 25;
// Launches with their own numbers are judged once, however often they come.
constexpr std::size_t kLongestRemembered = 32;

// A launch with all that a verdict depends on.
struct ChainedLaunch {
  std::uint64_t number = 0;  // in the process
  const KernelOfRecord* kernel = nullptr;
  const overlap::Footprint* footprint = nullptr;
  std::vector<GivenArgument> arguments;
  overlap::LaunchExtents extents;
  std::string key;  // equal keys, equal launches
};

void append(std::string& key, std::uint64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string key_of(const ChainedLaunch& launch) {
  std::string key;
  append(key, reinterpret_cast<std::uintptr_t>(launch.footprint));
  for (const std::uint32_t extent : launch.extents.grid) append(key, extent);
  for (const GivenArgument& given : launch.arguments) {
    append(key, static_cast<std::uint64_t>(given.kind));
    append(key, given.memory);
    append(key, given.offset);
    append(key, given.bits.value_or(~std::uint64_t{0}));
    append(key, given.fields.size());
    for (const GivenArgument::Field& field : given.fields) {
      append(key, field.position);
      append(key, field.memory);
      append(key, field.offset);
    }
    append(key, given.may_have_other_maps ? 1 : 0);
    append(key, given.maps.size());
    for (const GivenArgument::Field& map : given.maps) {
      append(key, map.position);
      append(key, map.memory);
      append(key, map.offset);
    }
    append(key, given.numbers.size());
    for (const GivenArgument::Number& each : given.numbers) {
      append(key, each.position);
      append(key, each.bits);
    }
  }
  return key;
}

// Whether the kernel's code declares the parameters that the driver tells of, and the launch passes
// no more than these. Otherwise the code may reach what no parameter names.
bool are_declared(const KernelOfRecord& kernel, const std::vector<ParamFacts>* facts,
                  std::string_view passed) {
  if (facts != nullptr) {
    const bool agree = std::ranges::equal(
        *facts, kernel.params,
        [](const ParamFacts& a, const ParamNote& b) { return a.size == b.size; });
    if (!agree) return false;
  }
  std::uint64_t end = 0;
  for (const ParamNote& param : kernel.params) {
    end = std::max(end, std::uint64_t{param.offset} + param.size);
  }
  // A block of parameters may be filled up to a multiple of an address's size.
  constexpr std::uint64_t kAddressBytes = 8;
  return passed.size() < end + kAddressBytes;
}

class RecordJudge {
 public:
  // `loaded`: by what all launches of the record store.
  RecordJudge(const ProcessRecord& process, const ImageBytes& images, overlap::LoadedValue loaded)
      : process_(process), kernels_(images), loaded_(loaded) {}

  // Nothing if a launch stores differences of addresses, and loaded values were taken for indexes.
  std::optional<RecordJudgement> run() {
    for (const RecordedEvent& event : process_.events) {
      if (takes_indexes_wrongly()) return std::nullopt;
      kernels_.follow(event);
      graphs_.follow(event);
      if (event.kind == EventKind::kCall) call(event);
      if (event.kind == EventKind::kTensorMap) memory_.follow(event);
      if (event.kind == EventKind::kLaunch) launch(event);
    }
    if (takes_indexes_wrongly()) return std::nullopt;
    for (auto& [key, edge] : edges_) result_.edges.push_back(std::move(edge));
    std::ranges::sort(result_.edges, {},
                      [](const RecordEdge& edge) { return std::pair(edge.from, edge.to); });
    for (auto& [kernel, row] : seen_) result_.kernels.push_back(std::move(row));
    result_.remarks = kernels_.remarks();
    return std::move(result_);
  }

 private:
  // Launches that may run at the same time, as they were launched or as they might be.
  struct Chain {
    explicit Chain(const MemoryMap& memory)
        : chain([&memory](overlap::MemoryId id) { return memory.is_constant(id); }) {}
    overlap::LaunchChain chain;
    std::vector<std::shared_ptr<const ChainedLaunch>> history;  // since the last full edge

    void cut() {
      chain.cut();
      history.clear();
    }
  };
  struct Stream {
    explicit Stream(const MemoryMap& memory) : launched(memory), possible(memory) {}
    Chain launched;  // with the early starts of the program
    Chain possible;  // with those that are proven, too
    std::shared_ptr<const ChainedLaunch> last;
    std::uint32_t last_thread = 0;        // that launched it
    bool separated = false;               // other work came after it
    std::set<std::uint32_t> waited = {};  // other threads that waited for it since
  };
  Stream& stream(const StreamKey& key) {
    auto& found = streams_[key];
    if (found == nullptr) found = std::make_unique<Stream>(memory_);
    return *found;
  }

  bool takes_indexes_wrongly() const {
    return leaves_differences_ && loaded_ == overlap::LoadedValue::kIndex;
  }

  void separate(Stream& stream) {
    stream.launched.cut();
    stream.possible.cut();
    stream.separated = true;
  }

  // A thread of the host waited. What another thread launches next does not come after that wait,
  // unless that thread also launched what the wait was for.
  void wait_on(Stream& stream, std::uint32_t thread) {
    if (thread == stream.last_thread) return separate(stream);
    stream.waited.insert(thread);
  }

  void call(const RecordedEvent& event) {
    memory_.follow(event);
    const RecordedCall* const row = find_call(event.function);
    if (row == nullptr) return;
    switch (row->meaning) {
      case CallMeaning::kStreamCreate:
      case CallMeaning::kEventCreate:
      case CallMeaning::kEventDestroy:
      case CallMeaning::kGraph:
      case CallMeaning::kUnload:
      case CallMeaning::kModuleOfLibrary:
      case CallMeaning::kMap:
      case CallMeaning::kUnmap:
        return;
      case CallMeaning::kGraphKernelNode:
        // The nodes of known graphs are judged when these are instantiated.
        if (event.succeeded() && !graphs_.has_node(event.word(0))) ++result_.graph_kernels;
        return;
      case CallMeaning::kGraphInstantiate:
        if (event.succeeded()) judge_graph(event.word(1));
        return;
      case CallMeaning::kGraphLaunch:
        ++result_.graph_launches;
        break;
      case CallMeaning::kStreamDestroy:
        streams_.erase(stream_of(event.word(0), event));
        return;
      case CallMeaning::kAllocate:
      case CallMeaning::kAllocatePitch:
      case CallMeaning::kFree:
        // Without a stream, memory is got while launches run; a free waits for them.
        if (row->stream < 0 && row->meaning != CallMeaning::kFree) return;
        break;
      case CallMeaning::kCopy:
      case CallMeaning::kFill:
      case CallMeaning::kStreamWork:
      case CallMeaning::kHostFunction:
      case CallMeaning::kSynchronize:
      case CallMeaning::kEventRecord:
      case CallMeaning::kEventWait:
      case CallMeaning::kCaptureBegin:
      case CallMeaning::kCaptureEnd:
        break;
    }
    const bool is_wait = row->meaning == CallMeaning::kSynchronize ||
                         (row->meaning == CallMeaning::kFree && row->stream < 0);
    if (row->stream >= 0) {
      Stream& named = stream(stream_of(event.word(static_cast<std::size_t>(row->stream)), event));
      return is_wait ? wait_on(named, event.thread) : separate(named);
    }
    if (row->meaning == CallMeaning::kCopy || row->meaning == CallMeaning::kFill) {
      return separate(stream(stream_of(0, event)));
    }
    for (auto& [key, each] : streams_) {
      is_wait ? wait_on(*each, event.thread) : separate(*each);
    }
  }

  std::vector<GivenArgument> arguments_of(const KernelOfRecord& kernel,
                                          const RecordedLaunch& recorded) const {
    const std::vector<ParamFacts>* const facts =
        kernel.facts && kernel.facts->params ? &*kernel.facts->params : nullptr;
    // Where the driver told no sizes, each parameter may be anything.
    if (!kernel.params_known && facts != nullptr) return std::vector<GivenArgument>(facts->size());
    std::vector<GivenArgument> arguments(kernel.params.size());
    if (!kernel.params_known || (recorded.note.flags & kParamsUnknown) != 0) return arguments;
    if (!are_declared(kernel, facts, recorded.params)) return arguments;
    for (std::size_t k = 0; k < kernel.params.size(); ++k) {
      const ParamNote& param = kernel.params[k];
      if (std::uint64_t{param.offset} + param.size > recorded.params.size()) continue;
      const bool is_pointer =
          facts == nullptr || k >= facts->size() || (*facts)[k].kind == ParamKind::kPointer;
      arguments[k] = memory_.argument(recorded.params.substr(param.offset, param.size), is_pointer);
    }
    return arguments;
  }

  std::shared_ptr<ChainedLaunch> judged(const RecordedLaunch& recorded) {
    auto launch = std::make_shared<ChainedLaunch>();
    launch->number = result_.launches;
    launch->kernel = &kernels_.kernel(recorded.note.function);
    std::copy_n(recorded.note.block, 3, launch->extents.block.begin());
    std::copy_n(recorded.note.grid, 3, launch->extents.grid.begin());
    launch->footprint = &kernels_.footprint(*launch->kernel, launch->extents.block);
    names_.try_emplace(launch->footprint, launch->kernel->readable);
    launch->arguments = arguments_of(*launch->kernel, recorded);
    launch->key = key_of(*launch);
    return launch;
  }

  overlap::VariableNumber variables_of(const KernelOfRecord& kernel) {
    return [this, &kernel](std::string_view name, bool constant) {
      return memory_.variable(kernel.module, name, constant);
    };
  }

  void launch(const RecordedEvent& event) {
    if (!event.succeeded() && event.result != kNotReturned) {
      ++result_.failed;
      return;
    }
    const RecordedLaunch recorded = launch_of(event);
    const std::shared_ptr<const ChainedLaunch> launch = judged(recorded);
    ++result_.launches;
    note_kernel(*launch);
    Stream& stream = this->stream(stream_of(recorded.note.stream, event));
    if (recorded.has_attribute(kProgrammaticEvent) || stream.waited.contains(event.thread)) {
      separate(stream);
    }
    stream.waited.clear();
    stream.last_thread = event.thread;
    if (stream.last != nullptr && stream.separated) ++result_.separated;
    launch_behind(stream, launch, recorded.is_programmatic());
  }

  // The launch that comes after the last one of the stream.
  void launch_behind(Stream& stream, const std::shared_ptr<const ChainedLaunch>& launch,
                     bool programmatic) {
    overlap::BoundLaunch bound =
        overlap::bind(*launch->footprint, launch->arguments, launch->extents.block,
                      launch->extents.grid, variables_of(*launch->kernel), loaded_);
    leaves_differences_ = leaves_differences_ || bound.stores_differences;
    bound.number = static_cast<std::uint32_t>(launch->number);
    const bool has_edge = stream.last != nullptr && !stream.separated;
    programmatic = programmatic && has_edge;
    bool possible = programmatic;
    if (has_edge) {
      const Verdict verdict =
          judge(bound, *launch, programmatic ? stream.launched : stream.possible, programmatic);
      possible |= verdict.kind == EdgeVerdict::kProven;
      note_edge(*stream.last, *launch, programmatic, verdict);
    }
    follow(stream.launched, bound, launch, programmatic);
    follow(stream.possible, bound, launch, possible);
    stream.last = launch;
    stream.separated = false;
  }

  // The kernel nodes of a graph that was built without a capture. A node of one dependency is as a
  // launch after another one of a stream.
  void judge_graph(std::uint64_t handle) {
    const GraphOfRecord* const graph = graphs_.find(handle);
    // It may be instantiated again.
    if (graph == nullptr || judged_graphs_[handle] == graph->nodes.size()) return;
    judged_graphs_[handle] = graph->nodes.size();
    std::vector<std::size_t> dependents(graph->nodes.size());
    for (const GraphNodeOfRecord& node : graph->nodes) {
      for (const auto& edge : node.after) ++dependents[edge.from];
    }
    std::vector<std::unique_ptr<Stream>> behind(graph->nodes.size());
    for (const std::size_t k : graph->order()) {
      const GraphNodeOfRecord& node = graph->nodes[k];
      if (node.kind != NodeKind::kKernel) continue;
      const std::shared_ptr<ChainedLaunch> launch = judged(node.launch);
      ++result_.launches;
      note_kernel(*launch);
      const bool is_one = node.after.size() == 1 && !node.lacks_edges;
      const auto* const edge = is_one ? &node.after[0] : nullptr;
      const bool follows = edge != nullptr && behind[edge->from] != nullptr;
      if (!follows || edge->is_launch_order()) {
        behind[k] = std::make_unique<Stream>(memory_);
        if (is_one && !follows) ++result_.separated;
        if (node.after.size() > 1 || node.lacks_edges || follows) ++result_.graph_kernels;
      } else if (--dependents[edge->from] == 0) {
        behind[k] = std::move(behind[edge->from]);
      } else {
        behind[k] = std::make_unique<Stream>(*behind[edge->from]);
      }
      launch_behind(*behind[k], launch, edge != nullptr && edge->programmatic);
    }
  }

  static void follow(Chain& chain, const overlap::BoundLaunch& bound,
                     const std::shared_ptr<const ChainedLaunch>& launch, bool early) {
    if (!early) chain.history.clear();
    chain.history.push_back(launch);
    chain.chain.follow(bound, early);
  }

  Verdict judge(overlap::BoundLaunch& bound, const ChainedLaunch& launch, Chain& chain,
                bool programmatic) {
    const bool never_waits = launch.footprint->waits == overlap::Footprint::Waits::kNever;
    if (never_waits && !programmatic) {
      // It was not made for early starts, and is not wrong.
      Verdict verdict;
      verdict.kind = EdgeVerdict::kUnknown;
      verdict.cause = EdgeCause::kNoWait;
      verdict.own_kernel = launch.footprint;
      return verdict;
    }
    Verdict verdict = chain.chain.judge(bound);
    if (verdict.kind == EdgeVerdict::kProven) return verdict;
    std::string key = launch.key;
    const bool is_short = chain.history.size() <= kLongestRemembered;
    if (is_short) {
      for (const auto& past : chain.history) key += past->key;
      if (const auto known = known_.find(key); known != known_.end()) {
        // The numbers of the launches are those of the first time.
        return known->second;
      }
    }
    if (budget_.witness_steps == 0) {
      if (verdict.kind == EdgeVerdict::kUnsafe) {
        verdict.kind = EdgeVerdict::kUnknown;
        verdict.cause = EdgeCause::kNotRefined;
      }
      return verdict;
    }
    overlap::refine(bound, launch.arguments, launch.extents.block, launch.extents.grid);
    overlap::ExaminedLaunch own(*launch.footprint, launch.arguments, launch.extents,
                                variables_of(*launch.kernel), budget_);
    std::map<std::uint32_t, overlap::ExaminedLaunch> earlier;
    overlap::LaunchEvidence evidence(own, [&](std::uint32_t position) -> overlap::ExaminedLaunch& {
      if (const auto at = earlier.find(position); at != earlier.end()) return at->second;
      const ChainedLaunch& past = *chain.history[position];
      return earlier
          .try_emplace(position, *past.footprint, past.arguments, past.extents,
                       variables_of(*past.kernel), budget_)
          .first->second;
    });
    verdict = chain.chain.judge(bound, &evidence);
    if (is_short) known_.emplace(std::move(key), verdict);
    return verdict;
  }

  void note_edge(const ChainedLaunch& from, const ChainedLaunch& to, bool programmatic,
                 const Verdict& verdict) {
    const auto place = [](const overlap::AccessGroup* group) {
      return group == nullptr ? std::string() : group->where;
    };
    RecordEdge& edge =
        edges_[{from.kernel->readable, to.kernel->readable, programmatic, verdict.kind,
                verdict.cause, place(verdict.own), place(verdict.other)}];
    if (edge.count++ > 0) return;
    edge.from = from.number;
    edge.to = to.number;
    edge.from_kernel = from.kernel->readable;
    edge.to_kernel = to.kernel->readable;
    edge.programmatic = programmatic;
    edge.verdict = verdict.kind;
    edge.cause = verdict.cause;
    edge.where = place(verdict.own);
    edge.reason = edges::describe(
        verdict, {.memory = [this](overlap::MemoryId id) { return memory_.name(id); },
                  .kernel =
                      [this](const overlap::Footprint& footprint) {
                        const auto known = names_.find(&footprint);
                        return known == names_.end() ? footprint.kernel : known->second;
                      }});
  }

  void note_kernel(const ChainedLaunch& launch) {
    RecordKernel& row = seen_[launch.kernel->readable];
    if (row.launches++ > 0) return;
    row.name = launch.kernel->name;
    row.readable = launch.kernel->readable;
    if (launch.kernel->facts) {
      row.waits = launch.kernel->facts->waits;
      row.triggers = launch.kernel->facts->triggers;
    }
    if (launch.footprint->unseen) row.unseen = overlap::describe(*launch.footprint->unseen);
  }

  const ProcessRecord& process_;
  RecordedKernels kernels_;
  RecordedGraphs graphs_;
  std::map<std::uint64_t, std::size_t> judged_graphs_;  // how many nodes each had, by handle
  MemoryMap memory_;
  std::map<StreamKey, std::unique_ptr<Stream>> streams_;
  std::map<
      std::tuple<std::string, std::string, bool, EdgeVerdict, EdgeCause, std::string, std::string>,
      RecordEdge>
      edges_;
  std::map<std::string, RecordKernel> seen_;  // by readable name
  std::map<const overlap::Footprint*, std::string> names_;
  std::map<std::string, Verdict> known_;
  const overlap::LoadedValue loaded_;
  bool leaves_differences_ = false;
  overlap::EvidenceBudget budget_{.witness_steps = kWitnessSteps};
  RecordJudgement result_;
};

}  // namespace

// A launch may load what one that was recorded later has stored: graphs are launched again, and the
// work of one stream may come after that of another.
RecordJudgement judge(const ProcessRecord& process, const ImageBytes& images) {
  if (auto found = RecordJudge(process, images, overlap::LoadedValue::kIndex).run()) {
    return std::move(*found);
  }
  return *RecordJudge(process, images, overlap::LoadedValue::kDifference).run();
}

}  // namespace baton::record
