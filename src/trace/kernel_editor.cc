#include "trace/kernel_editor.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "image/trace_parameter.h"
#include "ptx/flat.h"
#include "ptx/lexer.h"
#include "trace/block_record.h"
#include "trace/kernel_events.h"

namespace baton::trace {
namespace {

using ptx::Instruction;
using ptx::TextEdit;

// The address of the block's record in %baton_trace_a; %baton_trace_p: whether there is one.
constexpr std::string_view kRecordAddress =
    "ld.param.u64 %baton_trace_a, [{parameter}]; "
    "setp.ne{also}.u64 %baton_trace_p, %baton_trace_a, 0{predicate}; "
    "mov.u32 %baton_trace_r, %ctaid.z; mov.u32 %baton_trace_q, %nctaid.y; "
    "mov.u32 %baton_trace_s, %ctaid.y; "
    "mad.lo.u32 %baton_trace_r, %baton_trace_r, %baton_trace_q, %baton_trace_s; "
    "mov.u32 %baton_trace_q, %nctaid.x; mov.u32 %baton_trace_s, %ctaid.x; "
    "mad.lo.u32 %baton_trace_r, %baton_trace_r, %baton_trace_q, %baton_trace_s; "
    "mad.wide.u32 %baton_trace_a, %baton_trace_r, {size}, %baton_trace_a; ";

constexpr std::string_view kRegisters =
    "{ .reg .pred %baton_trace_p; .reg .b32 %baton_trace_r, %baton_trace_q, %baton_trace_s; "
    ".reg .b64 %baton_trace_a, %baton_trace_t, %baton_trace_c; ";

// `chosen`: %baton_trace_p already says which thread writes.
std::string record_address() {
  return fmt::format(kRecordAddress, fmt::arg("parameter", image::kTraceParameter),
                     fmt::arg("also", ".and"), fmt::arg("predicate", ", %baton_trace_p"),
                     fmt::arg("size", sizeof(BlockRecord)));
}

std::string entry_record() {
  return fmt::format(
      "{}mov.u64 %baton_trace_t, %globaltimer; mov.u64 %baton_trace_c, %clock64; "
      "mov.u32 %baton_trace_r, %tid.x; mov.u32 %baton_trace_q, %tid.y; "
      "mov.u32 %baton_trace_s, %tid.z; "
      "or.b32 %baton_trace_r, %baton_trace_r, %baton_trace_q; "
      "or.b32 %baton_trace_r, %baton_trace_r, %baton_trace_s; "
      "setp.eq.u32 %baton_trace_p, %baton_trace_r, 0; {}"
      "@%baton_trace_p st.global.v2.u64 [%baton_trace_a+{}], {{%baton_trace_t, %baton_trace_c}}; "
      "mov.u32 %baton_trace_r, %smid; cvt.u64.u32 %baton_trace_c, %baton_trace_r; "
      "add.u64 %baton_trace_c, %baton_trace_c, 1; "
      "@%baton_trace_p st.global.u64 [%baton_trace_a+{}], %baton_trace_c; }} ",
      kRegisters, record_address(), offsetof(BlockRecord, entry_time),
      offsetof(BlockRecord, place));
}

// One lane of those that come here together takes the maximum of the clock and what others noted.
std::string event_record(std::size_t clock) {
  std::string text(kRegisters);
  text += "mov.u64 %baton_trace_c, %clock64; ";
  text +=
      "activemask.b32 %baton_trace_r; mov.u32 %baton_trace_q, %lanemask_lt; "
      "and.b32 %baton_trace_r, %baton_trace_r, %baton_trace_q; "
      "setp.eq.u32 %baton_trace_p, %baton_trace_r, 0; ";
  text += record_address();
  text += fmt::format("@%baton_trace_p red.global.max.u64 [%baton_trace_a+{}], %baton_trace_c; ",
                      clock);
  return text + "} ";
}

class KernelEditor {
 public:
  KernelEditor(const ptx::ParsedModule& module, const ptx::Function& kernel)
      : module_(module), kernel_(kernel) {
    const ptx::FlatFunction body(kernel);
    bool waits = false, triggers = false;
    for (const ptx::FlatInstruction& flat : body.instructions()) {
      waits |= is_wait(*flat.instruction);
      triggers |= is_trigger(*flat.instruction);
    }
    add_parameter();
    std::string top = " ";
    // A thread waits and triggers when it first does. What comes again in a loop is passed.
    if (waits) top += declared("waited");
    if (triggers) top += declared("triggered");
    insert(ptx::top_of(module, kernel), top + entry_record());
    for (const ptx::FlatInstruction& flat : body.instructions()) edit(*flat.instruction);
    if (runs_off(kernel.body())) {
      const std::string_view text = kernel.body_text();
      insert(ptx::offset_of(module, text) + text.size() - 1, exit_record());
    }
  }

  std::vector<TextEdit> edits;

