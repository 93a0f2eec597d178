#include "analysis/loop_kernel.h"

#include <vector>

#include "verdicts/kernel_writer.h"

namespace baton::record {
namespace {

class LoopKernel {
 public:
  explicit LoopKernel(std::uint64_t seed) : writer_(seed), is_late_(writer_.chance(50)) {
    for (const char* name : {"%tid.x", "%ctaid.x", "%ntid.x", "%laneid"}) {
      words_.push_back(writer_.word());
      writer_.line("mov.u32 {}, {};", words_.back(), name);
    }
    words_.push_back(writer_.word());
    writer_.line("ld.param.u32 {}, [p3];", words_.back());
    for (std::uint32_t n = 1 + writer_.pick(2); n > 0; --n) {
      order();
      loop(0);
    }
    order();
    writer_.line("ret;");
  }

  std::string text() const { return writer_.text(); }
  std::string declarations() const { return writer_.declarations(); }

 private:
  std::string word() { return words_[writer_.pick(static_cast<std::uint32_t>(words_.size()))]; }
  std::string small() {
    return std::string(writer_.any({"0", "1", "2", "3", "4", "8", "16", "31", "32", "64", "100"}));
  }
  std::string word_or_number() { return writer_.chance(50) ? small() : word(); }

  // Half of the kernels have no wait, as those that are rewritten.
  void order() {
    if (is_late_ || !writer_.chance(40)) return;
    writer_.line("{};", writer_.any({"griddepcontrol.wait", "griddepcontrol.wait",
                                     "griddepcontrol.launch_dependents", "bar.sync 0"}));
  }

  // An address in one of the buffers; each thread has its own, or none has.
  std::string pointer() {
    const std::string start = writer_.wide();
    if (writer_.chance(10)) {
      writer_.line("mov.u64 {}, {};", start, writer_.any({"shared_table", "shared_fixed"}));
    } else {
      writer_.line("ld.param.u64 {}, [p{}];", start, writer_.pick(3));
    }
    if (writer_.chance(30)) writer_.line("cvta.to.global.u64 {}, {};", start, start);
    return writer_.chance(60) ? moved(start) : start;
  }
  std::string moved(const std::string& start) {
    const std::string at = writer_.wide();
    if (writer_.chance(50)) {
      writer_.line("mad.wide.u32 {}, {}, 4, {};", at, word_or_number(), start);
    } else {
      writer_.line("add.s64 {}, {}, {};", at, start, writer_.any({"4", "64", "-4", "1024"}));
    }
    return at;
  }

  // One way to add to a register. Some of them are none that the analysis follows.
  void advance(const std::string& id, bool is_wide) {
    const std::string to = is_wide ? writer_.wide() : writer_.word();
    const char* const type = is_wide ? "s64" : "s32";
    const std::string step(writer_.any({"1", "4", "4", "4", "8", "32", "0", "-4"}));
    switch (writer_.pick(14)) {
      case 0:
        writer_.line("add.{} {}, {}, {}; mov.b{} {}, {};", type, to, id, step, is_wide ? 64 : 32,
                     id, to);
        break;
      case 1:
        writer_.line("add.{} {}, {}, {}; add.{} {}, {}, 4;", type, to, id, step, type, id, to);
        break;
      case 2:
        writer_.line("add.{} {}, {}, {};", type, id, step, id);
        break;
      case 3:
        writer_.line("sub.{} {}, {}, {};", type, id, id, step);
        break;
      case 4:
        writer_.line("@{} add.{} {}, {}, {};", compare(), type, id, id, step);
        break;
      case 5: {
        const std::string other = writer_.label(), when = compare();
        writer_.line("@{} bra {}; add.{} {}, {}, 8; {}:", when, other, type, id, id, other);
        writer_.line("add.{} {}, {}, {};", type, id, id, step);
        break;
      }
      case 6:
        if (is_wide) {
          writer_.line("mul.wide.u32 {}, {}, 4; add.s64 {}, {}, {};", to, word(), id, id, to);
        } else {
          writer_.line("add.u32 {}, {}, {};", id, id, word());
        }
        break;
      case 7:
        writer_.line("{} {}, {}, {};", is_wide ? "add.cc.u64" : "add.sat.s32", id, id, step);
        break;
      case 8:
        writer_.line("mov.b{0} {1}, {2}; add.{3} {1}, {1}, {4}; mov.b{0} {2}, {1};",
                     is_wide ? 64 : 32, to, id, type, step);
        break;
      default:
        writer_.line("add.{} {}, {}, {};", type, id, id, step);
    }
  }

  std::string compare() {
    const std::string to = writer_.predicate();
    writer_.line("setp.{}.{} {}, {}, {};", writer_.any({"lt", "ge", "eq", "ne", "gt", "le"}),
                 writer_.any({"u32", "s32"}), to, word(), word_or_number());
    return to;
  }

