#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "baton/kernel_module.h"
#include "load/kernel_definition.h"

namespace baton::load {

// Counts the modules whose compile or load has begun, and tells LoadOptions::progress. Several
// threads share it.
class LoadCount {
 public:
  LoadCount(const std::function<void(const LoadProgress&)>& told, std::size_t modules)
      : told_(told), begun_(modules) {}

  // Before the first work on a module; later calls for it tell nothing. Throws what `told` throws.
  void begin(std::size_t module, const KernelDefinition& definition) {
    if (!told_) return;
    const std::lock_guard lock(mutex_);
    if (begun_[module]) return;
    begun_[module] = true;
    told_({definition.kernels[0]->name, count_++, begun_.size()});
  }
  void end() const {
    if (told_) told_({{}, begun_.size(), begun_.size()});
  }

 private:
  const std::function<void(const LoadProgress&)>& told_;
  std::mutex mutex_;
  std::vector<bool> begun_;
  std::size_t count_ = 0;
};

}  // namespace baton::load
