#include "bundle/verdicts.h"

#include <algorithm>
#include <optional>

#include "bundle/content.h"

namespace baton::bundle {
namespace {

// The value of an enumeration with that stable name.
template <typename Enum>
std::optional<Enum> named(std::string_view name, Enum last) {
  for (int number = 0; number <= static_cast<int>(last); ++number) {
    if (to_string(static_cast<Enum>(number)) == name) return static_cast<Enum>(number);
  }
  return std::nullopt;
}

std::optional<EdgeReport> read_edge(const Index& index, const VerdictEdgeRow& row) {
  const auto verdict = named(index.text(row.verdict), EdgeVerdict::kUnsafe);
  const auto cause = named(index.text(row.cause), EdgeCause::kAfterEmptyGrid);
  const auto decision = named(index.text(row.decision), EdgeDecision::kEmptyGrid);
  if (!verdict || !cause || !decision) return std::nullopt;
  EdgeReport edge;
  edge.from = row.from;
  edge.to = row.to;
  edge.verdict = *verdict;
  edge.cause = *cause;
  edge.reason = index.text(row.reason);
  edge.programmatic = row.programmatic != 0;
  edge.decision = *decision;
  edge.decision_reason = index.text(row.decision_reason);
  return edge;
}

// False where this version does not know a name in it.
bool read_edges(const Index& index, RangeRef rows, std::vector<EdgeReport>& edges) {
  for (std::uint32_t i = 0; i < rows.count; ++i) {
    auto edge = read_edge(index, index.verdict_edges[rows.first + i]);
    if (!edge) return false;
    edges.push_back(std::move(*edge));
  }
  return true;
}

}  // namespace

void write_judgement(const edges::KeptJudgement& kept, IndexWriter& out) {
  const edges::Judgement& judgement = kept.judgement;
  VerdictRow row{};
  std::ranges::copy(kept.key, row.key);
  row.symbols = out.text(kept.symbols);
  row.answers = out.text(judgement.looks_further_back);
  row.of_setup = kept.of_setup;
  row.starts = {out.rows(out.verdict_starts),
                static_cast<std::uint32_t>(judgement.launches.size())};
  for (const edges::JudgedLaunch& launch : judgement.launches) {
    out.verdict_starts.push_back({launch.early,
                                  launch.waits,
                                  launch.by_values,
                                  launch.trigger.triggers,
                                  launch.trigger.lets_in_early,
                                  {}});
  }
  row.edges = {out.rows(out.verdict_edges), static_cast<std::uint32_t>(judgement.edges.size())};
  for (const EdgeReport& edge : judgement.edges) {
    out.verdict_edges.push_back({edge.from, edge.to, out.text(to_string(edge.verdict)),
                                 out.text(to_string(edge.cause)), out.text(edge.reason),
                                 out.text(to_string(edge.decision)), out.text(edge.decision_reason),
                                 edge.programmatic, 0});
  }
  row.proofs = {out.rows(out.verdict_proofs), static_cast<std::uint32_t>(kept.proofs.size())};
  for (const edges::KeptJudgement::Proof& proof : kept.proofs) {
    VerdictProofRow& added = out.verdict_proofs.emplace_back();
    added.kernel = out.text(proof.kernel);
    std::ranges::copy(proof.ptx, added.sha256);
  }
  out.verdicts.push_back(row);
}

std::vector<edges::KeptJudgement> read_judgements(const Index& index) {
  std::vector<edges::KeptJudgement> all;
  for (std::uint64_t number = 0; number < index.verdicts.size(); ++number) {
    const VerdictRow row = index.verdicts[number];
    edges::KeptJudgement kept;
    if (!read_edges(index, row.edges, kept.judgement.edges)) continue;
    std::ranges::copy(row.key, kept.key.begin());
    kept.symbols = index.text(row.symbols);
    kept.of_setup = row.of_setup != 0;
    kept.judgement.looks_further_back = index.text(row.answers);
    for (std::uint32_t i = 0; i < row.starts.count; ++i) {
      const VerdictStartRow start = index.verdict_starts[row.starts.first + i];
      kept.judgement.launches.push_back({start.early != 0,
                                         start.waits != 0,
                                         start.by_values != 0,
                                         {start.triggers != 0, start.lets_in_early != 0}});
    }
    for (std::uint32_t i = 0; i < row.proofs.count; ++i) {
      const VerdictProofRow proof = index.verdict_proofs[row.proofs.first + i];
      edges::KeptJudgement::Proof& added = kept.proofs.emplace_back();
      added.kernel = index.text(proof.kernel);
      std::ranges::copy(proof.sha256, added.ptx.begin());
    }
    all.push_back(std::move(kept));
  }
  return all;
}

edges::KnownVerdicts known_verdicts(const Bundle& bundle) {
  const Index& index = bundle.content()->index;
  const SectionRow text = index.sections[index.program[0].section];
  edges::KnownVerdicts known{bundle.name()};
  std::ranges::copy(text.sha256, known.program.begin());
  if (index.verdicts.size() != 0) {
    known.read = [content = bundle.content()] { return read_judgements(content->index); };
  }
  return known;
}

}  // namespace baton::bundle
