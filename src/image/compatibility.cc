#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "baton/image.h"
#include "chip/chip.h"
#include "image/architecture.h"

namespace baton {
namespace {

using Answer = Compatibility::Answer;
using image::Architecture;

// Embedded GPUs (Tegra) neither run machine code of others nor have theirs run elsewhere ("Binary
// Compatibility", CUDA C++ Programming Guide).
bool is_apart(int number) {
  const chip::Chip* chip = chip::find(number);
  return chip != nullptr && chip->is_embedded;
}

std::string text_of(const Architecture& arch) {
  return fmt::format("sm_{}{}", arch.number, arch.suffix == 0 ? "" : std::string(1, arch.suffix));
}

Compatibility no(std::string_view what, const Architecture& arch, std::string_view where,
                 int device) {
  return {Answer::kNo,
          fmt::format("{} for {} {}, the device is sm_{}", what, text_of(arch), where, device)};
}

Compatibility unknown(std::string_view arch) {
  return {Answer::kUnknown, arch.empty() ? "the image does not name its architecture"
                                         : fmt::format("{} is not a known architecture", arch)};
}

// What the suffixes allow is the same for machine code and PTX.
std::optional<Compatibility> against_suffix(std::string_view what, const Architecture& arch,
                                            int device) {
  if (arch.suffix == 'a' && device != arch.number) {
    return no(what, arch, fmt::format("runs on sm_{} alone", arch.number), device);
  }
  if (arch.suffix == 'f' && (device / 10 != arch.major() || device % 10 < arch.minor())) {
    return no(what, arch,
              fmt::format("runs only on its family, sm_{} to sm_{}9", arch.number, arch.major()),
              device);
  }
  return std::nullopt;
}

Compatibility machine_code_runs_on(std::string_view text, int device) {
  const auto arch = image::parse_architecture(text);
  if (!arch) return unknown(text);
  if (auto refused = against_suffix("machine code", *arch, device)) return *refused;
  const bool apart = is_apart(device) || is_apart(arch->number);
  if (device != arch->number &&
      (apart || device / 10 != arch->major() || device % 10 < arch->minor())) {
    const std::string where =
        apart ? "and that of another GPU do not mix, one of them being embedded"
              : fmt::format("runs on sm_{} to sm_{}9", arch->number, arch->major());
    return no("machine code", *arch, where, device);
  }
  return {Answer::kRuns, fmt::format("machine code for {} runs on sm_{}", text, device)};
}

// The CUDA version that first took PTX of a version ("PTX ISA", release notes): those above the
// oldest driver that is supported.
struct PtxRelease {
  std::string_view ptx;
  int driver;
};
constexpr PtxRelease kPtxReleases[] = {{"8.5", 12050}, {"8.6", 12070}, {"8.7", 12080},
                                       {"8.8", 12090}, {"9.0", 13000}, {"9.1", 13010}};

Compatibility ptx_compiles_on(std::string_view text, std::string_view version, int device,
                              int driver_version) {
  const auto arch = image::parse_architecture(text);
  if (!arch) return unknown(text);
  if (auto refused = against_suffix("PTX", *arch, device)) return *refused;
  if (device < arch->number) {
    return no("PTX", *arch, fmt::format("compiles for sm_{} and later", arch->number), device);
  }
  for (const PtxRelease& release : kPtxReleases) {
    if (release.ptx != version || driver_version == 0 || driver_version >= release.driver) continue;
    return {Answer::kNo,
            fmt::format("PTX {} needs a driver for CUDA {}.{} or later, this one is for {}.{}",
                        version, release.driver / 1000, release.driver % 1000 / 10,
                        driver_version / 1000, driver_version % 1000 / 10)};
  }
  // With a suffix it fits, so the device is called by it too.
  const std::string own = arch->suffix == 'a' ? fmt::format("{}a", device) : std::to_string(device);
  return {Answer::kCompiles, fmt::format("PTX for {} compiles for sm_{}", text, own)};
}

// Of `facts`' own machine code, or of a member's for `arch`.
Compatibility machine_code_runs_on(const ImageFacts& facts, std::string_view arch, int device) {
  if (facts.linked == false) {
    return {Answer::kNo, "the machine code is an object, which needs a device link first"};
  }
  return machine_code_runs_on(arch, device);
}

Compatibility member_runs_on(const MemberFacts& member, const ImageFacts& facts, int device,
                             int driver_version) {
  switch (member.kind) {
    case MemberFacts::Kind::kCubin:
      return machine_code_runs_on(facts, member.arch, device);
    case MemberFacts::Kind::kPtx:
      return ptx_compiles_on(member.arch, facts.ptx_version, device, driver_version);
    case MemberFacts::Kind::kLto:
      break;
  }
  return {Answer::kNo, fmt::format("LTO-IR for {} has to be linked first", member.arch)};
}

// The best of the members; where none will do, the reasons of all.
Compatibility fatbin_runs_on(const ImageFacts& facts, int device, int driver_version) {
  Compatibility best{Answer::kUnknown, "the fatbin has no known member"};
  std::string reasons;
  bool any_unknown = facts.members.empty();
  for (const MemberFacts& member : facts.members) {
    Compatibility own = member_runs_on(member, facts, device, driver_version);
    if (own.answer == Answer::kRuns) return own;
    if (own.answer == Answer::kCompiles) best = own;
    any_unknown |= own.answer == Answer::kUnknown;
    reasons += (reasons.empty() ? "" : "; ") + own.reason;
  }
  if (best.answer == Answer::kCompiles || reasons.empty()) return best;
  return {any_unknown ? Answer::kUnknown : Answer::kNo, reasons};
}

}  // namespace

Compatibility runs_on(const ImageFacts& facts, int architecture, int driver_version) {
  switch (facts.kind) {
    case ImageKind::kPtx:
      return ptx_compiles_on(facts.arch, facts.ptx_version, architecture, driver_version);
    case ImageKind::kFatbin:
      return fatbin_runs_on(facts, architecture, driver_version);
    case ImageKind::kCubin:
      break;
  }
  return machine_code_runs_on(facts, facts.arch, architecture);
}

std::optional<std::uint32_t> max_dynamic_shared(const KernelFacts& kernel, int architecture) {
  const chip::Chip* chip = chip::find(architecture);
  if (chip == nullptr || !kernel.static_shared) return std::nullopt;
  const std::uint32_t limit = chip->shared_per_block_optin;
  return limit - std::min(limit, *kernel.static_shared);
}

std::optional<std::uint32_t> max_dynamic_shared(const KernelFacts& kernel) {
  const auto arch = image::parse_architecture(kernel.arch);
  return arch ? max_dynamic_shared(kernel, arch->number) : std::nullopt;
}

}  // namespace baton
