#include "analysis/number_kernel.h"

#include <vector>

#include "verdicts/kernel_writer.h"

namespace baton::record {
namespace {

class NumberKernel {
 public:
  explicit NumberKernel(std::uint64_t seed) : writer_(seed) {
    for (const char* name : {"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ctaid.x", "%nctaid.x",
                             "%laneid", "%warpid", "%ntid.y", "%ctaid.y", "%nctaid.z"}) {
      if (!words_.empty() && writer_.chance(40)) continue;
      words_.push_back(writer_.word());
      writer_.line("mov.u32 {}, {};", words_.back(), name);
    }
    words_.push_back(writer_.word());
    writer_.line("ld.param.u32 {}, [p3];", words_.back());
    wides_.push_back(writer_.wide());
    writer_.line("ld.param.u64 {}, [p4];", wides_.back());
    wides_.push_back(writer_.wide());
    writer_.line("ld.param.u64 {}, [p5+{}];", wides_.back(), 8 * writer_.pick(3));
    for (std::uint32_t n = 6 + writer_.pick(20); n > 0; --n) statement(0);
    writer_.line("ret;");
  }

  std::string text() const { return writer_.text(); }
  std::string declarations() const { return writer_.declarations(); }

 private:
  std::string word() { return words_[writer_.pick(static_cast<std::uint32_t>(words_.size()))]; }
  std::string wide() { return wides_[writer_.pick(static_cast<std::uint32_t>(wides_.size()))]; }
  std::string number(bool is_wide) {
    static constexpr std::int64_t kSmall[] = {0,  1,  2,  3,  4,  7,   8,   15,  16,  31,  32,
                                              33, 63, 64, 65, 96, 127, 128, 255, 256, 1024};
    static constexpr std::int64_t kLarge[] = {-1, -2, -4, -32, 0x7fffffff, 0xffff, 0x10000};
    static constexpr std::int64_t kHuge[] = {0x80000000, 0xffffffff, 0x100000000, INT64_MAX,
                                             INT64_MIN};
    if (is_wide && writer_.chance(15)) return std::to_string(kHuge[writer_.pick(4)]);
    if (writer_.chance(20)) return std::to_string(kLarge[writer_.pick(std::size(kLarge))]);
    return std::to_string(kSmall[writer_.pick(std::size(kSmall))]);
  }
  std::string word_or_number() { return writer_.chance(40) ? number(false) : word(); }
  std::string wide_or_number() { return writer_.chance(40) ? number(true) : wide(); }
  std::string guard() {
    if (predicates_.empty() || !writer_.chance(15)) return "";
    return fmt::format("@{}{} ", writer_.chance(50) ? "!" : "", predicate());
  }
  std::string predicate() {
    return predicates_[writer_.pick(static_cast<std::uint32_t>(predicates_.size()))];
  }
  // A register to write to: mostly a new one.
  std::string target(std::vector<std::string>& registers, std::string fresh) {
    if (depth_ > 0 || writer_.chance(10)) {
      return registers[writer_.pick(static_cast<std::uint32_t>(registers.size()))];
    }
    registers.push_back(fresh);
    return fresh;
  }

  void compute_word() {
    const std::string a = word(), b = word_or_number(), c = word_or_number(), before = guard();
    const std::string sign(writer_.any({"u32", "s32"}));
    const std::string to = target(words_, writer_.word());
    switch (writer_.pick(14)) {
      case 0:
        writer_.line("{}{}.{} {}, {}, {};", before,
                     writer_.any({"add", "sub", "min", "max", "mul.lo", "div", "rem"}), sign, to, a,
                     b);
        break;
      case 1:
        writer_.line("{}{}.b32 {}, {}, {};", before, writer_.any({"and", "or", "xor"}), to, a, b);
        break;
      case 2:
        writer_.line("{}shl.b32 {}, {}, {};", before, to, a, b);
        break;
      case 3:
        writer_.line("{}shr.{} {}, {}, {};", before, writer_.any({"u32", "s32", "b32"}), to, a, b);
        break;
      case 4:
        writer_.line("{}mad.lo.{} {}, {}, {}, {};", before, sign, to, a, b, c);
        break;
      case 5:
        writer_.line("{}{} {}, {};", before,
                     writer_.any({"not.b32", "neg.s32", "abs.s32", "popc.b32", "clz.b32",
                                  "brev.b32", "bfind.u32", "mov.u32", "mov.b32", "cvt.u32.u16",
                                  "cvt.s32.s8", "cvt.u32.u8"}),
                     to, a);
        break;
      case 6:
        if (predicates_.empty()) return;
        writer_.line("{}selp.b32 {}, {}, {}, {};", before, to, a, b, predicate());
        break;
      case 7:
        writer_.line("{}cvt.u32.u64 {}, {};", before, to, wide());
        break;
      case 8:
        writer_.line("{}bfe.{} {}, {}, {}, {};", before, sign, to, a, number(false), number(false));
        break;
      case 9:
        writer_.line("{}mul.hi.{} {}, {}, {};", before, sign, to, a, b);
        break;
      case 10:
        writer_.line("{}shf.{}.b32 {}, {}, {}, {};", before,
                     writer_.any({"l.wrap", "r.wrap", "l.clamp", "r.clamp"}), to, a, word(), c);
        break;
      case 11:
        writer_.line("{}lop3.b32 {}, {}, {}, {}, {};", before, to, a, word(), word(),
                     writer_.any({"192", "252", "60", "128", "254", "150", "0xca"}));
        break;
      case 12:
        writer_.line("{}ld.param.u32 {}, [{}+{}];", before, to, writer_.any({"p4", "p5"}),
                     4 * writer_.pick(2));
        break;
      default:
        writer_.line("{}{}.{} {}, {}, {};", before, writer_.any({"add", "sub"}), sign, to, a, b);
    }
  }

