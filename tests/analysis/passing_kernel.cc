#include "analysis/passing_kernel.h"

#include <vector>

#include "verdicts/kernel_writer.h"

namespace baton::record {
namespace {

class PassingKernel {
 public:
  explicit PassingKernel(std::uint64_t seed) : writer_(seed) {
    tid_ = writer_.word();
    writer_.line("mov.u32 {}, %tid.x;", tid_);
    for (std::uint32_t n = 1 + writer_.pick(3); n > 0; --n) addresses_.push_back(given());
    for (std::uint32_t n = 3 + writer_.pick(6); n > 0; --n) statement();
    for (std::uint32_t n = 1 + writer_.pick(2); n > 0; --n) access(address());
    writer_.line("ret;");
  }

  std::string text() const { return writer_.text(); }
  std::string declarations() const { return writer_.declarations(); }

 private:
  std::string address() {
    return addresses_[writer_.pick(static_cast<std::uint32_t>(addresses_.size()))];
  }
  std::string offset() {
    return std::string(writer_.any(
        {"", "", "+4", "+8", "+12", "+16", "+20", "+24", "+32", "+2", "+-4", "+-8", "+6", "+7"}));
  }
  std::string parameter() {
    return std::string(writer_.any({"p0", "p1", "p2", "p3", "p4", "p5", "p5", "p5", "p5"}));
  }

  // 32 bits of a parameter.
  std::string half() {
    const std::string to = writer_.word();
    writer_.line("ld.param.{} {}, [{}{}];", writer_.any({"u32", "u32", "b32", "s32"}), to,
                 parameter(), offset());
    return to;
  }

  std::string given() {
    const std::string to = writer_.wide();
    switch (writer_.pick(12)) {
      case 0:
        writer_.line("mov.b64 {}, {{{}, {}}};", to, half(), half());
        break;
      case 1: {  // the halves of one address
        const std::string low = writer_.word(), high = writer_.word(), from = parameter();
        writer_.line("ld.param.u32 {}, [{}]; ld.param.u32 {}, [{}+4];", low, from, high, from);
        writer_.line("mov.b64 {}, {{{}, {}}};", to, low, high);
        break;
      }
      case 2: {
        const std::string other = writer_.wide();
        writer_.line("ld.param.v2.{} {{{}, {}}}, [{}{}];", writer_.any({"u64", "b64"}), to, other,
                     parameter(), offset());
        addresses_.push_back(other);
        break;
      }
      case 3: {
        const std::string low = writer_.word(), high = writer_.word();
        writer_.line("ld.param.v2.u32 {{{}, {}}}, [{}{}];", low, high, parameter(), offset());
        writer_.line("mov.b64 {}, {{{}, {}}};", to, low, high);
        break;
      }
      case 4: {  // a field at a computed place
        const std::string at = writer_.wide();
        writer_.line("mov.b64 {}, {};", at, parameter());
        if (writer_.chance(60)) {
          const std::string more = writer_.wide();
          writer_.line("mul.wide.u32 {}, {}, 8; add.s64 {}, {}, {};", more, tid_, at, at, more);
        }
        writer_.line("ld.param.{} {}, [{}{}];", writer_.any({"u64", "b64"}), to, at, offset());
        break;
      }
      case 5: {
        const std::string part = writer_.half();
        writer_.line("ld.param.{} {}, [{}{}]; cvt.u64.u16 {}, {};", writer_.any({"u16", "b16"}),
                     part, parameter(), offset(), to, part);
        break;
      }
      case 6: {
        const std::string part = writer_.word();
        writer_.line("ld.param.{} {}, [{}{}];", writer_.any({"u8", "s8", "b8", "u16", "s16"}), part,
                     parameter(), offset());
        writer_.line("cvt.u64.u32 {}, {};", to, part);
        break;
      }
      case 7:
        writer_.line("mov.u64 {}, {};", to, writer_.any({"shared_table", "shared_fixed"}));
        break;
      default:
        writer_.line("ld.param.u64 {}, [{}{}];", to, parameter(),
                     writer_.chance(40) ? offset() : std::string());
    }
    return to;
  }