  // True as long as the loop goes on.
  std::string goes_on(const std::string& id, const std::string& bound, bool is_wide) {
    const std::string first = writer_.predicate(), both = writer_.predicate();
    const bool is_swapped = writer_.chance(25);
    const std::string_view relation = is_swapped ? writer_.any({"gt", "gt", "ge", "ne", "hi"})
                                                 : writer_.any({"lt", "lt", "le", "ne", "lo"});
    const bool has_sign = relation != "hi" && relation != "lo" && writer_.chance(40);
    writer_.line("setp.{}.{}{} {}, {}, {};", relation, has_sign ? "s" : "u", is_wide ? 64 : 32,
                 first, is_swapped ? bound : id, is_swapped ? id : bound);
    switch (writer_.pick(10)) {
      case 0:
        writer_.line("and.pred {}, {}, {};", both, first, compare());
        return both;
      case 1:
        writer_.line("and.pred {}, {}, {};", both, compare(), first);
        return both;
      case 2:
        writer_.line("or.pred {}, {}, {};", both, first, compare());
        return both;
      case 3:
        writer_.line("not.pred {}, {};", both, first);
        return "!" + both;
      case 4:
        writer_.line("{}.pred {}, !{}, {};", writer_.any({"and", "or"}), both, compare(), first);
        return both;
      case 5:
        writer_.line("xor.pred {}, {}, {};", both, first, compare());
        return both;
      default:
        return first;
    }
  }
  static std::string negated(const std::string& predicate) {
    return predicate[0] == '!' ? predicate.substr(1) : "!" + predicate;
  }

  // The end of a block of the iteration.
  void part() {
    const std::string next = writer_.label();
    switch (writer_.pick(6)) {
      case 0:
        writer_.line("bra.uni {}; {}:", next, next);
        break;
      case 1:
        writer_.line("bra {};", next);
        writer_.line("trap; {}:", next);
        break;
      case 2:
        writer_.line("@{} bra {}; add.u32 {}, {}, 1; {}:", compare(), next, words_.back(),
                     words_.back(), next);
        break;
      case 3:
        writer_.line("@{} {};", compare(), writer_.any({"exit", "trap", "bra OUT"}));
        break;
      default:
        break;
    }
  }

  void store(const std::string& place, const std::string& value) {
    const std::string offset(writer_.any({"", "", "+4", "+-4", "+128"}));
    switch (writer_.pick(5)) {
      case 0:
        writer_.line("st.global.v2.u32 [{}{}], {{{}, {}}};", place, offset, value, value);
        break;
      case 1:
        writer_.line("red.global.add.u32 [{}{}], {};", place, offset, value);
        break;
      default:
        writer_.line("st.global.u32 [{}{}], {};", place, offset, value);
    }
  }

  std::string indexed(const std::string& counter) {
    const std::string scaled = writer_.wide(), at = writer_.wide();
    writer_.line("mul.wide.{} {}, {}, 4; add.s64 {}, {}, {};", writer_.any({"u32", "s32"}), scaled,
                 counter, at, pointer(), scaled);
    return at;
  }

  void loop(unsigned depth) {
    const std::string from = pointer(), to = pointer(), counter = writer_.word();
    const std::string begin = writer_.label(), out = writer_.label(), value = writer_.word();
    writer_.line("mov.u32 {}, {};", counter, word_or_number());
    const bool by_address = writer_.chance(35);
    const std::string bound = by_address ? moved(from) : word_or_number();
    const std::string& counted = by_address ? from : counter;
    if (writer_.chance(30)) {
      writer_.line("@{} bra {};", negated(goes_on(counted, bound, by_address)), out);
    }
    writer_.line("{}:", begin);
    words_.push_back(counter);
    const bool is_while = writer_.chance(25);
    if (is_while) writer_.line("@{} bra {};", negated(goes_on(counted, bound, by_address)), out);
    writer_.line("ld.global.{}u32 {}, [{}];", writer_.any({"", "", "nc.", "relaxed.gpu."}), value,
                 writer_.chance(70) ? from : indexed(counter));
    for (std::uint32_t n = writer_.pick(3); n > 0; --n) part();
    if (depth == 0 && writer_.chance(15)) loop(1);
    if (writer_.chance(10)) order();
    if (writer_.chance(40)) advance(counter, false);
    if (writer_.chance(80)) store(writer_.chance(70) ? to : indexed(counter), value);
    part();
    if (writer_.chance(70)) advance(to, true);
    if (by_address || writer_.chance(60)) advance(from, true);
    advance(counter, false);
    words_.pop_back();
    end(begin, out, is_while ? "" : goes_on(counted, bound, by_address));
    writer_.line("{}:", out);
    if (writer_.chance(50)) store(writer_.chance(50) ? to : from, word());
    if (writer_.chance(30)) store(indexed(counter), counter);
    if (writer_.chance(30)) words_.push_back(counter);
  }

  // The branch back: directly, by a jump, or past a branch that leaves.
  void end(const std::string& begin, const std::string& out, const std::string& when) {
    const std::string again = writer_.label();
    if (when.empty()) {
      writer_.line("bra {};", begin);
      return;
    }
    switch (writer_.pick(5)) {
      case 0:
        writer_.line("@{} bra {}; bra {};", negated(when), out, begin);
        break;
      case 1:
        writer_.line("@{} exit; bra {};", negated(when), begin);
        break;
      case 2:
        writer_.line("@{} bra {}; bra {}; {}: bra {};", when, again, out, again, begin);
        break;
      default:
        writer_.line("@{} bra {};", when, begin);
    }
  }

  verdicts::KernelWriter writer_;
  const bool is_late_;
  std::vector<std::string> words_;
};

}  // namespace

std::string loop_kernel(std::uint64_t seed, const std::string& name) {
  const LoopKernel kernel(seed);
  return fmt::format(
      ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3,\n"
      ".param .u64 p4, .param .align 8 .b8 p5[24]) {{\n{}{}OUT: ret; }}\n",
      name, kernel.declarations(), kernel.text());
}

}  // namespace baton::record
