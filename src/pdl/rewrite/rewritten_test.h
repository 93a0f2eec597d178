#pragma once

#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "pdl/rewrite/rewrite.h"
#include "pdl/test_support.h"

namespace baton::overlap {

// Of k(u64 p0, u64 p1, u64 p2, u32 p3): p0 is a weight, and the other pointers are written.
inline constexpr EarlyArgument kUses[] = {EarlyArgument::kConstantMemory, EarlyArgument::kAny,
                                          EarlyArgument::kAny, EarlyArgument::kScalar};

inline Rewriting rewritten(std::string_view body, TriggerPlace trigger = TriggerPlace::kNowhere,
                           std::string_view before = "") {
  const auto module = module_of(body, before);
  RewriteRequest request;
  request.kernel = module->function("k");
  request.early.params.assign(std::begin(kUses), std::end(kUses));
  request.early.constant_memory = true;
  request.trigger = trigger;
  return rewrite(module, std::span(&request, 1));
}

// The body as rewritten, with "WAIT" and "TRIGGER" for what was inserted; or why it was not.
inline std::string text(std::string_view body, TriggerPlace trigger = TriggerPlace::kNowhere,
                        std::string_view before = "") {
  const Rewriting done = rewritten(body, trigger, before);
  if (done.module == nullptr) return done.kernels[0].obstacle;
  std::string result = done.module->text();
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos;) {
      result.replace(at, from.size(), to);
    }
  };
  replace("griddepcontrol.wait; ", "WAIT ");
  replace("griddepcontrol.launch_dependents; ", "TRIGGER ");
  // What stands right after the brace, and what after the common beginning.
  const std::size_t brace = result.find('{', result.find(".visible .entry")) + 1;
  const std::string head = result.substr(brace, result.find('\n', brace) - brace);
  const std::string last = "shl.b32 %r2, %r1, 2;\n";
  const std::size_t begin = result.find(last) + last.size();
  return head + result.substr(begin, result.rfind("\n}") - begin);
}

inline constexpr char kFunctions[] = R"(
.func (.param .b64 out) advance(.param .b64 from) {
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [from]; add.s64 %d1, %d1, 4; st.param.b64 [out], %d1; ret;
}
.func loads(.param .b64 from) {
  .reg .b64 %d<2>; .reg .f32 %f<2>;
  ld.param.u64 %d1, [from]; ld.global.nc.f32 %f1, [%d1]; ret;
}
.func ends() { .reg .pred %p<2>; @%p1 exit; ret; }
.func back() { call back; ret; }
.extern .func elsewhere();
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 format[3] = {37, 100, 0};  // "%d"
)";

// The kernel's own wait stands on a line of its own, which no inserted one does.
inline constexpr char kOwnWait[] = "griddepcontrol.wait;\n";
inline constexpr char kOwnTrigger[] = "griddepcontrol.launch_dependents;\n";

// A loop's turn loads, and then does what decides whether there is another one.
inline std::string loop(const std::string& rest, const std::string& inserted = "") {
  return "L: ld.global.f32 %f1, [%b];\n" + inserted + "st.global.f32 [%c], %f1;\n" + rest;
}

}  // namespace baton::overlap
