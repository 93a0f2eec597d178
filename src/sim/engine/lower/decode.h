#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chip/chip.h"
#include "ptx/ast.h"
#include "sim/engine/lower/function.h"

namespace baton::sim {

// What decoding a kernel needs to know of the module it is in. Global variables get their memory
// when `address_of` is first asked for them.
struct ModuleFacts {
  std::shared_ptr<const ptx::ParsedModule> ptx;
  const chip::Chip* chip = nullptr;                               // of the device
  int architecture = 0;                                           // of the module's .target
  bool arch_specific = false;                                     // sm_90a
  std::function<std::uint64_t(const ptx::Variable&)> address_of;  // generic
  // What is added to the .const address of one of its constants for the generic one.
  std::function<std::uint64_t()> constant_base;
  std::function<std::uint32_t(const ptx::Function&)> index_of;
  // Functions whose address is taken anywhere in the module's variables.
  std::function<std::vector<const ptx::Function*>()> addressed;
};

// Shared variables of a kernel and of all it calls, in the order of first use. Dynamic shared
// memory lies after them.
class SharedLayout {
 public:
  // The offset of a variable of fixed size; it is placed when first asked for.
  std::uint32_t offset_of(const ptx::Variable& variable);
  void need_dynamic(const ptx::Variable& variable);
  std::uint32_t static_bytes() const;

 private:
  std::unordered_map<const ptx::Variable*, std::uint32_t> offsets_;
  std::uint32_t end_ = 0;
  std::uint32_t dynamic_align_ = 16;
};

// Bytes of a variable and its alignment. `extern` arrays without an extent have 0 bytes. Throws
// Error(kInvalidInput) where it is larger than any memory.
std::uint64_t bytes_of(const ptx::Variable& variable);
std::uint32_t align_of(const ptx::Variable& variable);

// Where a function's parameters stand in one block of bytes. Returns the block's size.
std::uint32_t layout_params(const std::vector<ptx::Variable>& params,
                            std::vector<std::uint32_t>* offsets);

// How a kernel is decoded besides: so that it counts its accesses when it is executed, or so that a
// debugger can stop it at each instruction and find its registers. Both are slower.
enum class DecodeMode : std::uint8_t { kPlain, kCounting, kDebugged };

// Decodes the kernel and all functions that it can reach. Throws Error(kInvalidInput) where
// something does not parse, is not declared or does not fit together.
std::shared_ptr<const DecodedKernel> decode_kernel(const ModuleFacts& facts,
                                                   const ptx::Function& entry,
                                                   DecodeMode mode = DecodeMode::kPlain);

}  // namespace baton::sim
