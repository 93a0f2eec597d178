#include "instructions/kernel_text.h"

#include <fmt/core.h>

#include <iterator>

namespace baton::instructions {
namespace {

// Every 8-byte slot holds one operand from its lowest byte.
void add_load(std::string& out, Kind kind, std::string_view name, std::size_t offset) {
  if (kind == Kind::kPred) {
    fmt::format_to(std::back_inserter(out),
                   "  ld.global.u32 %word_, [%in_+{}];\n  setp.ne.u32 %{}, %word_, 0;\n", offset,
                   name);
  } else {
    fmt::format_to(std::back_inserter(out), "  ld.global.{} %{}, [%in_+{}];\n", info(kind).move,
                   name, offset);
  }
}

void add_store(std::string& out, Kind kind, std::string_view name, std::size_t offset) {
  if (kind == Kind::kPred) {
    fmt::format_to(std::back_inserter(out),
                   "  selp.u32 %word_, 1, 0, %{};\n  st.global.u32 [%out_+{}], %word_;\n", name,
                   offset);
  } else {
    fmt::format_to(std::back_inserter(out), "  st.global.{} [%out_+{}], %{};\n", info(kind).move,
                   offset, name);
  }
}

void add_entry(std::string& out, const Case& one, const std::string& name) {
  const auto add = [&out]<typename... T>(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
  };
  add(".visible .entry {}(.param .u64 inputs, .param .u64 results, .param .u32 rows{})\n{}{{\n",
      name, one.parameters, one.directives);
  add("  .reg .pred %outside_;\n  .reg .b32 %word_, %extent_, %rows_, %tid_, %index;\n"
      "  .reg .b64 %in_, %out_;\n");
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    add("  .reg .{} %{};\n", info(one.inputs[i]).reg, kInputNames[i]);
  }
  for (std::size_t i = 0; i < one.results.size(); ++i) {
    add("  .reg .{} %{};\n", info(one.results[i].kind).reg, kResultNames[i]);
  }
  // Threads are counted with x fastest, as PTX lays them out in warps.
  add("  mov.u32 %extent_, %ntid.y;\n  mov.u32 %word_, %tid.z;\n  mov.u32 %tid_, %tid.y;\n"
      "  mad.lo.u32 %tid_, %word_, %extent_, %tid_;\n  mov.u32 %word_, %ntid.x;\n"
      "  mul.lo.u32 %extent_, %extent_, %word_;\n  mov.u32 %index, %tid.x;\n"
      "  mad.lo.u32 %tid_, %tid_, %word_, %index;\n  mov.u32 %word_, %ntid.z;\n"
      "  mul.lo.u32 %extent_, %extent_, %word_;\n  mov.u32 %word_, %ctaid.x;\n"
      "  mad.lo.u32 %index, %word_, %extent_, %tid_;\n");
  add("  ld.param.u32 %rows_, [rows];\n  setp.ge.u32 %outside_, %index, %rows_;\n"
      "  @%outside_ bra DONE_;\n");
  add("  ld.param.u64 %in_, [inputs];\n  cvta.to.global.u64 %in_, %in_;\n"
      "  mad.wide.u32 %in_, %index, {}, %in_;\n",
      8 * one.inputs.size());
  add("  ld.param.u64 %out_, [results];\n  cvta.to.global.u64 %out_, %out_;\n"
      "  mad.wide.u32 %out_, %index, {}, %out_;\n",
      8 * one.results.size());
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    add_load(out, one.inputs[i], kInputNames[i], 8 * i);
  }
  add("  {{\n  {}\n  }}\n", one.text);
  for (std::size_t i = 0; i < one.results.size(); ++i) {
    add_store(out, one.results[i].kind, kResultNames[i], 8 * i);
  }
  add("DONE_:\n  ret;\n}}\n\n");
}

}  // namespace

std::string entry_name(std::size_t index) {
  return fmt::format("case_{}", index);
}

std::string module_text(const std::string& declarations, std::span<const Case* const> cases) {
  std::string out = ".version 8.4\n.target sm_90\n.address_size 64\n\n" + declarations + '\n';
  for (std::size_t i = 0; i < cases.size(); ++i) add_entry(out, *cases[i], entry_name(i));
  return out;
}

}  // namespace baton::instructions
