#pragma once

// The kernels that the launches of a record name by handles: their images, and what is known of
// their accesses.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/image.h"
#include "pdl/footprint/footprint.h"
#include "ptx/ast.h"
#include "record/events.h"
#include "record/judge.h"

namespace baton::record {

// A kernel of an image. Stays where it is.
struct KernelOfRecord {
  std::string name, readable;
  std::uint64_t module = 0;                           // the handle that has its variables
  std::optional<std::array<std::uint8_t, 32>> image;  // its digest; nothing: it cannot be read
  std::vector<ParamNote> params;                      // as the driver has them
  bool params_known = false;
  std::optional<KernelFacts> facts;
  std::shared_ptr<const ptx::ParsedModule> ptx;  // null: see `unseen`
  const ptx::Function* function = nullptr;
  overlap::Unseen unseen;
};

class RecordedKernels {
 public:
  explicit RecordedKernels(const ImageBytes& images) : images_(images) {}

  // Follows images, functions, and the calls that change handles.
  void follow(const RecordedEvent& event);
  // The kernel of a handle.
  const KernelOfRecord& kernel(std::uint64_t function);
  // What it accesses with blocks of that extent.
  const overlap::Footprint& footprint(const KernelOfRecord& kernel,
                                      const std::array<std::uint32_t, 3>& block);
  const std::vector<std::string>& remarks() const { return remarks_; }
  // The handle that has the variables of a module: that of its library, where it has one.
  std::uint64_t owner(std::uint64_t module) const;
  // The digest of the image of a module or a library; nothing where no event tells of it.
  std::optional<std::array<std::uint8_t, 32>> image(std::uint64_t module) const;

 private:
  using Digest = std::array<std::uint8_t, 32>;
  // An image, read once.
  struct ReadImage {
    Digest digest = {};
    ImageFacts facts;
    std::shared_ptr<const ptx::ParsedModule> ptx;
    overlap::Unseen unseen;
  };

  const ReadImage* read(const Digest& digest);
  const ReadImage* image_of(std::uint64_t module, const std::string& kernel);

  const ImageBytes& images_;
  std::map<std::uint64_t, Digest> modules_;  // by handle
  // The library of a module: kernels that come from either share its variables.
  std::map<std::uint64_t, std::uint64_t> libraries_;
  std::vector<Digest> embedded_;
  std::map<std::uint64_t, RecordedFunction> functions_;  // by handle
  std::map<std::uint64_t, std::string> names_;           // of these
  std::map<std::uint64_t, std::unique_ptr<KernelOfRecord>> kernels_;
  std::vector<std::unique_ptr<KernelOfRecord>> retired_;
  std::map<Digest, std::optional<ReadImage>> read_;
  std::map<std::pair<const KernelOfRecord*, std::array<std::uint32_t, 3>>,
           std::unique_ptr<const overlap::Footprint>>
      footprints_;
  std::vector<std::string> remarks_;
};

}  // namespace baton::record
