#include "record/recorded_kernels.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "image/container/fatbin.h"
#include "image/cubin/kept_ptx.h"
#include "image/names/mangled_name.h"
#include "record/call_meaning.h"

namespace baton::record {
namespace {

using overlap::Unseen;
using overlap::UnseenCause;

// The PTX that an image's machine code is made from, where the image itself tells: it is PTX, a
// cubin that keeps its PTX, or a fatbin all of whose members are for one architecture. Of other
// fatbins the driver may have taken machine code that another PTX was compiled to.
std::optional<std::string> ptx_of(const Image& image) {
  switch (image.kind()) {
    case ImageKind::kPtx:
      return std::string(image.bytes());
    case ImageKind::kCubin: {
      const std::string_view kept = image::kept_ptx(image.bytes());
      return kept.empty() ? std::nullopt : std::optional(std::string(kept));
    }
    case ImageKind::kFatbin:
      break;
  }
  const image::Fatbin fatbin(image.bytes(), image.name());
  const image::FatbinMember* ptx = nullptr;
  std::set<int> architectures;
  for (const image::FatbinMember& member : fatbin.members()) {
    architectures.insert(member.sm);
    if (member.facts.kind == image::FatbinMember::Kind::kPtx) ptx = &member;
    if (member.facts.kind != image::FatbinMember::Kind::kCubin || fatbin.members().size() > 1) {
      continue;
    }
    const std::string cubin = fatbin.unpack(member);
    if (const std::string_view kept = image::kept_ptx(cubin); !kept.empty()) {
      return std::string(kept);
    }
  }
  if (ptx == nullptr || architectures.size() != 1) return std::nullopt;
  return fatbin.unpack(*ptx);
}

}  // namespace

const RecordedKernels::ReadImage* RecordedKernels::read(const Digest& digest) {
  const auto [at, is_new] = read_.try_emplace(digest);
  if (!is_new) return at->second ? &*at->second : nullptr;
  try {
    std::optional<std::string> bytes = images_(digest);
    if (!bytes) return nullptr;
    const Image image = Image::from_bytes(*bytes, "an image of the record");
    ReadImage result;
    result.digest = digest;
    result.facts = read_facts(image);
    result.unseen = {UnseenCause::kMachineCode};
    if (const std::optional<std::string> text = ptx_of(image)) {
      try {
        result.ptx = ptx::ParsedModule::parse(*text, "ptx");
      } catch (const Error& unreadable) {
        result.unseen = {UnseenCause::kUnreadable, unreadable.message()};
      }
    }
    at->second = std::move(result);
    return &*at->second;
  } catch (const Error& failure) {
    remarks_.push_back(failure.message());
    return nullptr;
  }
}

void RecordedKernels::follow(const RecordedEvent& event) {
  if (event.kind == EventKind::kImage) {
    const ImageNote note = record::image_of(event);
    Digest digest;
    std::copy(std::begin(note.digest), std::end(note.digest), digest.begin());
    libraries_.erase(note.module);
    if (note.module == 0) {
      embedded_.push_back(digest);
    } else {
      modules_[note.module] = digest;
    }
  } else if (event.kind == EventKind::kFunction) {
    const RecordedFunction function = function_of(event);
    const std::uint64_t handle = function.note.function;
    // A handle may be used again for another kernel.
    if (const auto old = kernels_.find(handle); old != kernels_.end()) {
      retired_.push_back(std::move(old->second));
      kernels_.erase(old);
    }
    functions_[handle] = function;
    names_[handle] = event.text;
  } else if (event.kind == EventKind::kCall && event.succeeded()) {
    const RecordedCall* const row = find_call(event.function);
    if (row == nullptr || row->meaning != CallMeaning::kModuleOfLibrary) return;
    libraries_[event.word(0)] = event.word(1);
    if (const auto library = modules_.find(event.word(1)); library != modules_.end()) {
      modules_[event.word(0)] = library->second;
    }
  } else if (event.kind == EventKind::kRemark) {
    remarks_.emplace_back(event.text);
  }
}

const RecordedKernels::ReadImage* RecordedKernels::image_of(std::uint64_t module,
                                                            const std::string& kernel) {
  if (const auto known = modules_.find(module); known != modules_.end()) return read(known->second);
  // Loaded by a way that is not recorded: the one image of the program's files that has it.
  const ReadImage* only = nullptr;
  std::set<Digest> seen;
  for (const Digest& digest : embedded_) {
    if (!seen.insert(digest).second) continue;
    const ReadImage* const image = read(digest);
    if (image == nullptr || image->facts.kernel(kernel) == nullptr) continue;
    if (only != nullptr) return nullptr;
    only = image;
  }
  return only;
}

const KernelOfRecord& RecordedKernels::kernel(std::uint64_t handle) {
  auto& kernel = kernels_[handle];
  if (kernel != nullptr) return *kernel;
  kernel = std::make_unique<KernelOfRecord>();
  kernel->unseen = {UnseenCause::kMachineCode};
  const auto known = functions_.find(handle);
  if (known == functions_.end()) {
    kernel->name = kernel->readable = fmt::format("kernel {:#x}", handle);
    return *kernel;
  }
  const RecordedFunction& function = known->second;
  kernel->name = kernel->readable = names_[handle];
  if (auto name = image::read_mangled(kernel->name)) kernel->readable = std::move(name->text);
  kernel->module = function.note.module;
  kernel->params = function.params;
  kernel->params_known = (function.note.flags & kParamsUnknown) == 0;
  const ReadImage* const image = image_of(kernel->module, kernel->name);
  kernel->module = owner(kernel->module);
  if (image == nullptr) return *kernel;
  kernel->image = image->digest;
  if (const KernelFacts* const facts = image->facts.kernel(kernel->name)) {
    kernel->facts = *facts;
    if (!facts->demangled.empty()) kernel->readable = facts->demangled;
  }
  kernel->unseen = image->unseen;
  if (image->ptx == nullptr) return *kernel;
  kernel->function = image->ptx->function(kernel->name);
  if (kernel->function == nullptr || !kernel->function->has_body) {
    kernel->unseen = {UnseenCause::kNoKernel};
    kernel->function = nullptr;
    return *kernel;
  }
  kernel->ptx = image->ptx;
  return *kernel;
}

std::uint64_t RecordedKernels::owner(std::uint64_t module) const {
  const auto library = libraries_.find(module);
  return library == libraries_.end() ? module : library->second;
}

std::optional<std::array<std::uint8_t, 32>> RecordedKernels::image(std::uint64_t module) const {
  const auto known = modules_.find(module);
  return known == modules_.end() ? std::nullopt : std::optional(known->second);
}

const overlap::Footprint& RecordedKernels::footprint(const KernelOfRecord& kernel,
                                                     const std::array<std::uint32_t, 3>& block) {
  auto& footprint = footprints_[{&kernel, block}];
  if (footprint != nullptr) return *footprint;
  if (kernel.ptx != nullptr) {
    footprint = std::make_unique<const overlap::Footprint>(
        overlap::read_footprint(kernel.ptx, *kernel.function, block));
  } else {
    const std::optional<bool> waits = kernel.facts ? kernel.facts->waits : std::nullopt;
    const std::optional<bool> triggers = kernel.facts ? kernel.facts->triggers : std::nullopt;
    footprint = std::make_unique<const overlap::Footprint>(
        overlap::unknown_footprint(kernel.name, waits, triggers, kernel.unseen));
  }
  return *footprint;
}

}  // namespace baton::record
