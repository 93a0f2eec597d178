#include "image/cubin/machine_code.h"

#include <algorithm>
#include <iterator>

#include "chip/chip.h"
#include "image/container/bytes.h"

namespace baton::image {
namespace {

// Measured with CUDA 13.0 on sm_90, 90a, 100a, 103a, 110a, 120a, 121 and 121a: instructions of 16
// bytes; bits 0-11 of the first word are the opcode, 12-15 the guard, where 0xf never executes.
constexpr std::uint64_t kWait = 0x82e;
constexpr std::uint64_t kLaunchDependents = 0x82d;
constexpr int kKnownArchs[] = {90, 100, 103, 110, 120, 121};
constexpr std::size_t kSlot = 16;

// Rows of .nv.callgraph after a row (0, marker) are of that kind.
constexpr std::uint32_t kDirectCalls = 0xffffffff;
constexpr std::uint32_t kIndirectCalls = 0xfffffffd;
constexpr std::uint32_t kFirstMarker = 0xfffffff0;

// Functions of the driver's own, which neither wait nor trigger.
bool is_helper(std::string_view name) {
  for (std::string_view known : {"vprintf", "malloc", "free", "__assertfail"}) {
    if (name == known) return true;
  }
  return name.starts_with("__cuda_syscall_") || name.starts_with("cuda");
}

}  // namespace

MachineCode::MachineCode(const Cubin& cubin)
    : cubin_(cubin), scans_(cubin.sections().size()), seen_(cubin.symbols().size()) {
  read_call_graph();
}

void MachineCode::read_call_graph() {
  const Cubin::Section* graph = cubin_.section(".nv.callgraph", Cubin::kCallGraph);
  if (graph == nullptr) return;
  std::uint32_t marker = 0;
  for (std::size_t at = 0; at + 8 <= graph->bytes.size(); at += 8) {
    const auto caller = load_or_zero<std::uint32_t>(graph->bytes, at);
    const auto callee = load_or_zero<std::uint32_t>(graph->bytes, at + 4);
    if (caller == 0 && callee >= kFirstMarker) {
      marker = callee;
    } else if (marker == kDirectCalls) {
      calls_.emplace_back(caller, callee);
    } else if (marker == kIndirectCalls) {
      indirect_.push_back(caller);
    }
  }
  std::sort(calls_.begin(), calls_.end());
  std::sort(indirect_.begin(), indirect_.end());
}

const MachineCode::Scan& MachineCode::scan(std::uint16_t index) {
  static constexpr Scan kUnreadable = {true, false, false, false};
  const Cubin::Section* section = cubin_.section(index);
  if (section == nullptr || !section->is_readable) return kUnreadable;
  Scan& out = scans_[index];
  if (out.is_done) return out;
  out.is_done = true;
  out.is_readable = true;
  for (std::size_t at = 0; at + kSlot <= section->bytes.size(); at += kSlot) {
    const auto low = load_or_zero<std::uint64_t>(section->bytes, at);
    if ((low >> 12 & 0xf) == 0xf) continue;
    out.waits |= (low & 0xfff) == kWait;
    out.triggers |= (low & 0xfff) == kLaunchDependents;
  }
  return out;
}

MachineCode::Found MachineCode::from(std::uint32_t kernel) {
  const std::optional<int> sm = cubin_.sm();
  if (!sm) return {};
  if (*sm < chip::kFirstWithPdl) return {false, false};
  const bool is_known =
      std::find(std::begin(kKnownArchs), std::end(kKnownArchs), *sm) != std::end(kKnownArchs);
  if (!is_known || !cubin_.is_linked()) return {};

  const std::vector<Cubin::Symbol>& symbols = cubin_.symbols();
  bool waits = false;
  bool triggers = false;
  bool is_open = false;
  std::vector<std::uint32_t> reached = {kernel};
  seen_[kernel] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (++visits_ > kMaxVisits) {
      is_open = true;
      break;
    }
    const std::uint32_t caller = reached[i];
    const Cubin::Symbol& symbol = symbols[caller];
    if (symbol.section == 0) {
      is_open |= !is_helper(symbol.name);
      continue;
    }
    const Scan& code = scan(symbol.section);
    waits |= code.waits;
    triggers |= code.triggers;
    is_open |= !code.is_readable;
    is_open |= std::binary_search(indirect_.begin(), indirect_.end(), caller);
    auto call = std::lower_bound(calls_.begin(), calls_.end(), std::pair(caller, std::uint32_t{0}));
    for (; call != calls_.end() && call->first == caller; ++call) {
      if (call->second >= symbols.size()) {
        is_open = true;
      } else if (!seen_[call->second]) {
        seen_[call->second] = true;
        reached.push_back(call->second);
      }
    }
  }
  for (const std::uint32_t symbol : reached) seen_[symbol] = false;
  const auto known = [&](bool found) {
    return found || !is_open ? std::optional<bool>(found) : std::nullopt;
  };
  return {known(waits), known(triggers)};
}

}  // namespace baton::image
