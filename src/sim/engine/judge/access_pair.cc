#include "sim/engine/judge/access_pair.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/finding_advice.h"
#include "sim/engine/memory/launch_ranges.h"
#include "sim/engine/run/wait_paths.h"

namespace baton::sim {
namespace {

using driver::FindingKind;
using Relation = Ordering::Relation;

struct CodePlace {
  const DecodedFunction* function = nullptr;
  const Insn* insn = nullptr;
};

std::array<std::uint32_t, 3> unfold(std::uint64_t number,
                                    const std::array<std::uint32_t, 3>& extent) {
  const std::uint64_t x = std::max(extent[0], 1u);
  const std::uint64_t y = std::max(extent[1], 1u);
  return {static_cast<std::uint32_t>(number % x), static_cast<std::uint32_t>(number / x % y),
          static_cast<std::uint32_t>(number / x / y)};
}

// The memory instruction of that number in the kernel.
CodePlace find_insn(const DecodedKernel& kernel, std::uint32_t number) {
  if (number >= Toucher::kNoInsn) return {};
  for (const auto& function : kernel.functions) {
    for (std::size_t k = 0; k < function->sites.size() && k < function->code.size(); ++k) {
      if (function->code[k].cache == number) return {function.get(), &function->code[k]};
    }
  }
  return {};
}

std::string place_text(const DecodedKernel& kernel, const CodePlace& place) {
  if (place.insn == nullptr) return {};
  const auto at = static_cast<std::size_t>(place.insn - place.function->code.data());
  return place_of(*kernel.ptx, place.function->sites[at]);
}

// One of the two accesses, and what is known of its operation.
struct Party : AccessParty {
  Ordering::Operation operation;
  CodePlace place;