  void compute_wide() {
    const std::string a = wide(), b = wide_or_number(), c = wide_or_number(), before = guard();
    const std::string sign(writer_.any({"u64", "s64"}));
    const std::string to = target(wides_, writer_.wide());
    switch (writer_.pick(9)) {
      case 0:
        writer_.line("{}{}.{} {}, {}, {};", before,
                     writer_.any({"add", "sub", "min", "max", "mul.lo", "div", "rem"}), sign, to, a,
                     b);
        break;
      case 1:
        writer_.line("{}{}.b64 {}, {}, {};", before, writer_.any({"and", "or", "xor"}), to, a, b);
        break;
      case 2:
        writer_.line("{}{} {}, {}, {};", before,
                     writer_.any({"shl.b64", "shr.u64", "shr.s64", "shr.b64"}), to, a,
                     word_or_number());
        break;
      case 3:
        writer_.line("{}mad.lo.{} {}, {}, {}, {};", before, sign, to, a, b, c);
        break;
      case 4:
        writer_.line("{}{} {}, {}, {};", before, writer_.any({"mul.wide.u32", "mul.wide.s32"}), to,
                     word(), word_or_number());
        break;
      case 5:
        writer_.line("{}{} {}, {};", before, writer_.any({"cvt.u64.u32", "cvt.s64.s32"}), to,
                     word());
        break;
      case 6:
        writer_.line("{}{} {}, {}, {}, {};", before, writer_.any({"mad.wide.u32", "mad.wide.s32"}),
                     to, word(), word_or_number(), wide());
        break;
      case 7:
        writer_.line("{}mov.b64 {}, {{{}, {}}};", before, to, word(), word());
        break;
      default:
        writer_.line("{}{} {}, {};", before,
                     writer_.any({"not.b64", "neg.s64", "abs.s64", "mov.u64"}), to, a);
    }
  }

  std::string compare() {
    const std::string to = writer_.predicate();
    const std::string_view relation = writer_.any({"lt", "le", "gt", "ge", "eq", "ne"});
    if (writer_.chance(70)) {
      writer_.line("setp.{}.{} {}, {}, {};", relation, writer_.any({"u32", "s32"}), to, word(),
                   word_or_number());
    } else {
      writer_.line("setp.{}.{} {}, {}, {};", relation, writer_.any({"u64", "s64"}), to, wide(),
                   wide_or_number());
    }
    if (!predicates_.empty() && writer_.chance(25)) {
      const std::string both = writer_.predicate();
      writer_.line("{}.pred {}, {}, {};", writer_.any({"and", "or", "xor"}), both, to, predicate());
      return both;
    }
    if (writer_.chance(10)) writer_.line("not.pred {}, {};", to, to);
    return to;
  }

