#pragma once

#include <fmt/core.h>

#include <memory>
#include <string>
#include <string_view>

#include "pdl/code/code.h"
#include "pdl/footprint/footprint.h"
#include "ptx/ast.h"

namespace baton::overlap {

// A module with one kernel k(u64 p0, u64 p1, u64 p2, u32 p3) of that body; %a, %b and %c hold the
// first three parameters as global addresses. The body begins at line 14 of "k.ptx".
inline std::shared_ptr<const ptx::ParsedModule> module_of(std::string_view body,
                                                          std::string_view before = "") {
  return ptx::ParsedModule::parse(fmt::format(R"(.version 8.7
.target sm_90a
.address_size 64
{}
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3) {{
.reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %d<19>; .reg .f32 %f<9>;
.reg .b64 %a, %b, %c; .shared .align 8 .b8 shared[64];
ld.param.u64 %a, [p0]; cvta.to.global.u64 %a, %a;
ld.param.u64 %b, [p1]; cvta.to.global.u64 %b, %b;
ld.param.u64 %c, [p2]; cvta.to.global.u64 %c, %c;
ld.param.u32 %r0, [p3];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
{}
}}
)",
                                              before, body),
                                  "k.ptx");
}

inline Footprint footprint_of(std::string_view body, std::string_view before = "",
                              const std::array<std::uint32_t, 3>& block = {}) {
  const auto module = module_of(body, before);
  return read_footprint(module, *module->function("k"), block);
}

// "p0", "p0+loaded", "p0*+p1": what has gone in, "*" after what was not just added.
inline std::string text_of(const Footprint& footprint, const Origin& origin) {
  using Kind = AddressSource::Kind;
  if (origin.is_unknown) return "?";
  if (origin.sources.empty()) return origin.is_null ? "null" : "number";
  std::string text;
  for (const AddressSource& source : origin.sources) {
    if (!text.empty()) text += "+";
    switch (source.kind) {
      case Kind::kParam:
        text += fmt::format("p{}", source.id);
        break;
      case Kind::kParamWord:
        text += fmt::format("p{}.{}", source.id, source.offset);
        break;
      case Kind::kParamSpace:
        text += fmt::format("&p{}", source.id);
        break;
      case Kind::kVariable:
      case Kind::kConst:
        text += footprint.code->variables[source.id];
        break;
      case Kind::kShared:
        text += "shared";
        break;
      case Kind::kLocal:
        text += "local";
        break;
      case Kind::kLoaded:
        text += "loaded";
        continue;
    }
    if (source.ways != AddressSource::kWhole) text += "*";
  }
  return text;
}

// "early read p0; read p1; write p2": in the order of the accesses.
inline std::string text_of(const Footprint& footprint) {
  std::string text;
  for (const AccessGroup& access : footprint.accesses) {
    if (!text.empty()) text += "; ";
    if (access.order == Order::kBefore) text += "early ";
    if (access.order == Order::kUnclear) text += "unclear ";
    if (access.non_coherent) text += "non-coherent ";
    text += access.reads && access.writes ? "update" : access.reads ? "read" : "write";
    for (const Origin& origin : access.origins) {
      text += fmt::format(" {}", text_of(footprint, origin));
    }
  }
  return text;
}

}  // namespace baton::overlap
