#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "load/kernel_set.h"
#include "pdl/footprint/footprint.h"

namespace baton::load {

// The footprints of a program's kernels, read when they are asked for and kept. Only PTX that the
// kernel's machine code is made from counts: compiled from source, or compiled by the driver.
// Thread-safe: what is kept stays where it is.
class Footprints {
 public:
  // The kernels must outlive it.
  explicit Footprints(const KernelSet& kernels) : kernels_(kernels) {}

  // Of the kernel of that name in the program, with blocks of that extent.
  const overlap::Footprint& of(const std::string& kernel, const Dim3& block);

  // Kernels with equal numbers share their module's variables.
  std::size_t module_number(const std::string& kernel) const {
    return kernels_.module_number(kernel);
  }

  // The symbol of the variable of the kernel's module that answers to the name.
  std::string_view variable_symbol(const std::string& kernel, std::string_view name) const;

  // The name in the program of what `of` gave.
  const std::string& name(const overlap::Footprint& footprint) const;

 private:
  using Block = std::array<std::uint32_t, 3>;
  overlap::Footprint read(const std::string& kernel, const Block& block);  // with the mutex held

  const KernelSet& kernels_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::pair<std::string, Block>, std::unique_ptr<const overlap::Footprint>> known_;
  std::map<const overlap::Footprint*, std::string> names_;
  std::map<std::string, std::size_t> blocks_;                                // kept, by kernel
  std::map<std::size_t, std::shared_ptr<const ptx::ParsedModule>> modules_;  // by number
};

}  // namespace baton::load