  void call() {
    const std::string to = writer_.wide(), low = writer_.word(), high = writer_.word();
    switch (writer_.pick(9)) {
      case 0:
        writer_.line("{{ .param .b64 a; st.param.b64 [a], {}; .param .b64 r;", address());
        writer_.line("call.uni (r), shared_next, (a); ld.param.b64 {}, [r]; }}", to);
        break;
      case 1:
      case 2:
        writer_.line("mov.b64 {{{}, {}}}, {};", low, high, address());
        if (writer_.chance(30)) writer_.line("mov.b64 {{_, {}}}, {};", high, address());
        writer_.line("{{ .param .b32 a; st.param.b32 [a], {}; .param .b32 b;", low);
        writer_.line("st.param.b32 [b], {}; .param .b64 r;", high);
        writer_.line("call.uni (r), shared_join, (a, b); ld.param.b64 {}, [r]; }}", to);
        break;
      case 3:
        writer_.line("{{ .param .b64 a; st.param.b64 [a], {}; .param .b32 b;", address());
        writer_.line("st.param.b32 [b], {}; call.uni shared_add, (a, b); }}", tid_);
        return;
      case 4:
        writer_.line("{{ .param .b64 a; st.param.b64 [a], {}; .param .b64 r;", address());
        writer_.line("call.uni (r), outside, (a); ld.param.b64 {}, [r]; }}", to);
        break;
      case 5:
        writer_.line("{{ .param .b64 a; st.param.b64 [a], {}; .param .b64 r;", address());
        writer_.line("P{0}: .callprototype (.param .b64 _) _ (.param .b64 _);", prototypes_);
        writer_.line("call (r), {}, (a), P{}; ld.param.b64 {}, [r]; }}", address(), prototypes_++,
                     to);
        break;
      case 6:
        writer_.line("{{ .param .b64 a; st.param.b64 [a], {}; .param .b64 r;", address());
        writer_.line("call.uni (r), shared_read, (a); ld.param.b64 {}, [r]; }}", to);
        break;
      case 7:
        writer_.line("{{ .param .b64 a; st.param.b64 [a], {}; call.uni shared_waits, (a); }}",
                     address());
        return;
      default:
        writer_.line("{{ .param .align 8 .b8 a[16]; st.param.b64 [a], {};", address());
        writer_.line("st.param.b64 [a+8], {}; .param .b64 r;", address());
        writer_.line("call.uni (r), shared_pair, (a); ld.param.b64 {}, [r]; }}", to);
    }
    addresses_.push_back(to);
  }

  void through_memory() {
    const std::string to = writer_.wide();
    const std::string_view space = writer_.any({"local", "local", "shared"});
    const std::string_view name = space == "local" ? "spill" : "shared";
    const std::uint32_t slot = 8 * writer_.pick(4);
    switch (writer_.pick(5)) {
      case 0:
        writer_.line("st.{}.v2.b64 [{}], {{{}, {}}};", space, name, address(), address());
        break;
      case 1: {
        const std::string at = writer_.wide(), scaled = writer_.wide();
        writer_.line("mul.wide.u32 {}, {}, 8; mov.u64 {}, {}; add.s64 {}, {}, {};", scaled, tid_,
                     at, name, at, at, scaled);
        writer_.line("st.{}.b64 [{}], {};", space, at, address());
        break;
      }
      case 2: {
        const std::string low = writer_.word(), high = writer_.word();
        writer_.line("mov.b64 {{{}, {}}}, {};", low, high, address());
        writer_.line("st.{0}.b32 [{1}+{2}], {3}; st.{0}.b32 [{1}+{4}], {5};", space, name, slot,
                     low, slot + 4, high);
        break;
      }
      default:
        writer_.line("st.{}.b64 [{}+{}], {};", space, name, slot, address());
    }
    writer_.line("ld.{}.b64 {}, [{}+{}];", space, to, name, writer_.chance(70) ? slot : 8);
    addresses_.push_back(to);
  }

  void access(const std::string& at) {
    const std::string got = writer_.wide(), place = writer_.wide();
    const std::string more(writer_.any({"", "", "+4", "+64", "+-8"}));
    writer_.line("mad.wide.u32 {}, {}, {}, {};", place, tid_, writer_.any({"4", "8", "0"}), at);
    switch (writer_.pick(7)) {
      case 0:
        writer_.line("st.global.u32 [{}{}], {};", place, more, tid_);
        break;
      case 1:
        writer_.line("st.u32 [{}{}], {};", place, more, tid_);
        break;
      case 2:
        writer_.line("atom.global.add.u64 {}, [{}{}], 1;", got, place, more);
        break;
      case 3:
        writer_.line("prefetch.global.L2 [{}{}];", place, more);
        break;
      case 4:
        writer_.line("st.global.u64 [{}{}], {};", place, more, address());
        break;
      default:
        writer_.line("ld{}.u64 {}, [{}{}];", writer_.any({"", ".global", ".global", ".const"}), got,
                     place, more);
        if (writer_.chance(50)) addresses_.push_back(got);
    }
  }

