#include "sim/device/image_ptx.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text/text.h"
#include "image/container/elf.h"
#include "image/container/fatbin.h"
#include "image/container/fatbin_wrapper.h"
#include "image/cubin/kept_ptx.h"
#include "image/ptx/link_ptx.h"
#include "ptx/ast.h"

namespace baton::sim {
namespace {

using image::FatbinWrapper;

// Whether `code` starts with `magic`. Reads no byte after the first that differs, as a shorter
// text ends in a NUL.
bool starts_with(const char* code, std::string_view magic) {
  for (std::size_t i = 0; i < magic.size(); ++i) {
    if (code[i] != magic[i]) return false;
  }
  return true;
}

bool starts_with(const char* code, std::uint32_t magic) {
  char bytes[sizeof magic];
  std::memcpy(bytes, &magic, sizeof magic);
  return starts_with(code, std::string_view(bytes, sizeof bytes));
}

bool is_elf(const char* bytes) {
  return starts_with(bytes,
                     "\x7f"
                     "ELF");
}

// The newest machine code of a fatbin that runs on the architecture, or null.
const image::FatbinMember* code_for(const image::Fatbin& fatbin, int architecture) {
  const image::FatbinMember* best = nullptr;
  for (const image::FatbinMember& member : fatbin.members()) {
    const bool is_code = member.facts.kind == image::FatbinMember::Kind::kCubin;
    const bool runs = member.sm <= architecture && member.sm / 10 == architecture / 10;
    if (is_code && runs && (best == nullptr || member.sm > best->sm)) best = &member;
  }
  return best;
}

// The fatbin that an image is or points to, as its wrapper has it; none where the image is
// something else.
FatbinWrapper fatbin_of(const void* code) {
  const auto* bytes = static_cast<const char*>(code);
  FatbinWrapper wrapper;
  if (starts_with(bytes, image::kFatbinMagic)) wrapper.fatbin = code;
  if (starts_with(bytes, FatbinWrapper::kMagic)) std::memcpy(&wrapper, bytes, sizeof wrapper);
  return wrapper;
}

// Kernels launch others by these functions of CUDA's device runtime.
void refuse_launches(const ptx::ParsedModule& module) {
  for (const char* name : {"cudaLaunchDevice", "cudaLaunchDeviceV2", "cudaCDP2LaunchDevice",
                           "cudaCDP2LaunchDeviceV2"}) {
    if (module.function(name) == nullptr) continue;
    throw error(
        ErrorCode::kUnsupported,
        "its kernels launch kernels (dynamic parallelism, {}), which the simulated GPU does "
        "not do; run it on a GPU",
        name);
  }
}

image::Fatbin read_fatbin(const void* start) {
  return {{static_cast<const char*>(start), image::Fatbin::size_of(start)}, "<fatbin>"};
}

// The PTX with the architecture as its target. An instruction that the architecture lacks is still
// refused where it is executed.
std::string retarget(std::string ptx, int architecture) {
  constexpr std::string_view kTarget = ".target sm_";
  const std::size_t begin = ptx.find(kTarget);
  if (begin == std::string::npos) return ptx;
  const std::size_t digits = begin + kTarget.size();
  const std::size_t end = ptx.find_first_not_of("0123456789", digits);
  // The features of one architecture ("sm_120a") are those of no other.
  if (end != std::string::npos && (ptx[end] == 'a' || ptx[end] == 'f')) return ptx;
  return ptx.replace(digits, end - digits, std::to_string(architecture));
}

std::string ptx_of_fatbin(const FatbinWrapper& wrapper, int architecture);

// What nvlink makes of several objects (-rdc=true) is machine code. The PTX of the objects is
// joined in its place.
std::string joined_ptx(const void* const* fatbins, int architecture) {
  std::vector<std::shared_ptr<const ptx::ParsedModule>> modules;
  for (; *fatbins != nullptr; ++fatbins) {
    FatbinWrapper object;
    object.fatbin = *fatbins;
    modules.push_back(ptx::ParsedModule::of(ptx_of_fatbin(object, architecture), "<ptx>"));
    refuse_launches(*modules.back());
  }
  return modules.empty() ? std::string() : image::link_ptx(modules);
}

// The PTX of a fatbin that suits the architecture best: the newest that is not too new, else
// whichever there is, as what refuses it says why. Libraries often have machine code for all
// architectures of their day, and PTX for the newest alone: a GPU runs the code, and the PTX of the
// same kernels is run here in its place.
std::string ptx_of_fatbin(const FatbinWrapper& wrapper, int architecture) {
  const image::Fatbin fatbin = read_fatbin(wrapper.fatbin);
  const image::FatbinMember* best = nullptr;
  for (const image::FatbinMember& member : fatbin.members()) {
    if (member.facts.kind != image::FatbinMember::Kind::kPtx) continue;
    const auto rank = [&](const image::FatbinMember& each) {
      return each.sm <= architecture ? each.sm : -each.sm;
    };
    if (best == nullptr || rank(member) > rank(*best)) best = &member;
  }
  if (best == nullptr || best->sm > architecture) {
    // A cubin may have its PTX inside.
    for (const image::FatbinMember& member : fatbin.members()) {
      if (member.facts.kind != image::FatbinMember::Kind::kCubin) continue;
      if (best != nullptr && member.sm > architecture) continue;
      const std::string cubin = fatbin.unpack(member);
      if (const std::string_view kept = image::kept_ptx(cubin); !kept.empty()) {
        return std::string(kept);
      }
    }
  }
  if (best == nullptr && wrapper.has_joined()) {
    return joined_ptx(wrapper.joined, architecture);
  }
  if (best == nullptr) {
    throw error(ErrorCode::kUnsupported,
                "the fatbin holds machine code only, no PTX, and the simulated GPU runs PTX; build "
                "it with -gencode arch=compute_{0},code=compute_{0} too, or run on a GPU",
                architecture);
  }
  std::string ptx = fatbin.unpack(*best);
  if (best->sm <= architecture || code_for(fatbin, architecture) == nullptr) return ptx;
  return retarget(std::move(ptx), architecture);
}

}  // namespace

std::string ptx_of_image(const void* code, int architecture) {
  const auto* bytes = static_cast<const char*>(code);
  if (is_elf(bytes)) {
    const std::string_view kept = image::kept_ptx({bytes, image::ElfFile::size_of(bytes)});
    if (!kept.empty()) return std::string(kept);
    throw error(ErrorCode::kUnsupported,
                "the image is a cubin: it holds machine code only, no PTX, and the simulated GPU "
                "runs PTX; give it the PTX of the same kernels, or run on a GPU");
  }
  if (const FatbinWrapper wrapper = fatbin_of(code); wrapper.fatbin != nullptr) {
    return ptx_of_fatbin(wrapper, architecture);
  }
  const std::string_view text(bytes);
  if (text.find(".version") == std::string_view::npos) {
    throw error(ErrorCode::kInvalidInput,
                "the image is neither PTX (it has no .version) nor a cubin nor a fatbin: it starts "
                "with \"{}\"",
                printable(text, 24));
  }
  return std::string(text);
}

std::string cubin_of_image(const void* code, int architecture) {
  const auto* bytes = static_cast<const char*>(code);
  if (is_elf(bytes)) return {bytes, image::ElfFile::size_of(bytes)};
  const void* const start = fatbin_of(code).fatbin;
  if (start == nullptr) return {};
  const image::Fatbin fatbin = read_fatbin(start);
  const image::FatbinMember* const member = code_for(fatbin, architecture);
  return member == nullptr ? std::string() : fatbin.unpack(*member);
}

}  // namespace baton::sim
