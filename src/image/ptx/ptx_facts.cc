#include "image/ptx/ptx_facts.h"

#include <fmt/core.h>

#include <variant>

#include "baton/error.h"
#include "image/cubin/debug_params.h"
#include "image/image_content.h"
#include "image/names/param_types.h"
#include "image/ptx/ptx_reach.h"
#include "image/ptx/ptx_types.h"
#include "image/ptx/ptx_use.h"
#include "image/trace_parameter.h"
#include "ptx/ast.h"

namespace baton::image {
namespace {

// Opaque types (textures, samplers, surfaces) are passed as 8-byte handles.
constexpr PtxExtent kHandle = {8, 8};

void classify(ParamFacts& param, const ptx::Variable& declared, const ParamUse& use) {
  const std::optional<PtxType> type = ptx_type(declared.type);
  const std::optional<DType> used_float = use.floats_differ ? std::nullopt : use.as_float;
  if (!type) return;
  if (!declared.extents.empty() || declared.vector > 1) {
    // A struct by value. nvcc passes half and bfloat16 as structs of 2 bytes.
    param.kind = ParamKind::kBytes;
    if (param.size == 2 && used_float && size_of(*used_float) == 2) {
      param.kind = ParamKind::kScalar;
      param.dtype = used_float;
    }
  } else if (declared.is_pointer || (use.as_pointer && param.size == 8)) {
    param.kind = ParamKind::kPointer;
  } else if (type->of == PtxType::Class::kFloat || type->of == PtxType::Class::kSigned) {
    // .u32 is what compilers write for any integer; .s32 and .f32 mean it.
    param.kind = type->dtype ? ParamKind::kScalar : ParamKind::kUnknown;
    param.dtype = type->dtype;
  } else if (type->of == PtxType::Class::kUntyped && used_float &&
             size_of(*used_float) == param.size && !use.as_integer) {
    param.kind = ParamKind::kScalar;
    param.dtype = used_float;
  } else if (use.as_signed != use.as_unsigned && !(use.as_unsigned && use.sign_unclear)) {
    constexpr DType kSigned[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};
    constexpr DType kUnsigned[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
    const std::size_t power = param.size == 8 ? 3 : param.size == 4 ? 2 : param.size == 2 ? 1 : 0;
    param.kind = ParamKind::kScalar;
    param.dtype = use.as_signed ? kSigned[power] : kUnsigned[power];
  } else if (use.as_integer || (type->of == PtxType::Class::kUnsigned && param.size < 8)) {
    param.kind = ParamKind::kInteger;
  }
  // What is left: 8 bytes that may be an address or a number, and bits that nothing uses.
}

std::optional<std::vector<ParamFacts>> read_params(const ptx::Function& entry,
                                                   const std::vector<ParamUse>& uses) {
  std::vector<ParamFacts> params;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    const ptx::Variable& declared = entry.params[i];
    if (declared.name == kTraceParameter) continue;
    const std::optional<PtxExtent> extent =
        ptx_type(declared.type) ? extent_of(declared) : std::optional<PtxExtent>(kHandle);
    if (!extent) return std::nullopt;
    offset = align_up(offset, extent->align);
    if (offset + extent->size > UINT32_MAX) return std::nullopt;
    ParamFacts param;
    param.offset = static_cast<std::uint32_t>(offset);
    param.size = static_cast<std::uint32_t>(extent->size);
    offset += extent->size;
    classify(param, declared, uses[i]);
    param.type = describe_type(param);
    params.push_back(std::move(param));
  }
  return params;
}

std::optional<std::array<std::uint32_t, 3>> triple(const ptx::Function& entry,
                                                   std::string_view directive) {
  const auto values = entry.integers(directive, 3, 1);
  if (!values || values->size() != 3) return std::nullopt;
  std::array<std::uint32_t, 3> out{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t value = (*values)[i];
    if (value < 1 || value > INT32_MAX) return std::nullopt;
    out[i] = static_cast<std::uint32_t>(value);
  }
  return out;
}

std::optional<std::uint32_t> product(const std::optional<std::array<std::uint32_t, 3>>& extents) {
  if (!extents) return std::nullopt;
  const std::uint64_t area = std::uint64_t{(*extents)[0]} * (*extents)[1];
  if (area > UINT32_MAX || area * (*extents)[2] > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(area * (*extents)[2]);
}

std::optional<std::uint32_t> count(const ptx::Function& entry, std::string_view directive) {
  const auto values = entry.integers(directive, 1);
  if (!values || values->size() != 1 || (*values)[0] < 1 || (*values)[0] > INT32_MAX) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>((*values)[0]);
}

void read_directives(const ptx::Function& entry, KernelFacts& out) {
  out.required_block = triple(entry, "reqntid");
  out.max_threads = product(out.required_block ? out.required_block : triple(entry, "maxntid"));
  out.required_cluster = triple(entry, "reqnctapercluster");
  out.max_cluster = count(entry, "maxclusterrank");
  out.min_blocks = count(entry, "minnctapersm");
  out.grid_in_clusters = entry.directive("blocksareclusters") != nullptr;
  const auto registers = entry.integers("maxnreg", 1);
  if (registers && registers->size() == 1 && (*registers)[0] > 0 && (*registers)[0] <= 255) {
    out.max_registers = static_cast<std::uint32_t>((*registers)[0]);
  }
}

KernelFacts read_kernel(const ptx::Function& entry, PtxReach& reach) {
  KernelFacts out;
  out.name = entry.name;
  std::vector<ParamUse> uses(entry.params.size());
  const Reached reached = reach.from(entry);
  try {
    uses = param_uses(entry);
  } catch (const Error&) {
    // `reach` has made a remark of the same body.
  }
  out.params = read_params(entry, uses);
  out.traced = !entry.params.empty() && entry.params.back().name == kTraceParameter;
  read_directives(entry, out);
  out.static_shared = reached.static_shared;
  out.waits = reached.waits;
  out.triggers = reached.triggers;
  out.grid_sync = reached.grid_sync;
  out.polls = reached.polls;
  apply_name(out);
  return out;
}

std::optional<VariableFacts> read_variable(const ptx::Variable& variable) {
  const bool constant = variable.space == ptx::StateSpace::kConst;
  if (!constant && variable.space != ptx::StateSpace::kGlobal) return std::nullopt;
  // "$str" and the like are the compiler's own.
  if (variable.linkage == "extern" || variable.name.starts_with('$')) return std::nullopt;
  const std::optional<PtxExtent> extent = extent_of(variable);
  if (!extent) return std::nullopt;
  return VariableFacts{std::string(variable.name), extent->size, constant};
}

DebugInfo debug_of(const ptx::ParsedModule& module) {
  DebugInfo found = DebugInfo::kNone;
  for (const ptx::TopLevel& item : module.items()) {
    const auto* section = std::get_if<ptx::Section>(&item);
    if (section != nullptr && section->name == ".debug_info") return DebugInfo::kFull;
    if (std::holds_alternative<ptx::FileEntry>(item)) found = DebugInfo::kLines;
  }
  return found;
}

}  // namespace

ImageFacts read_ptx_facts(const Image& image) {
  const std::shared_ptr<const ptx::ParsedModule> module = ptx_of(image);
  ImageFacts facts;
  facts.kind = ImageKind::kPtx;
  facts.arch = module->target();
  facts.ptx_version = fmt::format("{}.{}", module->version_major(), module->version_minor());
  facts.debug = debug_of(*module);
  PtxReach reach(*module);
  for (const ptx::Function* entry : module->entries()) {
    if (!entry->has_body) continue;
    facts.kernels.push_back(read_kernel(*entry, reach));
    facts.kernels.back().arch = facts.arch;
  }
  for (const ptx::TopLevel& item : module->items()) {
    if (const auto* variable = std::get_if<ptx::Variable>(&item)) {
      if (auto read = read_variable(*variable)) facts.variables.push_back(std::move(*read));
    }
  }
  facts.remarks = reach.remarks();
  if (facts.debug == DebugInfo::kFull) take_params(facts, debug_params(*module));
  return facts;
}

}  // namespace baton::image