  bool is_grid() const { return operation.kernel != nullptr; }
  bool frees() const { return !is_grid() && operation.name == "free"; }
  bool allocates() const { return !is_grid() && operation.name == "allocation"; }
  std::string where() const { return is_grid() ? place_text(*operation.kernel, place) : ""; }
  std::array<std::uint32_t, 3> block() const { return unfold(toucher.block(), operation.blocks); }
  std::array<std::uint32_t, 3> thread() const {
    return unfold(toucher.thread(), operation.threads);
  }
  // "norm, block (0, 0, 0), thread (3, 0, 0), at norm.cu:12:7"
  std::string text() const {
    if (allocates()) return "an allocation in the order of a stream";
    if (!is_grid()) return fmt::format("a {} by the host", operation.name);
    const auto b = block();
    const auto t = thread();
    const std::string at = where();
    return fmt::format("kernel {}, block {}, thread ({}, {}, {}){}{}", operation.name,
                       toucher.block() == Toucher::kNoBlock
                           ? "beyond the first half million"
                           : fmt::format("({}, {}, {})", b[0], b[1], b[2]),
                       t[0], t[1], t[2], at.empty() ? "" : ", at ", at);
  }
};

Party make_party(const AccessParty& access) {
  Party party{access, Ordering::instance().operation(access.number), {}};
  if (party.is_grid()) party.place = find_insn(*party.operation.kernel, access.toucher.insn());
  return party;
}

std::string names_of(const std::vector<Ordering::Number>& grids) {
  std::string names;
  for (const Ordering::Number grid : grids) {
    if (!names.empty()) names += " and ";
    names += Ordering::instance().operation(grid).name;
  }
  return names;
}

struct RaceDiagnosis {
  FindingKind kind;
  std::string why;
};

// What is wrong between two accesses, the second of which was submitted later.
RaceDiagnosis judge(const Party& earlier, const Party& later) {
  if (!earlier.is_grid() || !later.is_grid()) {
    return {later.frees() || earlier.frees() ? FindingKind::kFreeRace : FindingKind::kHostRace,
            "nothing orders the two: record an event after the one and let the other's stream "
            "wait for it"};
  }
  const Relation relation = Ordering::instance().relation(later.number, earlier.number);
  if (relation == Relation::kNone) {
    const auto links = Ordering::instance().missing_links(later.number, earlier.number);
    if (links.empty()) {
      return {FindingKind::kUnorderedGrids,
              fmt::format("nothing orders the two grids: {}", driver::kOrderGrids)};
    }
    if (later.toucher.has_waited()) {
      return {
          FindingKind::kTransitiveWait,
          fmt::format("kernel {} between the two is launched as a dependent and no thread of it "
                      "waits (griddepcontrol.wait), so it may be done before {} is, and waiting "
                      "for it is not enough by the documented contract (an H200 showed no stale "
                      "read in 200 tries): let it wait",
                      names_of(links), earlier.operation.name)};
    }
  }
  if (!later.operation.kernel->has_grid_wait) {
    return {FindingKind::kMissingWait,
            fmt::format("kernel {} is launched as a dependent and never waits for "
                        "the grid before it (griddepcontrol.wait)",
                        later.operation.name)};
  }
  if (later.place.insn == nullptr ||
      may_wait_after(*later.operation.kernel, *later.place.function, *later.place.insn)) {
    const auto kind = !later.writes    ? FindingKind::kReadBeforeWait
                      : earlier.writes ? FindingKind::kWriteBeforeWait
                                       : FindingKind::kWriteAfterRead;
    return {kind, "the access comes before griddepcontrol.wait: move it after the wait"};
  }
  return {FindingKind::kMissingWait,
          "this thread has not executed griddepcontrol.wait, nor does a barrier order it after one "
          "that has: on this path the wait is missing"};
}

// The same of grids of two devices, the second of which accesses now.
RaceDiagnosis judge_devices(const Party& before, const Party& now, bool is_narrow) {
  if (is_narrow) {
    return {FindingKind::kPeerScope,
            "the two grids are on two devices, and a flag between them has the scope of one: give "
            "the release, the acquire and their fences the scope of the system (.sys, "
            "__threadfence_system, cuda::thread_scope_system)"};
  }
  if (now.writes) {
    return {FindingKind::kPeerOverwrite,
            fmt::format("the two grids are on two devices, and nothing orders this write after "
                        "that {}: acquire a flag that the other device releases behind it, both "
                        "with the scope of the system (.sys), or write to another slot",
                        before.writes ? "write" : "read")};
  }
  return {FindingKind::kPeerRead,
          "the two grids are on two devices, and nothing orders this read after that write: let "
          "the writer release a flag behind it, and acquire the flag before the read, both with "
          "the scope of the system (.sys)"};
}

bool are_on_two_devices(const Party& a, const Party& b) {
  const int one = a.operation.device;
  const int other = b.operation.device;
  return a.is_grid() && b.is_grid() && one >= 0 && other >= 0 && one != other;
}

const char* verb_of(const Party& party) {
  if (party.allocates()) return "makes";
  return party.writes ? "writes" : "reads";
}

// About `subject`, which is a grid, or the other one of two operations of the host.
driver::Finding finding_of(const DeviceMemory& memory, const Party& subject, const Party& rival,
                           std::uint64_t address, std::uint32_t bytes,
                           const RaceDiagnosis& diagnosis) {
  driver::Finding finding(diagnosis.kind);
  if (subject.is_grid()) finding.kernel = subject.operation.name;
  finding.where = subject.where();
  finding.tag = driver::tag_of(subject.operation.note.get());
  finding.other_tag = driver::tag_of(rival.operation.note.get());
  if (subject.is_grid()) {
    finding.block = subject.block();
    finding.thread = subject.thread();
  }
  finding.message = fmt::format(
      "{}{} {} bytes at {:#x}, {}, that {} {}; {}", subject.is_grid() ? "" : subject.text() + " ",
      verb_of(subject), bytes, address, describe(memory, subject.operation.note.get(), address),
      rival.text(), verb_of(rival), diagnosis.why);
  return finding;
}

}  // namespace

driver::Finding pair_finding(const DeviceMemory& memory, const AccessParty& a, const AccessParty& b,
                             std::uint64_t address, std::uint32_t bytes, bool is_narrow) {
  // Findings are about the later grid; or the only one. Of two devices neither is the later one.
  Party one = make_party(b);
  Party other = make_party(a);
  const bool of_devices = are_on_two_devices(one, other);
  if (!of_devices && b.number > a.number) std::swap(one, other);
  const RaceDiagnosis diagnosis =
      of_devices ? judge_devices(one, other, is_narrow) : judge(one, other);
  const Party& subject = other.is_grid() ? other : one;
  const Party& rival = other.is_grid() ? one : other;
  return finding_of(memory, subject, rival, address, bytes, diagnosis);
}

driver::Finding noncoherent_finding(const DeviceMemory& memory, const AccessParty& one,
                                    const AccessParty& other, std::uint64_t address,
                                    std::uint32_t bytes) {
  const std::string why =
      one.number == other.number
          ? "a grid must not write what it loads in a non-coherent way"
          : "only a wait or a flag is between the two grids, and neither orders such a load";
  return finding_of(
      memory, make_party(one), make_party(other), address, bytes,
      {FindingKind::kNonCoherentRead,
       why + ": load it in the ordinary way, not by __ldg(), const __restrict__, a texture or "
             "constant memory"});
}

driver::Finding no_wait_finding(const std::string& name, const DecodedKernel& kernel) {
  driver::Finding finding(FindingKind::kNoWait);
  finding.kernel = name;
  if (!kernel.entry->sites.empty()) {
    finding.where = place_of(*kernel.ptx, kernel.entry->sites.front());
  }
  finding.message =
      "launched as a dependent (programmatic stream serialization, or a programmatic edge), but it "
      "has no griddepcontrol.wait, so nothing orders it after the grid before it, nor what follows "
      "it; call cudaGridDependencySynchronize(), or launch it without the attribute. Where the "
      "source does wait, the wait was compiled out: CUTLASS needs CUTLASS_ENABLE_GDC_FOR_SM90 and "
      "sm_90a, and PTX for older chips than sm_90 has none";
  return finding;
}

}  // namespace baton::sim
