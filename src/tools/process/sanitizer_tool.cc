#include "tools/process/sanitizer_tool.h"

#include <algorithm>

#include "driver/finding_kind.h"

namespace baton::tools {
namespace {

using driver::FindingKind;
using driver::FindingSeverity;

constexpr std::string_view kNames[] = {"memcheck", "racecheck", "initcheck", "synccheck"};

SanitizerTool tool_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::kReadBeforeWait:
    case FindingKind::kWriteBeforeWait:
    case FindingKind::kWriteAfterRead:
    case FindingKind::kMissingWait:
    case FindingKind::kNoWait:
    case FindingKind::kTransitiveWait:
    case FindingKind::kUnorderedGrids:
    case FindingKind::kHostRace:
    case FindingKind::kPeerRead:
    case FindingKind::kPeerOverwrite:
    case FindingKind::kPeerScope:
    case FindingKind::kSharedRace:
    case FindingKind::kGlobalRace:
    case FindingKind::kAsyncRace:
    case FindingKind::kNonCoherentRead:
    case FindingKind::kStaleTensorMap:
    case FindingKind::kUnfrozenRead:
      return SanitizerTool::kRacecheck;
    case FindingKind::kUninitialized:
      return SanitizerTool::kInitcheck;
    case FindingKind::kBarrierDivergence:
    case FindingKind::kBadBarrier:
    case FindingKind::kBadMembers:
    case FindingKind::kDeadlock:
    case FindingKind::kLivelock:
    case FindingKind::kBadMbarrier:
      return SanitizerTool::kSynccheck;
    case FindingKind::kFreeRace:
    case FindingKind::kOutOfBounds:
    case FindingKind::kNullPointer:
    case FindingKind::kHostPointer:
    case FindingKind::kMisaligned:
    case FindingKind::kUseAfterFree:
    case FindingKind::kBadFree:
    case FindingKind::kExitedBlock:
    case FindingKind::kUnstartedBlock:
    case FindingKind::kFrozenWrite:
    case FindingKind::kWeightWritten:
    case FindingKind::kTrap:
    case FindingKind::kAssertion:
    case FindingKind::kBadAtomic:
    case FindingKind::kBadBranch:
    case FindingKind::kBadCall:
    case FindingKind::kStackOverflow:
    case FindingKind::kBadCopy:
    case FindingKind::kBadTexture:
    case FindingKind::kUnsupportedInstruction:
    case FindingKind::kUnsupported:
    case FindingKind::kLaunchFailed:
      return SanitizerTool::kMemcheck;
  }
  return SanitizerTool::kMemcheck;
}

bool counts(SanitizerTool tool, const FindingReport& finding) {
  const auto rows = driver::finding_table();
  const auto row = std::ranges::find(rows, std::string_view(finding.kind), &driver::FindingRow::id);
  // What no kernel did, as memory that was never freed, was asked for by itself.
  if (row == rows.end() || row->severity == FindingSeverity::kFault) return true;
  return tool_of(row->kind) == tool;
}

}  // namespace

std::span<const std::string_view> sanitizer_tools() {
  return kNames;
}

void keep_findings_of(SanitizerTool tool, ExecReport& report) {
  report.other_tools += std::erase_if(
      report.findings, [&](const ExecReport::Seen& seen) { return !counts(tool, seen.finding); });
  if (tool != SanitizerTool::kInitcheck) return;
  const std::string_view read = driver::to_string(FindingKind::kUninitialized);
  for (ExecReport::Seen& seen : report.findings) {
    if (seen.finding.kind == read) seen.finding.error = true;
  }
}

}  // namespace baton::tools
