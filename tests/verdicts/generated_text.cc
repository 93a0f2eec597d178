#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "generated_chain.h"

namespace baton::verdicts {
namespace {

constexpr char kModule[] = R"(.version 8.7
.target sm_90a
.address_size 64
.global .align 16 .b8 counter[4096];
.const .align 16 .b8 table[4096];
.func (.param .b64 out) same(.param .b64 in) {
.reg .b64 %x; ld.param.b64 %x, [in]; st.param.b64 [out], %x; ret; }
.func (.param .b64 out) swapped(.param .b64 in) {
.reg .b64 %x; .reg .b32 %l, %h; ld.param.b64 %x, [in]; mov.b64 {%l, %h}, %x; mov.b64 %x, {%h, %l};
st.param.b64 [out], %x; ret; }
.func waits() { griddepcontrol.wait; ret; }
.func waits_if(.param .b32 in) {
.reg .b32 %x; .reg .pred %p; ld.param.b32 %x, [in]; setp.eq.u32 %p, %x, 0; @%p ret;
griddepcontrol.wait; ret; }
.func triggers() { griddepcontrol.launch_dependents; ret; }
.func meets() { bar.sync 0; ret; }
.func stores(.param .b64 at, .param .b32 value) {
.reg .b64 %x; .reg .b32 %v; ld.param.b64 %x, [at]; ld.param.b32 %v, [value];
st.global.u32 [%x], %v; ret; }
.func (.param .b32 out) reads(.param .b64 in) {
.reg .b64 %x; .reg .b32 %v; ld.param.b64 %x, [in]; ld.global.u32 %v, [%x]; st.param.b32 [out], %v;
ret; }
.visible .entry set_up(.param .u64 t, .param .u64 w, .param .u64 x, .param .u64 y, .param .u64 z) {
.reg .b64 %t, %w, %x, %y, %z, %i; .reg .b32 %r; .reg .pred %p;
ld.param.u64 %t, [t]; ld.param.u64 %w, [w]; ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
ld.param.u64 %z, [z]; mov.u32 %r, 0;
LOOP: mul.wide.u32 %i, %r, 32; add.u64 %i, %i, %t; st.global.v2.u64 [%i], {%w, %x};
st.global.v2.u64 [%i+16], {%y, %z}; add.u32 %r, %r, 1; setp.lt.u32 %p, %r, 128; @%p bra LOOP; ret; }
)";

}  // namespace

std::string kernel_name(std::size_t chain, std::size_t launch) {
  return fmt::format("k{}_{}", chain, launch);
}

std::string kernel_text(const GeneratedLaunch& launch, const std::string& name) {
  const bool is_flat = launch.block[1] * launch.block[2] * launch.grid[1] * launch.grid[2] == 1;
  const char* const indexes =
      is_flat ? "mov.u32 %tid, %tid.x; mov.u32 %ntid, %ntid.x; mov.u32 %cta, %ctaid.x;\n"
              : "mov.u32 %x, %ntid.x; mov.u32 %y, %ntid.y; mov.u32 %z, %tid.z;\n"
                "mov.u32 %tid, %tid.y; mad.lo.u32 %tid, %z, %y, %tid; mov.u32 %z, %tid.x;\n"
                "mad.lo.u32 %tid, %tid, %x, %z; mul.lo.u32 %ntid, %x, %y; mov.u32 %z, %ntid.z;\n"
                "mul.lo.u32 %ntid, %ntid, %z; mov.u32 %x, %nctaid.x; mov.u32 %y, %ctaid.y;\n"
                "mov.u32 %z, %ctaid.x; mad.lo.u32 %cta, %y, %x, %z;\n";
  const bool is_struct = launch.passing == Passing::kStruct;
  const char* const parameters =
      is_struct ? ".param .align 8 .b8 p[40]"
                : ".param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3,\n.param .u32 p4";
  const auto parameter = [&](int k) {
    return is_struct ? fmt::format("p+{}", 8 * k) : fmt::format("p{}", k);
  };
  return fmt::format(
      ".visible .entry {}({}) {{\n"
      ".reg .b64 %a, %b, %c, %e; .reg .b32 %n, %tid, %ntid, %cta, %x, %y, %z;\n"
      ".shared .align 16 .b8 shared[1024]; .local .align 16 .b8 spill[256];\n{}"
      "ld.param.u64 %a, [{}]; cvta.to.global.u64 %a, %a;\n"
      "ld.param.u64 %b, [{}]; cvta.to.global.u64 %b, %b;\n"
      "ld.param.u64 %c, [{}]; cvta.to.global.u64 %c, %c;\n"
      "ld.param.u64 %e, [{}]; cvta.to.global.u64 %e, %e;\n"
      "ld.param.u32 %n, [{}];\n"
      "{}{}ret;\n}}\n",
      name, parameters, launch.declarations, parameter(0), parameter(1), parameter(2), parameter(3),
      parameter(4), indexes, launch.body);
}

std::string module_text(std::span<const GeneratedChain> chains) {
  std::string text = kModule;
  std::map<std::string, std::size_t> owners;  // of kernels
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (std::size_t k = 0; k < chains[c].launches.size(); ++k) {
      text += kernel_text(chains[c].launches[k], kernel_name(c, k));
      owners.emplace(kernel_name(c, k), c);
    }
  }
  const bool changes = std::ranges::any_of(
      chains, [](const GeneratedChain& chain) { return chain.metamorphosis.has_value(); });
  if (!changes) return text;
  return metamorphosed(text, [&](std::string_view kernel) {
    const auto owner = owners.find(std::string(kernel));
    return owner == owners.end() ? std::nullopt : chains[owner->second].metamorphosis;
  });
}

}  // namespace baton::verdicts
