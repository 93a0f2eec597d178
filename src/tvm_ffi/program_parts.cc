#include "tvm_ffi/program_parts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "tvm_ffi/failure.h"

namespace baton::tvm_ffi {
namespace {

std::string type_of(const baton_bundle* bundle, std::size_t index, const baton_buffer_info& info) {
  std::vector<std::string> extents;
  for (std::int32_t axis = 0; axis < info.ndim; ++axis) {
    const char* extent = nullptr;
    check(baton_bundle_extent(bundle, index, static_cast<std::size_t>(axis), &extent));
    extents.emplace_back(extent);
  }
  return fmt::format("{}[{}]", baton_dtype_name(info.dtype), fmt::join(extents, ", "));
}

template <typename Part>
const Part* find_part(const std::vector<Part>& parts, std::string_view name) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

}  // namespace

bool ProgramParts::Buffer::is_written() const {
  return role != BATON_ROLE_INPUT && role != BATON_ROLE_WEIGHT;
}

ProgramParts ProgramParts::read(const baton_bundle* bundle) {
  baton_bundle_info info = BATON_BUNDLE_INFO_INIT;
  check(baton_bundle_get_info(bundle, &info));
  ProgramParts parts;
  parts.name = info.program;
  for (std::size_t i = 0; i < info.kernel_count; ++i) {
    const char* name = nullptr;
    check(baton_bundle_kernel(bundle, i, &name));
    parts.kernels.emplace_back(name);
  }
  for (std::size_t i = 0; i < info.buffer_count; ++i) {
    baton_buffer_info buffer = BATON_BUFFER_INFO_INIT;
    check(baton_bundle_buffer(bundle, i, &buffer));
    parts.buffers.push_back({buffer.name, buffer.role, type_of(bundle, i, buffer)});
  }
  for (std::size_t i = 0; i < info.symbol_count; ++i) {
    const char* name = nullptr;
    std::int64_t value = 0;
    check(baton_bundle_symbol(bundle, i, &name, &value));
    parts.symbols.push_back({name, value});
  }
  for (const std::int32_t role : {BATON_ROLE_INPUT, BATON_ROLE_INOUT, BATON_ROLE_OUTPUT}) {
    for (std::size_t i = 0; i < parts.buffers.size(); ++i) {
      if (parts.buffers[i].role == role) parts.positional.push_back(i);
    }
  }
  return parts;
}

bool ProgramParts::has_kernel(std::string_view kernel) const {
  return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
}

const ProgramParts::Buffer* ProgramParts::buffer(std::string_view wanted) const {
  return find_part(buffers, wanted);
}

const ProgramParts::Symbol* ProgramParts::symbol(std::string_view wanted) const {
  return find_part(symbols, wanted);
}

std::string ProgramParts::signature(std::string_view function) const {
  std::vector<std::string> words;
  for (const std::size_t index : positional) {
    words.push_back(fmt::format("{}: {}", buffers[index].name, buffers[index].type));
  }
  for (const Symbol& one : symbols) words.push_back(fmt::format("{} = {}", one.name, one.value));
  return fmt::format("{}({})", function, fmt::join(words, ", "));
}

std::string ProgramParts::type_schema() const {
  // tvm-ffi's schema puts the type of the result first.
  std::string arguments = R"({"type":"None"})";
  for (std::size_t i = 0; i < positional.size(); ++i) arguments += R"(,{"type":"Tensor"})";
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    arguments += R"(,{"type":"Optional","args":[{"type":"int"}]})";
  }
  return fmt::format(R"({{"type":"ffi.Function","args":[{}]}})", arguments);
}

}  // namespace baton::tvm_ffi
