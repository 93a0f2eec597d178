#include "sim/engine/lower/decode.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "sim/engine/lower/lower.h"
#include "sim/engine/memory/address.h"

namespace baton::sim {
namespace {

[[noreturn]] void invalid(const ptx::Variable& variable, std::string_view why) {
  SourceLocation where;
  where.line = static_cast<int>(variable.position.line);
  where.column = static_cast<int>(variable.position.column);
  throw error_at(std::move(where), ErrorCode::kInvalidInput, "variable {}: {}", variable.name, why);
}

unsigned element_bytes(const ptx::Variable& variable) {
  const std::optional<Type> type = parse_type(variable.type);
  // References to textures, surfaces and samplers are handles of 64 bits.
  const unsigned bits = type ? bits_of(*type) : 64;
  return std::max(bits / 8, 1u) * std::max<unsigned>(variable.vector, 1);
}

std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::uint64_t bytes_of(const ptx::Variable& variable) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 40;
  std::uint64_t bytes = element_bytes(variable);
  for (std::int64_t extent : variable.extents) {
    if (extent < 0) {
      // "[]": as many as the initialiser has, or dynamic.
      const bool filled = !variable.initialiser.empty() &&
                          variable.initialiser[0].kind == ptx::InstructionOperand::Kind::kVector;
      extent = filled ? static_cast<std::int64_t>(variable.initialiser[0].children.size()) : 0;
    }
    if (extent != 0 && bytes > kLimit / static_cast<std::uint64_t>(extent)) {
      invalid(variable, "it is larger than any memory");
    }
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return bytes;
}

std::uint32_t align_of(const ptx::Variable& variable) {
  const std::uint32_t natural = element_bytes(variable);
  const std::uint32_t align = variable.align != 0 ? variable.align : natural;
  if ((align & (align - 1)) != 0 || align > 1u << 20) {
    invalid(variable, "its alignment is not a power of two");
  }
  return align;
}

std::uint32_t layout_params(const std::vector<ptx::Variable>& params,
                            std::vector<std::uint32_t>* offsets) {
  std::uint32_t at = 0;
  for (const ptx::Variable& param : params) {
    const std::uint64_t bytes = bytes_of(param);
    at = round_up(at, align_of(param));
    if (bytes > 32768 - std::min(at, 32768u)) {
      invalid(param, "a kernel's parameters have more than 32 KiB");
    }
    offsets->push_back(at);
    at += static_cast<std::uint32_t>(bytes);
  }
  return at;
}

std::uint32_t SharedLayout::offset_of(const ptx::Variable& variable) {
  const auto [at, added] = offsets_.try_emplace(&variable, 0);
  if (added) {
    const std::uint64_t bytes = bytes_of(variable);
    end_ = round_up(end_, align_of(variable));
    if (bytes > (1u << 24) - end_) invalid(variable, "shared memory does not reach that far");
    at->second = end_;
    end_ += static_cast<std::uint32_t>(bytes);
  }
  return at->second;
}

void SharedLayout::need_dynamic(const ptx::Variable& variable) {
  dynamic_align_ = std::max(dynamic_align_, align_of(variable));
}

std::uint32_t SharedLayout::static_bytes() const {
  return round_up(end_, end_ == 0 ? 1 : std::min(dynamic_align_, 1024u));
}

std::shared_ptr<const DecodedKernel> decode_kernel(const ModuleFacts& facts,
                                                   const ptx::Function& entry, DecodeMode mode) {
  auto kernel = std::make_shared<DecodedKernel>();
  kernel->ptx = facts.ptx;
  std::vector<std::uint32_t> offsets;
  kernel->param_bytes = layout_params(entry.params, &offsets);
  KernelLowering lowering{facts, *kernel, mode, {}, {}, {}, {}, false};
  kernel->entry = lowering.need(entry);
  bool addressed = false;
  while (!lowering.pending.empty()) {
    const ptx::Function* next = lowering.pending.back();
    lowering.pending.pop_back();
    Lowering(lowering, *next, lowering.functions.at(next)).run();
    if (lowering.calls_indirectly && !addressed) {
      addressed = true;
      for (const ptx::Function* function : facts.addressed()) {
        kernel->by_index.emplace(facts.index_of(*function), lowering.need(*function));
      }
    }
  }
  kernel->static_shared = lowering.shared.static_bytes();
  for (const KernelLowering::Late& late : lowering.late) {
    late.function->constants[late.constant.constant].bits =
        kernel->static_shared + late.constant.addend;
  }
  return kernel;
}

}  // namespace baton::sim
