#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "instructions/suite.h"

// atom and red (PTX ISA, "Parallel Synchronization and Communication Instructions"): each operation
// alone on its own word, for the value that it returns and the value that it leaves; and contended,
// where the final value does not depend on the order.
namespace baton::instructions {
namespace {

constexpr unsigned kAtomicThreads = 128;  // in a block

struct AtomicSpace {
  std::string_view name, qualifier;
  std::string address;  // text that leaves the address of the thread's word in %p
};

std::vector<AtomicSpace> atomic_spaces() {
  const std::string shared = fmt::format(
      ".shared .align 8 .b8 buffer[{}];\n  .reg .b64 %p;\n  mov.u64 %p, buffer;\n"
      "  mad.wide.u32 %p, %tid_, 8, %p;\n",
      kAtomicThreads * 8);
  const std::string global =
      ".reg .b64 %p;\n  mov.u64 %p, scratch;\n  mad.wide.u32 %p, %index, 8, %p;\n";
  return {{"global", ".global", global},
          {"shared", ".shared", shared},
          {"generic_global", "", global + "  cvta.global.u64 %p, %p;\n"},
          {"generic_shared", "", shared + "  cvta.shared.u64 %p, %p;\n"}};
}

// atom returns the old value and leaves the new one; red leaves it.
template <typename T, typename F>
void add_operation(Group& group, const AtomicSpace& space, std::string_view operation,
                   std::string_view type, F function) {
  const unsigned bits = info(kind_of<T>()).bits;
  group.add(fmt::format("{0}  st{1}.b{2} [%p], %a;\n  atom{1}.{3}.{4} %d, [%p], %b;\n"
                        "  ld{1}.b{2} %x, [%p];",
                        space.address, space.qualifier, bits, operation, type),
            [function](T a, T b) { return std::tuple(a, function(a, b)); });
  if (operation == "exch") return;
  group.add(fmt::format("{0}  st{1}.b{2} [%p], %a;\n  red{1}.{3}.{4} [%p], %b;\n"
                        "  ld{1}.b{2} %d, [%p];",
                        space.address, space.qualifier, bits, operation, type),
            function);
}

template <typename T>
void add_integer(Group& group, const AtomicSpace& space) {
  const std::string type = fmt::format("{}{}", std::is_signed_v<T> ? 's' : 'u', sizeof(T) * 8);
  // There is no add.s64: unsigned addition serves.
  if constexpr (!std::is_same_v<T, s64>) {
    add_operation<T>(group, space, "add", type,
                     [](T a, T b) { return static_cast<T>(u64(a) + u64(b)); });
  }
  add_operation<T>(group, space, "min", type, [](T a, T b) { return std::min(a, b); });
  add_operation<T>(group, space, "max", type, [](T a, T b) { return std::max(a, b); });
}

template <typename T>
void add_bits(Group& group, const AtomicSpace& space) {
  const std::string type = fmt::format("b{}", sizeof(T) * 8);
  add_operation<T>(group, space, "and", type, [](T a, T b) { return T(a & b); });
  add_operation<T>(group, space, "or", type, [](T a, T b) { return T(a | b); });
  add_operation<T>(group, space, "xor", type, [](T a, T b) { return T(a ^ b); });
  add_operation<T>(group, space, "exch", type, [](T, T b) { return b; });
}

template <typename T>
void add_swap(Group& group, const AtomicSpace& space) {
  // The comparand equals the word in the first case, and mostly does not in the second.
  constexpr unsigned kBits = sizeof(T) * 8;
  group.add(fmt::format("{0}  st{1}.b{2} [%p], %a;\n  atom{1}.cas.b{2} %d, [%p], %a, %b;\n"
                        "  ld{1}.b{2} %x, [%p];",
                        space.address, space.qualifier, kBits),
            [](T a, T b) { return std::tuple(a, b); });
  group.add(fmt::format("{0}  st{1}.b{2} [%p], %a;\n  atom{1}.cas.b{2} %d, [%p], %b, %c;\n"
                        "  ld{1}.b{2} %x, [%p];",
                        space.address, space.qualifier, kBits),
            [](T a, T b, T c) { return std::tuple(a, a == b ? c : a); });
}

// "Rounds to nearest even. atom.add.f32 on global memory flushes subnormal inputs and results to
// sign-preserving zero; on shared memory it does not." f64 and halves (.noftz) keep subnormals.
template <typename T>
void add_float_sum(Group& group, const AtomicSpace& space, std::string_view type, bool flushes) {
  const auto sum = [flushes](T a, T b) {
    return flush(make_float<T>(soft_add(T::kFormat, flush(a, flushes).bits, flush(b, flushes).bits,
                                        Rounding::kRn)),
                 flushes);
  };
  add_operation<T>(group, space, "add", type, sum);
}

template <typename T>
void add_half_sums(Group& group, const AtomicSpace& space, const std::string& type) {
  const auto sum = [](T a, T b) {
    return make_float<T>(soft_add(T::kFormat, a.bits, b.bits, Rounding::kRn));
  };
  add_operation<T>(group, space, "add.noftz", type, sum);
  add_operation<Pair<T>>(group, space, "add.noftz", type + "x2", [sum](Pair<T> a, Pair<T> b) {
    return Pair<T>{sum(a.low, b.low), sum(a.high, b.high)};
  });
}

void add_atomic_space(Group& group, const AtomicSpace& space) {
  add_integer<u32>(group, space);
  add_integer<s32>(group, space);
  add_integer<u64>(group, space);
  add_integer<s64>(group, space);
  add_bits<u32>(group, space);
  add_bits<u64>(group, space);
  add_swap<u16>(group, space);
  add_swap<u32>(group, space);
  add_swap<u64>(group, space);
  add_operation<u32>(group, space, "inc", "u32",
                     [](u32 a, u32 b) { return a >= b ? u32{0} : a + 1; });
  add_operation<u32>(group, space, "dec", "u32",
                     [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; });
  add_float_sum<F32>(group, space, "f32", space.name.ends_with("global"));
  add_float_sum<F64>(group, space, "f64", false);
}

void add_halves(Group& group, const AtomicSpace& space) {
  add_half_sums<F16>(group, space, "f16");
  add_half_sums<BF16>(group, space, "bf16");
}

void add_atomic_qualifiers(Group& group) {
  const AtomicSpace global = atomic_spaces()[0];
  for (const std::string_view order : {"relaxed", "acquire", "release", "acq_rel"}) {
    for (const std::string_view scope : {"cta", "cluster", "gpu", "sys"}) {
      group.add(
          fmt::format("{}  st.global.u32 [%p], %a;\n  atom.{}.{}.global.add.u32 %d, [%p], %b;\n"
                      "  ld.global.u32 %x, [%p];",
                      global.address, order, scope),
          [](u32 a, u32 b) { return std::tuple(a, a + b); });
    }
  }
  for (const std::string_view form :
       {"red.relaxed.gpu.global", "red.release.sys.global", "red.gpu.global", "red.cta.global"}) {
    group.add(fmt::format("{}  st.global.u32 [%p], %a;\n  {}.xor.b32 [%p], %b;\n"
                          "  ld.global.u32 %d, [%p];",
                          global.address, form),
              [](u32 a, u32 b) { return a ^ b; });
  }
}

// All threads of a block on one word of shared memory; the word starts as `start`, and its final
// value is every thread's result.
template <typename F>
void add_contended(Group& group, std::string_view instruction, std::string_view type, u64 start,
                   F fold) {
  const bool wide = type.ends_with("64");
  const Kind kind = wide ? Kind::kU64 : Kind::kU32;
  const unsigned bits = wide ? 64 : 32;
  group.add_rows(
      fmt::format(".shared .align 8 .b8 cell[8];\n  .reg .pred %q;\n"
                  "  setp.eq.u32 %q, %tid_, 0;\n  @%q st.shared.b{0} [cell], {1};\n  bar.sync 0;\n"
                  "  {2}.{3} [cell], %a;\n  bar.sync 0;\n  ld.shared.b{0} %d, [cell];",
                  bits, start, instruction, type),
      {kind}, {{kind, Match::kBits}}, kAtomicThreads, [start, fold, wide](const u64* in, u64* out) {
        u64 word = start;
        for (unsigned i = 0; i < kAtomicThreads; ++i) word = fold(word, in[i]);
        if (!wide) word &= 0xffffffff;
        for (unsigned i = 0; i < kAtomicThreads; ++i) out[i * kSlotsPerResult] = word;
      });
}

void add_contention(Group& group) {
  add_contended(group, "red.shared.add", "u32", 5, [](u64 x, u64 y) { return x + y; });
  add_contended(group, "red.shared.add", "u64", 5, [](u64 x, u64 y) { return x + y; });
  add_contended(group, "red.shared.min", "u32", 0xffffffff,
                [](u64 x, u64 y) { return std::min(x, y); });
  add_contended(group, "red.shared.max", "s32", 0x80000000, [](u64 x, u64 y) {
    return static_cast<u32>(std::max(static_cast<s32>(x), static_cast<s32>(y)));
  });
  add_contended(group, "red.shared.max", "u64", 0, [](u64 x, u64 y) { return std::max(x, y); });
  add_contended(group, "red.shared.and", "b32", 0xffffffff, [](u64 x, u64 y) { return x & y; });
  add_contended(group, "red.shared.or", "b64", 0, [](u64 x, u64 y) { return x | y; });
  add_contended(group, "red.shared.xor", "b32", 0, [](u64 x, u64 y) { return x ^ y; });

  // Each thread draws a different ticket: all tickets are drawn.
  group.add_rows(fmt::format(".shared .align 4 .b32 ticket;\n  .shared .align 4 .b8 drawn[{0}];\n"
                             "  .reg .pred %q;\n  .reg .b32 %t, %base;\n"
                             "  mov.u32 %base, drawn;\n  add.u32 %t, %base, %tid_;\n"
                             "  st.shared.u8 [%t], 0;\n  setp.eq.u32 %q, %tid_, 0;\n"
                             "  @%q st.shared.u32 [ticket], 0;\n  bar.sync 0;\n"
                             "  atom.shared.add.u32 %t, [ticket], 1;\n  add.u32 %t, %t, %base;\n"
                             "  st.shared.u8 [%t], 1;\n  bar.sync 0;\n"
                             "  add.u32 %t, %base, %tid_;\n  ld.shared.u8 %d, [%t];",
                             kAtomicThreads),
                 {Kind::kU32}, {{Kind::kU32, Match::kBits}}, kAtomicThreads,
                 [](const u64*, u64* out) {
                   for (unsigned i = 0; i < kAtomicThreads; ++i) out[i * kSlotsPerResult] = 1;
                 });
  // A counter after a lock that every thread takes in turn.
  group.add_rows(
      ".shared .align 4 .b32 lock;\n  .shared .align 4 .b32 counter;\n"
      "  .reg .pred %q;\n  .reg .b32 %t;\n  setp.eq.u32 %q, %tid_, 0;\n"
      "  @%q st.shared.u32 [lock], 0;\n  @%q st.shared.u32 [counter], 0;\n"
      "  bar.sync 0;\nAGAIN:\n  atom.shared.cas.b32 %t, [lock], 0, 1;\n"
      "  setp.ne.u32 %q, %t, 0;\n  @%q bra AGAIN;\n  membar.cta;\n"
      "  ld.volatile.shared.u32 %t, [counter];\n  add.u32 %t, %t, 3;\n"
      "  st.volatile.shared.u32 [counter], %t;\n  membar.cta;\n"
      "  atom.shared.exch.b32 %t, [lock], 0;\n  bar.sync 0;\n"
      "  ld.shared.u32 %d, [counter];",
      {Kind::kU32}, {{Kind::kU32, Match::kBits}}, kAtomicThreads, [](const u64*, u64* out) {
        for (unsigned i = 0; i < kAtomicThreads; ++i) {
          out[i * kSlotsPerResult] = 3 * kAtomicThreads;
        }
      });
}

}  // namespace

void add_atomic(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "atomic";
  // A word for every row of the longest case.
  constexpr std::string_view kScratch = ".global .align 8 .b8 scratch[65536];\n";
  for (const AtomicSpace& space : atomic_spaces()) {
    Group& group = family.group(std::string(space.name));
    group.declare(kScratch);
    add_atomic_space(group, space);
    Group& halves = family.group(fmt::format("{}_halves", space.name));
    halves.declare(kScratch);
    add_halves(halves, space);
  }
  Group& qualifiers = family.group("qualifiers");
  qualifiers.declare(kScratch);
  add_atomic_qualifiers(qualifiers);
  add_contention(family.group("contention"));
}

}  // namespace baton::instructions
