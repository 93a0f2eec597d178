#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "baton/image.h"

namespace baton::image {

// Finds kernels of an image by every name they have, in constant time: images hold thousands. What
// a symbol needs is made at once, the rest at the first look-up that needs it. The facts must
// outlive it unchanged. Thread-safe.
class KernelIndex {
 public:
  explicit KernelIndex(const ImageFacts& facts);
  ~KernelIndex();
  KernelIndex(const KernelIndex&) = delete;
  KernelIndex& operator=(const KernelIndex&) = delete;

  // The kernel of that symbol, or null.
  const KernelFacts* symbol(std::string_view name) const;
  // As find_kernel.
  const KernelFacts& find(std::string_view entry, std::string_view image_name) const;
  // The kernel that answers to the name, which nothing insists on, else the only kernel. Throws as
  // `find` does without an entry.
  const KernelFacts& find_or_only(std::string_view name, std::string_view image_name) const;

 private:
  struct Loose;
  const Loose& loose() const;
  // Of a name that is not a symbol: the kernels of the strictest reading that gives any.
  std::vector<const KernelFacts*> looser_matches(std::string_view entry) const;

  const ImageFacts& facts_;
  std::unordered_map<std::string_view, const KernelFacts*> by_symbol_;  // empty for few kernels
  mutable std::once_flag once_;
  mutable std::unique_ptr<const Loose> loose_;
};

}  // namespace baton::image
