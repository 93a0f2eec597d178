#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/device.h"
#include "baton/image.h"
#include "image/kernel_index.h"
#include "runtime/kernel_state.h"
#include "runtime/library.h"

namespace baton {

// What a Module and its kernels share. Unloads the image when the last of them is gone.
// Thread-safe.
class ModuleState : public std::enable_shared_from_this<ModuleState> {
 public:
  // `symbols`: name expression → symbol, from the compile.
  ModuleState(const Device& device, std::span<const Image> images,
              std::vector<std::pair<std::string, std::string>> symbols);
  // Of a library that someone else loaded: its facts are what the driver says.
  ModuleState(const Device& device, std::unique_ptr<DriverLibrary> library);

  const Device& device() const { return device_; }
  const DriverLibrary& library() const { return *library_; }
  const ImageFacts& facts() const { return *facts_; }
  // What messages call it: the name of the image that was loaded.
  const std::string& name() const { return name_; }

  // The same object for the same kernel at every call.
  KernelState& kernel(std::string_view entry);

 private:
  void load(std::span<const Image> images);
  // What the other images add to the facts of the one that was loaded.
  std::shared_ptr<const ImageFacts> joined_facts(std::shared_ptr<const ImageFacts> facts,
                                                 std::span<const Image> images,
                                                 const Image& loaded) const;
  void take_kernels_from_driver(ImageFacts& facts) const;
  const KernelFacts& find(std::string_view entry) const;

  Device device_;
  std::unique_ptr<DriverLibrary> library_;
  std::string name_;
  std::shared_ptr<const ImageFacts> facts_;
  std::map<std::string, std::string, std::less<>> symbols_;  // name expression → symbol
  std::optional<image::KernelIndex> index_;                  // of *facts_

  std::mutex mutex_;
  std::vector<std::unique_ptr<KernelState>> kernels_;  // of each in *facts_, once asked for
};

}  // namespace baton