  void order() {
    const std::string when = writer_.predicate(), label = writer_.label();
    switch (writer_.pick(9)) {
      case 0:
        writer_.line("setp.eq.u32 {}, {}, 0; @{} {};", when, tid_, when,
                     writer_.any({"trap", "exit", "griddepcontrol.wait", "bar.sync 0"}));
        break;
      case 1:
        writer_.line("setp.lt.u32 {}, {}, 8; @{} bra {};", when, tid_, when, label);
        writer_.line("{}; {}:", writer_.any({"griddepcontrol.wait", "bar.sync 0", "trap"}), label);
        break;
      case 2:
        writer_.line("setp.ne.u32 {}, {}, 0; @{} bra {}; griddepcontrol.wait; {}: bar.sync 0;",
                     when, tid_, when, label, label);
        break;
      case 3:
        writer_.line("{};", writer_.any({"barrier.cluster.arrive.aligned",
                                         "barrier.cluster.wait.aligned", "bar.sync 1, 64",
                                         "bar.arrive 2, 64", "barrier.sync 0", "membar.gl"}));
        break;
      default:
        writer_.line("{};", writer_.any({"griddepcontrol.wait", "bar.sync 0", "bar.sync 0",
                                         "griddepcontrol.launch_dependents"}));
    }
  }

  void statement() {
    switch (writer_.pick(8)) {
      case 0:
      case 1:
        return call();
      case 2:
        return through_memory();
      case 3:
      case 4:
        return order();
      case 5:
        addresses_.push_back(given());
        return;
      default:
        return access(address());
    }
  }

  verdicts::KernelWriter writer_;
  std::string tid_;
  std::vector<std::string> addresses_;
  unsigned prototypes_ = 0;
};

}  // namespace

std::string passing_functions() {
  return R"(.global .align 8 .b8 shared_table[256]; .const .align 8 .b8 shared_fixed[64];
.extern .func (.param .b64 r) outside (.param .b64 a);
.func (.param .b64 r) shared_next (.param .b64 a) {
  .reg .b64 %d<4>; ld.param.b64 %d0, [a]; add.s64 %d1, %d0, 16; st.param.b64 [r], %d1; ret; }
.func (.param .b64 r) shared_join (.param .b32 a, .param .b32 b) {
  .reg .b64 %d<4>; .reg .b32 %r<4>; ld.param.b32 %r0, [a]; ld.param.b32 %r1, [b];
  mov.b64 %d0, {%r0, %r1}; st.param.b64 [r], %d0; ret; }
.func shared_add (.param .b64 a, .param .b32 b) {
  .reg .b64 %d<4>; .reg .b32 %r<4>; ld.param.b64 %d0, [a]; ld.param.b32 %r0, [b];
  mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %d0, %d1; ld.global.nc.u32 %r1, [%d2];
  add.u32 %r1, %r1, 1; st.global.u32 [%d2], %r1; ret; }
.func (.param .b64 r) shared_read (.param .b64 a) {
  .reg .b64 %d<4>; ld.param.b64 %d0, [a]; ld.global.nc.b64 %d1, [%d0]; st.param.b64 [r], %d1; ret; }
.func shared_waits (.param .b64 a) {
  .reg .b64 %d<4>; .reg .pred %p<2>; ld.param.b64 %d0, [a]; setp.eq.u64 %p0, %d0, 0;
  @%p0 ret; griddepcontrol.wait; ret; }
.func (.param .b64 r) shared_pair (.param .align 8 .b8 a[16]) {
  .reg .b64 %d<4>; ld.param.b64 %d0, [a]; ld.param.b64 %d1, [a+8]; sub.s64 %d2, %d1, %d0;
  add.s64 %d3, %d0, %d2; st.param.b64 [r], %d3; ret; }
)";
}

std::string passing_kernel(std::uint64_t seed, const std::string& name) {
  const PassingKernel kernel(seed);
  return fmt::format(
      ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3,\n"
      ".param .u64 p4, .param .align 8 .b8 p5[24]) {{\n"
      ".shared .align 16 .b8 shared[64]; .local .align 16 .b8 spill[64];\n{}{}}}\n",
      name, kernel.declarations(), kernel.text());
}

}  // namespace baton::record
