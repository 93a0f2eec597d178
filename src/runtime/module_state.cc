#include "runtime/module_state.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/text/text.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "image/image_content.h"
#include "runtime/jit_log.h"

namespace baton {
namespace {

// What the image says, or an empty answer: an image that Baton cannot read may still load.
std::shared_ptr<const ImageFacts> facts_or_remark(const Image& image) {
  try {
    return image::shared_facts(image);
  } catch (const Error& failure) {
    log(LogLevel::kInfo, "{}: {}", image.name(), failure.message());
    ImageFacts facts;
    facts.kind = image.kind();
    facts.remarks.push_back(failure.message());
    return std::make_shared<const ImageFacts>(std::move(facts));
  }
}

// What the image itself says against the device, or nothing.
std::string why_not(const ImageFacts& facts, const Device& device) {
  Compatibility answer = runs_on(facts, device.architecture(), device.driver_version());
  return answer.answer == Compatibility::Answer::kNo ? std::move(answer.reason) : std::string();
}

// Machine code first, as it needs no compiler; in the order given otherwise.
std::vector<const Image*> by_preference(std::span<const Image> images) {
  std::vector<const Image*> order;
  order.reserve(images.size());
  for (const bool is_ptx : {false, true}) {
    for (const Image& image : images) {
      if ((image.kind() == ImageKind::kPtx) == is_ptx) order.push_back(&image);
    }
  }
  return order;
}

}  // namespace

ModuleState::ModuleState(const Device& device, std::span<const Image> images,
                         std::vector<std::pair<std::string, std::string>> symbols)
    : device_(device),
      symbols_(std::make_move_iterator(symbols.begin()), std::make_move_iterator(symbols.end())) {
  if (images.empty()) throw error(ErrorCode::kInvalidInput, "no image was given to load");
  load(images);
  index_.emplace(*facts_);
}

ModuleState::ModuleState(const Device& device, std::unique_ptr<DriverLibrary> library)
    : device_(device), library_(std::move(library)), name_("the adopted library") {
  ImageFacts facts;
  facts.kind = ImageKind::kCubin;
  take_kernels_from_driver(facts);
  facts_ = std::make_shared<const ImageFacts>(std::move(facts));
  index_.emplace(*facts_);
}

void ModuleState::load(std::span<const Image> images) {
  std::vector<std::string> refusals;
  bool other_architecture = false;
  std::optional<Error> complaint;
  for (const Image* image : by_preference(images)) {
    // Before the driver: the simulated one then shares what is parsed here.
    std::shared_ptr<const ImageFacts> facts = facts_or_remark(*image);
    std::string why;
    library_ = DriverLibrary::load(device_, *image, &why);
    if (library_ != nullptr) {
      name_ = image->name();
      facts_ = joined_facts(std::move(facts), images, *image);
      return;
    }
    refusals.push_back(fmt::format("{} ({}): {}", image->name(), to_string(image->kind()), why));
    if (!complaint) complaint = first_complaint(why, image->name());
    if (std::string reason = why_not(*facts, device_); !reason.empty()) {
      refusals.back() += "\n" + reason;
      other_architecture = true;
    }
    log(LogLevel::kDebug, "not loaded on {}: {}", device_.spec(), refusals.back());
  }
  const bool one = refusals.size() == 1;
  if (one && complaint) {
    complaint->note(fmt::format("on {} ({})", device_.spec(), device_.name()));
    for (std::string_view line : split_lines(refusals[0])) complaint->note(std::string(line));
    throw std::move(*complaint);
  }
  // Where the architecture suits, other machine code for it would not serve either.
  const bool all_ptx = std::all_of(images.begin(), images.end(), [](const Image& image) {
    return image.kind() == ImageKind::kPtx;
  });
  std::string advice = "bring PTX";
  if (other_architecture) advice += ", or machine code for " + device_.compile_arch();
  if (all_ptx) advice = "recompile for " + device_.compile_arch();
  Error failure =
      error(ErrorCode::kInvalidInput, "{} {} on {} ({}, sm_{}): {}", images.front().name(),
            one ? "does not load" : "and its other images do not load", device_.spec(),
            device_.name(), device_.architecture(), advice);
  for (const std::string& refusal : refusals) {
    for (std::string_view line : split_lines(refusal)) failure.note(std::string(line));
  }
  throw failure;
}

std::shared_ptr<const ImageFacts> ModuleState::joined_facts(std::shared_ptr<const ImageFacts> facts,
                                                            std::span<const Image> images,
                                                            const Image& loaded) const {
  // The other images add what this kind does not say: PTX the types, machine code the registers.
  for (const Image& image : images) {
    if (&image == &loaded || image.kind() == loaded.kind()) continue;
    facts = std::make_shared<const ImageFacts>(merge_facts(*facts, *facts_or_remark(image)));
  }
  if (!facts->kernels.empty()) return facts;
  ImageFacts of_driver = *facts;
  take_kernels_from_driver(of_driver);
  return std::make_shared<const ImageFacts>(std::move(of_driver));
}

void ModuleState::take_kernels_from_driver(ImageFacts& facts) const {
  for (std::string& name : library_->kernel_names()) {
    KernelFacts kernel;
    kernel.demangled = name;
    kernel.name = std::move(name);
    facts.kernels.push_back(std::move(kernel));
  }
}

const KernelFacts& ModuleState::find(std::string_view entry) const {
  if (const auto symbol = symbols_.find(entry); symbol != symbols_.end()) {
    if (const KernelFacts* found = index_->symbol(symbol->second)) return *found;
  }
  return index_->find(entry, name_);
}

KernelState& ModuleState::kernel(std::string_view entry) {
  const KernelFacts& facts = find(entry);
  std::lock_guard lock(mutex_);
  kernels_.resize(facts_->kernels.size());
  auto& state = kernels_[static_cast<std::size_t>(&facts - facts_->kernels.data())];
  if (state == nullptr) {
    const CUkernel handle = library_->kernel(facts.name);
    driver::Simulator* simulator = device_.driver().simulator;
    if (simulator != nullptr && facts.registers) simulator->set_registers(handle, *facts.registers);
    state = std::make_unique<KernelState>(*this, device_, handle, facts);
  }
  return *state;
}

}  // namespace baton