  void access() {
    const std::string pointer = writer_.wide(), at = writer_.wide(), got = writer_.word();
    writer_.line("ld.param.u64 {}, [p{}];", pointer, writer_.pick(3));
    if (writer_.chance(50)) writer_.line("cvta.to.global.u64 {}, {};", pointer, pointer);
    switch (writer_.pick(4)) {
      case 0:
        writer_.line("mad.wide.{} {}, {}, {}, {};", writer_.any({"u32", "s32"}), at, word(),
                     writer_.any({"4", "1", "-4", "8"}), pointer);
        break;
      case 1: {
        const std::string scaled = writer_.wide();
        writer_.line("shl.b64 {}, {}, 2; {} {}, {}, {};", scaled, wide(),
                     writer_.any({"add.s64", "sub.s64"}), at, pointer, scaled);
        break;
      }
      default: {
        const std::string scaled = writer_.wide();
        writer_.line("mul.wide.{} {}, {}, 4; add.s64 {}, {}, {};", writer_.any({"u32", "s32"}),
                     scaled, word(), at, pointer, scaled);
      }
    }
    const std::string place =
        writer_.chance(60)
            ? at
            : fmt::format("{}{}{}", at, writer_.any({"+", "+-"}), writer_.any({"4", "16", "64"}));
    const std::string_view space = writer_.any({"global.", "global.", ""});
    const std::string before = guard();
    switch (writer_.pick(6)) {
      case 0:
        writer_.line("{}st.{}u32 [{}], {};", before, space, place, word());
        break;
      case 1:
        writer_.line("{}atom.{}add.u32 {}, [{}], 1;", before, space, got, place);
        words_.push_back(got);
        break;
      case 2:
        writer_.line("{}st.{}v2.u32 [{}], {{{}, {}}};", before, space, place, word(), word());
        break;
      case 3:
        writer_.line("{}ld.{}{} {}, [{}];", before, space, writer_.any({"u8", "s16", "u32"}), got,
                     place);
        if (depth_ == 0) words_.push_back(got);
        break;
      default:
        writer_.line("{}{} {}, [{}];", before,
                     writer_.any({"ld.global.u32", "ld.global.nc.u32", "ld.relaxed.gpu.global.u32",
                                  "ld.volatile.global.u32"}),
                     got, place);
        if (depth_ == 0) words_.push_back(got);
    }
  }

  void memory_of_thread() {
    const std::string value = word(), got = writer_.word();
    const std::string_view space = writer_.any({"local", "shared"});
    const std::string_view name = space == "local" ? "spill" : "shared";
    writer_.line("st.{}.u32 [{}+{}], {};", space, name, 4 * writer_.pick(3), value);
    writer_.line("ld.{}.u32 {}, [{}+{}];", space, got, name, 4 * writer_.pick(3));
    if (depth_ == 0) words_.push_back(got);
  }

  void branch() {
    const std::string when = compare(), label = writer_.label();
    ++depth_;
    writer_.line("@{}{} bra {};", writer_.chance(50) ? "!" : "", when, label);
    for (std::uint32_t n = 1 + writer_.pick(4); n > 0; --n) statement(depth_);
    writer_.line("{}:", label);
    --depth_;
    predicates_.push_back(when);
  }

  // Counted up or down, to a bound that may be met, passed or missed.
  void loop() {
    const std::string counter = writer_.word(), label = writer_.label(), when = writer_.predicate();
    const bool is_up = writer_.chance(70);
    writer_.line("mov.u32 {}, {};", counter, writer_.chance(50) ? number(false) : word());
    writer_.line("{}:", label);
    words_.push_back(counter);
    ++depth_;
    const std::size_t last = words_.size();
    for (std::uint32_t n = 1 + writer_.pick(3); n > 0; --n) statement(depth_);
    words_.resize(last);
    --depth_;
    writer_.line("{}.{} {}, {}, {};", is_up ? "add" : "sub", writer_.any({"u32", "s32"}), counter,
                 counter, writer_.any({"1", "2", "32", "256"}));
    writer_.line("setp.{}.{} {}, {}, {};",
                 is_up ? writer_.any({"lt", "le", "ne"}) : writer_.any({"gt", "ge", "ne"}),
                 writer_.any({"u32", "s32"}), when, counter,
                 writer_.chance(60) ? number(false) : word());
    writer_.line("@{} bra {};", when, label);
  }

  void order() {
    const std::string before = writer_.chance(40) ? guard() : "";
    writer_.line("{}{};", before,
                 writer_.any({"griddepcontrol.wait", "griddepcontrol.wait",
                              "griddepcontrol.launch_dependents", "bar.sync 0", "membar.gl", "ret",
                              "bar.warp.sync -1"}));
  }

  void statement(unsigned depth) {
    switch (writer_.pick(depth < 2 ? 12 : 9)) {
      case 0:
      case 1:
        return compute_wide();
      case 2:
        return access();
      case 3:
        return memory_of_thread();
      case 4:
        return order();
      case 5:
        if (depth_ > 0) return compute_word();
        predicates_.push_back(compare());
        return;
      case 9:
        return loop();
      case 10:
        return branch();
      case 11:
        return access();
      default:
        return compute_word();
    }
  }

  verdicts::KernelWriter writer_;
  std::vector<std::string> words_, wides_, predicates_;
  unsigned depth_ = 0;
};

}  // namespace

std::string number_kernel(std::uint64_t seed, const std::string& name) {
  const NumberKernel kernel(seed);
  return fmt::format(
      ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3,\n"
      ".param .u64 p4, .param .align 8 .b8 p5[24]) {{\n"
      ".shared .align 16 .b8 shared[64]; .local .align 16 .b8 spill[64];\n{}{}}}\n",
      name, kernel.declarations(), kernel.text());
}

}  // namespace baton::record