 private:
  static std::string declared(std::string_view name) {
    return fmt::format(".reg .pred %{0}_{1}; setp.ne.u32 %{0}_{1}, 0, 0; ", kInsertedPrefix, name);
  }

  static std::string exit_record() {
    return event_record(offsetof(BlockRecord, exit_clock));
  }

  void insert(std::size_t at, std::string text) { edits.push_back({at, 0, std::move(text)}); }

  void add_parameter() {
    const std::string parameter = fmt::format(".param .u64 {}", image::kTraceParameter);
    const std::size_t name = ptx::offset_of(module_, kernel_.name) + kernel_.name.size();
    const std::size_t body = ptx::offset_of(module_, kernel_.body_text());
    const std::string_view head = std::string_view(module_.text()).substr(name, body - name);
    ptx::Lexer lexer(module_.text(), module_.name(), head, kernel_.position);
    std::size_t depth = 0;
    for (ptx::Token token = lexer.next(); token.kind != ptx::TokenKind::kEnd;
         token = lexer.next()) {
      if (token.is('(')) ++depth;
      if (!token.is(')') || --depth != 0) continue;
      return insert(ptx::offset_of(module_, token.text),
                    kernel_.params.empty() ? parameter : ", " + parameter);
    }
    insert(name, fmt::format("({})", parameter));
  }

  void edit(const Instruction& i) {
    if (is_wait(i)) {
      once(i, "waited", event_record(offsetof(BlockRecord, wait_begin_clock)),
           event_record(offsetof(BlockRecord, wait_end_clock)));
    } else if (is_trigger(i)) {
      once(i, "triggered", "", event_record(offsetof(BlockRecord, trigger_clock)));
    } else if (is_end(i)) {
      const std::string skip = skipped(i);
      insert(ptx::begin_of(module_, i), guard_of(i, skip) + exit_record());
      if (!skip.empty()) insert(end_of(i), fmt::format(" {}: ", skip));
    }
  }

  // Around an instruction whose first execution by a thread counts.
  void once(const Instruction& i, std::string_view done, const std::string& before,
            const std::string& after) {
    const std::string skip = skipped(i);
    const std::string predicate = fmt::format("%{}_{}", kInsertedPrefix, done);
    const auto unless_done = [&](const std::string& record, std::string_view more) {
      const std::string label = new_label();
      return fmt::format("@{0} bra {1}; {2}{3}{1}: ", predicate, label, record, more);
    };
    std::string first = guard_of(i, skip);
    if (!before.empty()) first += unless_done(before, "");
    insert(ptx::begin_of(module_, i), std::move(first));
    std::string last = " " + unless_done(after, fmt::format("setp.eq.u32 {}, 0, 0; ", predicate));
    if (!skip.empty()) last += fmt::format("{}: ", skip);
    insert(end_of(i), std::move(last));
  }

  // The label after a guarded instruction; empty without a guard.
  std::string skipped(const Instruction& i) { return i.guard.empty() ? "" : new_label(); }
  static std::string guard_of(const Instruction& i, const std::string& skip) {
    if (skip.empty()) return "";
    return fmt::format("@{}{} bra {}; ", i.guard_negated ? "" : "!", i.guard, skip);
  }
  std::string new_label() { return fmt::format("${}_{}", kInsertedPrefix, labels_++); }

  // After the semicolon. None of these instructions has an operand with one.
  std::size_t end_of(const Instruction& i) const {
    const std::size_t begin = ptx::offset_of(module_, i.opcode);
    const std::size_t body = ptx::offset_of(module_, kernel_.body_text());
    const std::string_view rest =
        std::string_view(module_.text()).substr(begin, body + kernel_.body_text().size() - begin);
    ptx::Lexer lexer(module_.text(), module_.name(), rest, i.position);
    ptx::Token token = lexer.next();
    while (!token.is(';')) {
      if (token.kind == ptx::TokenKind::kEnd) lexer.fail(i.position, "the instruction has no end");
      token = lexer.next();
    }
    return ptx::offset_of(module_, token.text) + 1;
  }

  // Whether a thread may come to the end of the block without an instruction that ends it.
  static bool runs_off(const ptx::Block& block) {
    if (block.statements.empty()) return true;
    const auto& last = block.statements.back().node;
    if (const auto* inner = std::get_if<ptx::Block>(&last)) return runs_off(*inner);
    const auto* i = std::get_if<Instruction>(&last);
    if (i == nullptr || !i->guard.empty()) return true;
    return !is_end(*i) && i->opcode != "bra" && i->opcode != "brx" && i->opcode != "trap";
  }

  const ptx::ParsedModule& module_;
  const ptx::Function& kernel_;
  std::size_t labels_ = 0;
};

}  // namespace

std::vector<TextEdit> edits_of(const ptx::ParsedModule& module, const ptx::Function& kernel) {
  return std::move(KernelEditor(module, kernel).edits);
}

}  // namespace baton::trace
