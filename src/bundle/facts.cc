#include "bundle/facts.h"

#include <algorithm>
#include <array>
#include <optional>

namespace baton::bundle {
namespace {

template <typename T>
std::int64_t number_or_none(const std::optional<T>& value) {
  return value ? static_cast<std::int64_t>(*value) : -1;
}

template <typename T>
std::optional<T> optional_number(std::int64_t value) {
  if (value < 0) return std::nullopt;
  return static_cast<T>(value);
}

std::uint8_t truth(const std::optional<bool>& value) {
  return value ? static_cast<std::uint8_t>(*value) : kNotSaid;
}

std::optional<bool> optional_truth(std::uint8_t value) {
  if (value == kNotSaid) return std::nullopt;
  return value != 0;
}

void write_extent(const std::optional<std::array<std::uint32_t, 3>>& extent,
                  std::uint32_t (&out)[3]) {
  if (extent) std::ranges::copy(*extent, out);
}

std::optional<std::array<std::uint32_t, 3>> read_extent(const std::uint32_t (&extent)[3]) {
  if (std::ranges::all_of(extent, [](std::uint32_t size) { return size == 0; })) {
    return std::nullopt;
  }
  return std::to_array(extent);
}

ParamRow row_of(const ParamFacts& param, IndexWriter& out) {
  ParamRow row{};
  row.type = out.text(param.type);
  row.name = out.text(param.name);
  row.offset = param.offset;
  row.size = param.size;
  row.kind = static_cast<std::uint8_t>(param.kind);
  row.dtype = param.dtype ? static_cast<std::uint8_t>(*param.dtype) : kNotSaid;
  row.read_only = param.read_only;
  return row;
}

void read(const Index& index, const ParamRow& row, ParamFacts& param) {
  param.type = index.text(row.type);
  param.name = index.text(row.name);
  param.offset = row.offset;
  param.size = row.size;
  param.kind = static_cast<ParamKind>(row.kind);
  if (row.dtype != kNotSaid) param.dtype = static_cast<DType>(row.dtype);
  param.read_only = row.read_only != 0;
}

KernelRow row_of(const KernelFacts& kernel, IndexWriter& out) {
  KernelRow row{};
  row.name = out.text(kernel.name);
  row.demangled = out.text(kernel.demangled);
  row.arch = out.text(kernel.arch);
  row.registers = number_or_none(kernel.registers);
  row.static_shared = number_or_none(kernel.static_shared);
  row.local_bytes = number_or_none(kernel.local_bytes);
  row.max_threads = number_or_none(kernel.max_threads);
  row.max_registers = number_or_none(kernel.max_registers);
  row.spill_bytes = number_or_none(kernel.spill_bytes);
  row.max_cluster = number_or_none(kernel.max_cluster);
  row.min_blocks = number_or_none(kernel.min_blocks);
  row.barriers = number_or_none(kernel.barriers);
  write_extent(kernel.required_block, row.required_block);
  write_extent(kernel.required_cluster, row.required_cluster);
  row.grid_in_clusters = truth(kernel.grid_in_clusters);
  row.waits = truth(kernel.waits);
  row.triggers = truth(kernel.triggers);
  row.grid_sync = truth(kernel.grid_sync);
  row.polls = truth(kernel.polls);
  row.has_params = kernel.params.has_value();
  row.params.first = out.rows(out.params);
  for (const ParamFacts& param : kernel.params.value_or(std::vector<ParamFacts>())) {
    out.params.push_back(row_of(param, out));
  }
  row.params.count = out.rows(out.params) - row.params.first;
  return row;
}

void read(const Index& index, const KernelRow& row, KernelFacts& kernel) {
  kernel.name = index.text(row.name);
  kernel.demangled = index.text(row.demangled);
  kernel.arch = index.text(row.arch);
  kernel.registers = optional_number<std::uint32_t>(row.registers);
  kernel.static_shared = optional_number<std::uint32_t>(row.static_shared);
  kernel.local_bytes = optional_number<std::uint32_t>(row.local_bytes);
  kernel.max_threads = optional_number<std::uint32_t>(row.max_threads);
  kernel.max_registers = optional_number<std::uint32_t>(row.max_registers);
  kernel.spill_bytes = optional_number<std::uint32_t>(row.spill_bytes);
  kernel.max_cluster = optional_number<std::uint32_t>(row.max_cluster);
  kernel.min_blocks = optional_number<std::uint32_t>(row.min_blocks);
  kernel.barriers = optional_number<std::uint32_t>(row.barriers);
  kernel.required_block = read_extent(row.required_block);
  kernel.required_cluster = read_extent(row.required_cluster);
  kernel.grid_in_clusters = optional_truth(row.grid_in_clusters);
  kernel.waits = optional_truth(row.waits);
  kernel.triggers = optional_truth(row.triggers);
  kernel.grid_sync = optional_truth(row.grid_sync);
  kernel.polls = optional_truth(row.polls);
  if (row.has_params != 0) {
    auto& params = kernel.params.emplace(row.params.count);
    for (std::uint32_t i = 0; i < row.params.count; ++i) {
      read(index, index.params[row.params.first + i], params[i]);
    }
  }
}

}  // namespace

void write_facts(const ImageFacts& facts, std::uint32_t section, IndexWriter& out) {
  ImageRow row{};
  row.arch = out.text(facts.arch);
  row.producer = out.text(facts.producer);
  row.toolkit = out.text(facts.toolkit);
  row.ptx_version = out.text(facts.ptx_version);
  row.section = section;
  row.kind = static_cast<std::uint8_t>(facts.kind);
  row.linked = truth(facts.linked);
  row.debug = facts.debug ? static_cast<std::uint8_t>(*facts.debug) : kNotSaid;
  row.abi = number_or_none(facts.abi);
  row.kernels.first = out.rows(out.kernels);
  for (const KernelFacts& kernel : facts.kernels) out.kernels.push_back(row_of(kernel, out));
  row.kernels.count = out.rows(out.kernels) - row.kernels.first;
  row.variables.first = out.rows(out.variables);
  for (const VariableFacts& variable : facts.variables) {
    out.variables.push_back({out.text(variable.name), variable.size, variable.constant});
  }
  row.variables.count = out.rows(out.variables) - row.variables.first;
  row.members.first = out.rows(out.members);
  for (const MemberFacts& member : facts.members) {
    out.members.push_back({out.text(member.arch), out.text(member.source), out.text(member.options),
                           member.stored_size, member.size, static_cast<std::uint32_t>(member.kind),
                           static_cast<std::uint32_t>(member.packing)});
  }
  row.members.count = out.rows(out.members) - row.members.first;
  row.remarks.first = out.rows(out.remarks);
  for (const std::string& remark : facts.remarks) out.remarks.push_back({out.text(remark)});
  row.remarks.count = out.rows(out.remarks) - row.remarks.first;
  out.images.push_back(row);
}

ImageFacts read_target(const Index& index, std::uint32_t image) {
  const ImageRow row = index.images[image];
  ImageFacts facts;
  facts.kind = static_cast<ImageKind>(row.kind);
  facts.arch = index.text(row.arch);
  facts.ptx_version = index.text(row.ptx_version);
  facts.linked = optional_truth(row.linked);
  for (std::uint32_t i = 0; i < row.members.count; ++i) {
    const MemberRow member = index.members[row.members.first + i];
    facts.members.push_back({static_cast<MemberFacts::Kind>(member.kind),
                             static_cast<MemberFacts::Packing>(member.packing),
                             std::string(index.text(member.arch)), member.stored_size, member.size,
                             std::string(index.text(member.source)),
                             std::string(index.text(member.options))});
  }
  return facts;
}

ImageFacts read_facts(const Index& index, std::uint32_t image) {
  const ImageRow row = index.images[image];
  ImageFacts facts = read_target(index, image);
  facts.producer = index.text(row.producer);
  facts.toolkit = index.text(row.toolkit);
  facts.abi = optional_number<int>(row.abi);
  if (row.debug != kNotSaid) facts.debug = static_cast<DebugInfo>(row.debug);
  facts.kernels.resize(row.kernels.count);
  for (std::uint32_t i = 0; i < row.kernels.count; ++i) {
    read(index, index.kernels[row.kernels.first + i], facts.kernels[i]);
  }
  for (std::uint32_t i = 0; i < row.variables.count; ++i) {
    const VariableRow variable = index.variables[row.variables.first + i];
    facts.variables.push_back(
        {std::string(index.text(variable.name)), variable.size, variable.constant != 0});
  }
  for (std::uint32_t i = 0; i < row.remarks.count; ++i) {
    facts.remarks.emplace_back(index.text(index.remarks[row.remarks.first + i].text));
  }
  return facts;
}

}  // namespace baton::bundle
