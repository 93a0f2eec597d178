#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "instructions/suite.h"

// mbarrier objects and asynchronous copies (PTX ISA, "mbarrier", "cp.async", "cp.async.bulk",
// "cp.reduce.async.bulk", "st.async", "red.async"). Each thread has an mbarrier and 16 bytes of
// shared and of global memory of its own.
namespace baton::instructions {
namespace {

// %p the mbarrier, %t and %u two places in shared memory, %g one in global memory.
constexpr std::string_view kPlaces =
    ".shared .align 8 .b8 bars[1024];\n  .shared .align 16 .b8 tile[4096];\n"
    "  .reg .b32 %p, %t, %u;\n  .reg .b64 %s, %g;\n  .reg .pred %q;\n"
    "  mov.u32 %p, bars;\n  mad.lo.u32 %p, %tid_, 8, %p;\n"
    "  mov.u32 %t, tile;\n  mad.lo.u32 %t, %tid_, 16, %t;\n  add.u32 %u, %t, 2048;\n"
    "  mov.u64 %g, async_scratch;\n  mad.wide.u32 %g, %index, 16, %g;\n";
constexpr std::string_view kScratch = ".global .align 16 .b8 async_scratch[65536];\n";
// Until phase 0 of the mbarrier is over.
constexpr std::string_view kWait =
    "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %q, [%p], 0;\n  @!%q bra WAIT;\n";

std::string with_places(std::string_view text) {
  return fmt::format("{}  {}", kPlaces, text);
}

void add_mbarriers(Group& group) {
  group.declare(kScratch);
  group.add(with_places("mbarrier.init.shared.b64 [%p], 1;\n"
                        "  mbarrier.test_wait.parity.shared.b64 %z, [%p], 0;\n"
                        "  mbarrier.arrive.shared.b64 %s, [%p];\n"
                        "  mbarrier.test_wait.shared.b64 %d, [%p], %s;\n"
                        "  mbarrier.test_wait.parity.shared.b64 %x, [%p], 0;\n"
                        "  mbarrier.test_wait.parity.shared.b64 %y, [%p], 1;\n"
                        "  mbarrier.inval.shared.b64 [%p];"),
            []() { return std::tuple(true, true, false, false); });
  // By generic addresses, with orders and scopes, through three phases.
  group.add(with_places("cvt.u64.u32 %s, %p;\n  cvta.shared.u64 %g, %s;\n"
                        "  mbarrier.init.b64 [%g], 2;\n"
                        "  mbarrier.arrive.release.cta.b64 %s, [%g], 2;\n"
                        "  mbarrier.test_wait.acquire.cta.b64 %d, [%g], %s;\n"
                        "  mbarrier.arrive.b64 _, [%g];\n"
                        "  mbarrier.test_wait.parity.acquire.cluster.b64 %x, [%g], 1;\n"
                        "  mbarrier.arrive.release.cluster.b64 _, [%g];\n"
                        "  mbarrier.try_wait.parity.b64 %y, [%g], 1;\n"
                        "  mbarrier.test_wait.parity.b64 %z, [%g], 0;"),
            []() { return std::tuple(true, false, true, false); });
  group
      .add(with_places("mbarrier.init.shared.b64 [%p], %a;\n"
                       "  mbarrier.arrive.noComplete.shared.b64 %s, [%p], 3;\n"
                       "  mbarrier.pending_count.b64 %d, %s;\n"
                       "  mbarrier.arrive.noComplete.shared.b64 %s, [%p], 1;\n"
                       "  mbarrier.pending_count.b64 %x, %s;"),
           [](u32 a) { return std::tuple(a, a - 3); })
      .operand(0, range(5, 1000));
  // What drops is not awaited in the next phase either.
  group.add(with_places("mbarrier.init.shared.b64 [%p], 3;\n"
                        "  mbarrier.arrive_drop.shared.b64 _, [%p], 2;\n"
                        "  mbarrier.test_wait.parity.shared.b64 %d, [%p], 0;\n"
                        "  mbarrier.arrive.shared.b64 _, [%p];\n"
                        "  mbarrier.test_wait.parity.shared.b64 %x, [%p], 0;\n"
                        "  mbarrier.arrive.shared.b64 _, [%p];\n"
                        "  mbarrier.test_wait.parity.shared.b64 %y, [%p], 1;"),
            []() { return std::tuple(false, true, true); });
  // Bytes that are announced keep the phase from ending.
  group
      .add(with_places("mbarrier.init.shared.b64 [%p], 1;\n"
                       "  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %s, [%p], %a;\n"
                       "  mbarrier.test_wait.shared.b64 %d, [%p], %s;\n"
                       "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%p], %a;\n"
                       "  mbarrier.test_wait.shared.b64 %x, [%p], %s;"),
           [](u32) { return std::tuple(false, true); })
      .operand(0, range(1, 1 << 19));
  group.add(with_places("mbarrier.init.shared.b64 [%p], 1;\n"
                        "  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%p], 64;\n"
                        "  mbarrier.arrive.shared.b64 _, [%p];\n"
                        "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%p], 48;\n"
                        "  mbarrier.test_wait.parity.shared.b64 %d, [%p], 0;\n"
                        "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%p], 16;\n"
                        "  mbarrier.try_wait.parity.shared.b64 %x, [%p], 0, 100;"),
            []() { return std::tuple(false, true); });
}

u64 bytes_of(u64 value, unsigned count) {
  return count >= 8 ? value : value & ((u64{1} << (8 * count)) - 1);
}

void add_thread_copies(Group& group) {
  group.declare(kScratch);
  const std::string begin =
      with_places("st.global.v2.u64 [%g], {%a, %b};\n  st.shared.v2.u64 [%t], {%c, %c};\n  ");
  const std::string_view end = "cp.async.wait_all;\n  ld.shared.v2.u64 {%d, %x}, [%t];";
  for (const unsigned bytes : {4u, 8u, 16u}) {
    const auto merged = [bytes](unsigned count, u64 a, u64 b, u64 c) {
      const u64 low =
          bytes_of(a, std::min(count, 8u)) | (bytes >= 8 ? 0 : c & ~((u64{1} << (8 * bytes)) - 1));
      return std::tuple(low, bytes < 16 ? c : count <= 8 ? 0 : bytes_of(b, count - 8));
    };
    group.add(fmt::format("{}cp.async.ca.shared.global [%t], [%g], {};\n  {}", begin, bytes, end),
              [=](u64 a, u64 b, u64 c) { return merged(bytes, a, b, c); });
    for (unsigned count = 0; count <= bytes; count += 4) {
      group.add(fmt::format("{}.reg .b32 %n;\n  mov.u32 %n, {};\n"
                            "  cp.async.ca.shared::cta.global.L2::128B [%t], [%g], {}, %n;\n  {}",
                            begin, count, bytes, end),
                [=](u64 a, u64 b, u64 c) { return merged(count, a, b, c); });
    }
    group.add(
        fmt::format("{}cp.async.ca.shared.global [%t], [%g], {}, %e;\n  {}", begin, bytes, end),
        [=](u64 a, u64 b, u64 c, bool e) { return merged(e ? 0 : bytes, a, b, c); });
  }
  group.add(fmt::format("{}cp.async.cg.shared.global [%t], [%g], 16;\n  {}", begin, end),
            [](u64 a, u64 b, u64) { return std::tuple(a, b); });
  // Groups are waited for from the oldest on.
  group.add(with_places("st.global.v2.u64 [%g], {%a, %b};\n"
                        "  cp.async.ca.shared.global [%t], [%g], 8;\n  cp.async.commit_group;\n"
                        "  cp.async.ca.shared.global [%t+8], [%g+8], 8;\n"
                        "  cp.async.commit_group;\n"
                        "  cp.async.wait_group 1;\n  ld.shared.u64 %d, [%t];\n"
                        "  cp.async.wait_group 0;\n  ld.shared.u64 %x, [%t+8];"),
            [](u64 a, u64 b) { return std::tuple(a, b); });
  // An mbarrier waits for them, with an arrival of its own or one that was counted on.
  for (const bool no_inc : {false, true}) {
    group.add(fmt::format("{}st.global.v2.u64 [%g], {{%a, %b}};\n"
                          "  mbarrier.init.shared.b64 [%p], {};\n"
                          "  cp.async.ca.shared.global [%t], [%g], 16;\n"
                          "  cp.async.mbarrier.arrive{}.shared.b64 [%p];\n"
                          "  mbarrier.arrive.shared.b64 _, [%p];\n  {}"
                          "  ld.shared.v2.u64 {{%d, %x}}, [%t];",
                          with_places(""), no_inc ? 2 : 1, no_inc ? ".noinc" : "", kWait),
              [](u64 a, u64 b) { return std::tuple(a, b); });
  }
}

// The mbarrier awaits `bytes`; what was written before is visible to the asynchronous proxy.
std::string expecting(unsigned bytes) {
  return fmt::format(
      "mbarrier.init.shared.b64 [%p], 1;\n  fence.proxy.async;\n"
      "  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%p], {};\n",
      bytes);
}

void add_bulk_copies(Group& group) {
  group.declare(kScratch);
  const auto same = [](u64 a, u64 b) { return std::tuple(a, b); };
  const std::string_view awaited = "mbarrier::complete_tx::bytes";
  group.add(fmt::format("{}st.global.v2.u64 [%g], {{%a, %b}};\n  {}"
                        "  cp.async.bulk.shared::cluster.global.{} [%t], [%g], 16, [%p];\n  {}"
                        "  ld.shared.v2.u64 {{%d, %x}}, [%t];",
                        with_places(""), expecting(16), awaited, kWait),
            same);
  group
      .add(fmt::format("{}st.shared.v2.u64 [%u], {{%a, %b}};\n  {}"
                       "  cp.async.bulk.shared::cluster.shared::cta.{} [%t], [%u], 16, [%p];\n  {}"
                       "  ld.shared.v2.u64 {{%d, %x}}, [%t];",
                       with_places(""), expecting(16), awaited, kWait),
           same)
      .in_cluster();
  for (const std::string_view read : {"", ".read"}) {
    // After .read the source may change; the whole is there when the group is over.
    group.add(fmt::format("{}st.shared.v2.u64 [%t], {{%a, %b}};\n  fence.proxy.async;\n"
                          "  cp.async.bulk.global.shared::cta.bulk_group [%g], [%t], 16;\n"
                          "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group{} 0;\n"
                          "  st.shared.v2.u64 [%t], {{%b, %a}};\n"
                          "  cp.async.bulk.wait_group 0;\n  fence.proxy.async;\n"
                          "  ld.global.v2.u64 {{%d, %x}}, [%g];",
                          with_places(""), read),
              same);
  }
}

// Four words in global and in shared memory, and what a reduction leaves of them.
template <typename T, typename F>
void add_bulk_reduction(Group& group, std::string_view operation, std::string_view type,
                        std::string_view reg, bool to_shared, F function) {
  constexpr bool kFourWords = sizeof(T) == 4;
  const std::string_view old = kFourWords ? "{%a, %b, %b, %a}" : "{%a, %b}";
  const std::string_view added = kFourWords ? "{%c, %e, %c, %e}" : "{%c, %e}";
  const std::string_view result = kFourWords ? "{%d, %x, %y, %z}" : "{%d, %x}";
  const std::string vector = fmt::format("{}.{}", kFourWords ? "v4" : "v2", reg);
  const std::string text =
      to_shared
          ? fmt::format(
                "{0}st.shared.{1} [%t], {2};\n  st.shared.{1} [%u], {3};\n  {4}"
                "  cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx"
                "::bytes.{5}.{6} [%t], [%u], 16, [%p];\n  {7}"
                "  ld.shared.{1} {8}, [%t];",
                with_places(""), vector, old, added, expecting(16), operation, type, kWait, result)
          : fmt::format(
                "{0}st.global.{1} [%g], {2};\n  st.shared.{1} [%u], {3};\n"
                "  fence.proxy.async;\n"
                "  cp.reduce.async.bulk.global.shared::cta.bulk_group.{4}.{5} [%g], [%u], "
                "16;\n  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n"
                "  fence.proxy.async;\n  ld.global.{1} {6}, [%g];",
                with_places(""), vector, old, added, operation, type, result);
  Case& one = group.add(text, [function](T a, T b, T c, T e) {
    if constexpr (kFourWords) {
      return std::array<T, 4>{function(a, c), function(b, e), function(b, c), function(a, e)};
    } else {
      return std::array<T, 2>{function(a, c), function(b, e)};
    }
  });
  if (to_shared) one.in_cluster();
}

void add_bulk_integers(Group& group, bool to_shared) {
  group.declare(kScratch);
  const auto reduce = [&]<typename T>(std::string_view operation, std::string_view type, T,
                                      auto function) {
    add_bulk_reduction<T>(group, operation, type, sizeof(T) == 8 ? "b64" : "b32", to_shared,
                          function);
  };
  reduce("and", "b32", u32{}, [](u32 a, u32 b) { return a & b; });
  reduce("or", "b32", u32{}, [](u32 a, u32 b) { return a | b; });
  reduce("xor", "b32", u32{}, [](u32 a, u32 b) { return a ^ b; });
  reduce("add", "u32", u32{}, [](u32 a, u32 b) { return a + b; });
  reduce("add", "s32", u32{}, [](u32 a, u32 b) { return a + b; });
  reduce("add", "u64", u64{}, [](u64 a, u64 b) { return a + b; });
  reduce("inc", "u32", u32{}, [](u32 a, u32 b) { return a >= b ? u32{0} : a + 1; });
  reduce("dec", "u32", u32{}, [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; });
  reduce("min", "u32", u32{}, [](u32 a, u32 b) { return std::min(a, b); });
  reduce("max", "u32", u32{}, [](u32 a, u32 b) { return std::max(a, b); });
  reduce("min", "s32", s32{}, [](s32 a, s32 b) { return std::min(a, b); });
  reduce("max", "s32", s32{}, [](s32 a, s32 b) { return std::max(a, b); });
  if (to_shared) return;
  reduce("and", "b64", u64{}, [](u64 a, u64 b) { return a & b; });
  reduce("or", "b64", u64{}, [](u64 a, u64 b) { return a | b; });
  reduce("xor", "b64", u64{}, [](u64 a, u64 b) { return a ^ b; });
  reduce("min", "u64", u64{}, [](u64 a, u64 b) { return std::min(a, b); });
  reduce("max", "u64", u64{}, [](u64 a, u64 b) { return std::max(a, b); });
  reduce("min", "s64", s64{}, [](s64 a, s64 b) { return std::min(a, b); });
  reduce("max", "s64", s64{}, [](s64 a, s64 b) { return std::max(a, b); });
}

template <typename T>
T sum(T a, T b) {
  return make_float<T>(soft_add(T::kFormat, a.bits, b.bits, Rounding::kRn));
}

template <typename T>
T extreme(T a, T b, bool greater) {
  if (is_nan(a)) return is_nan(b) ? nan<T>() : b;
  if (is_nan(b)) return a;
  const bool a_below =
      value(a) < value(b) || (value(a) == value(b) && (a.bits & T::kFormat.sign_bit()) != 0);
  return a_below == greater ? b : a;
}

template <typename T>
void add_bulk_halves(Group& group, std::string_view type) {
  const auto reduce = [&](std::string_view operation, auto each) {
    add_bulk_reduction<Pair<T>>(group, operation, type, "b32", false, [each](Pair<T> a, Pair<T> b) {
      return Pair<T>{each(a.low, b.low), each(a.high, b.high)};
    });
  };
  reduce("add.noftz", [](T a, T b) { return sum(a, b); });
  reduce("min", [](T a, T b) { return extreme(a, b, false); });
  reduce("max", [](T a, T b) { return extreme(a, b, true); });
}

void add_bulk_floats(Group& group) {
  group.declare(kScratch);
  add_bulk_reduction<F32>(group, "add", "f32", "f32", false,
                          [](F32 a, F32 b) { return sum(a, b); });
  add_bulk_reduction<F64>(group, "add", "f64", "f64", false,
                          [](F64 a, F64 b) { return sum(a, b); });
  add_bulk_halves<F16>(group, "f16");
  add_bulk_halves<BF16>(group, "bf16");
}

// To the shared memory of the own block, as a member of a cluster of one.
void add_stores(Group& group) {
  group.declare(kScratch);
  const std::string_view form = "shared::cluster.mbarrier::complete_tx::bytes";
  const auto add = [&](unsigned bytes, std::string_view type, std::string_view values,
                       std::string_view load, auto function) {
    group
        .add(fmt::format("{}{}  st.async.weak.{}.{} [%t], {}, [%p];\n  {}{}", with_places(""),
                         expecting(bytes), form, type, values, kWait, load),
             function)
        .in_cluster();
  };
  add(4, "b32", "%a", "  ld.shared.u32 %d, [%t];", [](u32 a) { return a; });
  add(8, "u64", "%a", "  ld.shared.u64 %d, [%t];", [](u64 a) { return a; });
  add(8, "v2.f32", "{%a, %b}", "  ld.shared.v2.f32 {%d, %x}, [%t];",
      [](F32 a, F32 b) { return std::tuple(a, b); });
  add(16, "v4.s32", "{%a, %b, %c, %e}", "  ld.shared.v4.s32 {%d, %x, %y, %z}, [%t];",
      [](s32 a, s32 b, s32 c, s32 e) { return std::tuple(a, b, c, e); });
  add(16, "v2.b64", "{%a, %b}", "  ld.shared.v2.u64 {%d, %x}, [%t];",
      [](u64 a, u64 b) { return std::tuple(a, b); });

  const auto reduce = [&]<typename T>(std::string_view operation, std::string_view type, T,
                                      auto function) {
    const unsigned bytes = sizeof(T);
    group
        .add(
            fmt::format("{0}st.shared.b{1} [%t], %a;\n  {2}"
                        "  red.async.relaxed.cluster.{3}.{4}.{5} [%t], %b, [%p];\n  {6}"
                        "  ld.shared.b{1} %d, [%t];",
                        with_places(""), 8 * bytes, expecting(bytes), form, operation, type, kWait),
            [function](T a, T b) { return function(a, b); })
        .in_cluster();
  };
  reduce("add", "u32", u32{}, [](u32 a, u32 b) { return a + b; });
  reduce("add", "s32", u32{}, [](u32 a, u32 b) { return a + b; });
  reduce("add", "u64", u64{}, [](u64 a, u64 b) { return a + b; });
  reduce("min", "u32", u32{}, [](u32 a, u32 b) { return std::min(a, b); });
  reduce("max", "s32", s32{}, [](s32 a, s32 b) { return std::max(a, b); });
  reduce("inc", "u32", u32{}, [](u32 a, u32 b) { return a >= b ? u32{0} : a + 1; });
  reduce("dec", "u32", u32{}, [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; });
  reduce("and", "b32", u32{}, [](u32 a, u32 b) { return a & b; });
  reduce("or", "b32", u32{}, [](u32 a, u32 b) { return a | b; });
  reduce("xor", "b32", u32{}, [](u32 a, u32 b) { return a ^ b; });
}

}  // namespace

void add_asynchronous(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "async";
  add_mbarriers(family.group("mbarrier"));
  add_thread_copies(family.group("cp_async"));
  add_bulk_copies(family.group("bulk"));
  add_bulk_integers(family.group("bulk_reduce_global"), false);
  add_bulk_integers(family.group("bulk_reduce_shared"), true);
  add_bulk_floats(family.group("bulk_reduce_float"));
  add_stores(family.group("stores"));
}

}  // namespace baton::instructions
