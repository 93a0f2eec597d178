#pragma once

// The syntax tree of a PTX module (PTX ISA 9.0, "Syntax", "Directives"). The tree keeps everything
// that was written: unknown instructions and modifiers are kept as text, so a printer can
// give them back and only whoever executes one has to refuse it.
//
// Every string_view points into storage that the ParsedModule owns (the text itself, or strings
// interned later), so a tree lives as long as its ParsedModule. A ParsedModule is immutable once
// parsed, but for function bodies, which are parsed at the first call of `body()`; that first call
// is thread-safe.

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "baton/forward.h"

namespace baton::ptx {

// A place in the PTX text; both count from 1, columns in bytes.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

enum class StateSpace : std::uint8_t {
  kNone,
  kReg,
  kConst,
  kGlobal,
  kLocal,
  kParam,
  kShared,
  kTex
};

struct InstructionOperand {
  enum class Kind : std::uint8_t {
    kIdentifier,  // register, special register with its member (%tid.x), symbol, label, or "_";
                  // with `offset` where "symbol+4" was written
    kInteger,     // `bits`, two's complement; `text` as written: a literal, WARP_SZ or a constant
                  // expression, evaluated
    kFloat,       // `bits` of a double, or of a float where it was written 0f…; `text` as written
    kString,      // a quoted string, in `text` without its quotes (initialisers, pragmas)
    kAddress,     // [children[0] + offset], and further children as in [map, {x, y}]; children[0]
                  // is an identifier or an integer and carries no offset of its own
    kVector,      // {children…}
    kGroup,       // (children…): the parameter lists of a call
    kPair,        // children[0]|children[1]: two destinations
    kCall,        // text(children…) + offset in initialisers: "generic(symbol)", or the mask of a
                  // byte, "0xFF00(symbol)", whose `bits` are the mask
    kField,       // text = children[0]: "filter_mode = nearest" of a samplerref
  };

  Kind kind = Kind::kIdentifier;
  bool negated = false;    // "!p", or "-x" before an identifier
  bool is_minus = false;   // what negates was written "-"
  bool is_single = false;  // kFloat written 0f…: `bits` holds 32 bits
  std::string_view text;   // the name, or the literal as written
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::vector<InstructionOperand> children;
  Position position;
};

struct Instruction {
  Position position;
  std::string_view guard;  // predicate register of @p or @!p; empty where there is none
  bool guard_negated = false;
  std::string_view opcode;                  // "ld"
  std::vector<std::string_view> modifiers;  // "global", "v4", "f32", "L2::128B": without the dots
  std::vector<InstructionOperand> operands;

  bool has(std::string_view modifier) const {
    for (std::string_view m : modifiers) {
      if (m == modifier) return true;
    }
    return false;
  }
};

struct Label {
  Position position;
  std::string_view name;
};

// .loc file line column [, function_name label [+ offset], inlined_at file line column]: names the
// source line of the instructions that follow.
struct Loc {
  Position position;
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  struct Inlined {
    std::string_view function_label;
    std::int64_t offset = 0;
    std::uint32_t file = 0;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };
  std::optional<Inlined> inlined;
};

// A declaration in any state space: register, parameter, shared, local, constant or global.
struct Variable {
  Position position;
  std::string_view linkage;  // "visible", "extern", "weak", "common" or empty
  StateSpace space = StateSpace::kNone;
  std::string_view type;    // "u32", "b8", "pred", "texref": without the dot
  std::uint8_t vector = 1;  // 2, 4, 8 for .v2 .v4 .v8
  std::uint32_t align = 0;  // 0: the type's natural alignment
  std::string_view name;    // empty for the unnamed parameter of a prototype, written "_"
  std::uint32_t range = 0;  // N of %r<N>: declares name0 … name(N-1); 0 otherwise
  // [4][8]; an extent of -1 stands for the empty brackets of "[]".
  std::vector<std::int64_t> extents;
  std::vector<InstructionOperand>
      initialiser;  // empty, or one operand: a literal, a symbol or a nested kVector
  // ".ptr .global .align 16" of a kernel parameter.
  bool is_pointer = false;
  StateSpace pointer_space = StateSpace::kNone;  // kNone: generic
  std::uint32_t pointer_align = 0;
  std::vector<std::string_view> attributes;  // "managed", "unified(…)" inside .attribute(…)
};

// A directive between a function's parameters and its body: maxntid 256, 1, 1.
struct FunctionDirective {
  std::string_view name;  // without the dot: "maxntid", "reqntid", "minnctapersm", "noreturn", …
  std::vector<InstructionOperand> operands;
};

// label: .callprototype (ret) _ (params) directives;
struct CallPrototype {
  Position position;
  std::string_view name;
  std::vector<Variable> results;
  std::vector<Variable> params;
  bool no_return = false;                     // .noreturn is among the directives
  std::vector<FunctionDirective> directives;  // all of them
};

// label: .branchtargets L1, L2;  and  label: .calltargets f, g;
struct TargetList {
  Position position;
  std::string_view name;
  bool calls = false;
  std::vector<std::string_view> targets;
};

// Any other directive, kept as written: .pragma "nounroll"; .alias f, g; …
struct Directive {
  Position position;
  std::string_view name;  // without the dot
  std::vector<InstructionOperand> operands;
};

struct Statement;

// { … }: names declared inside hide those outside.
struct Block {
  Position position;
  std::vector<Statement> statements;
};

struct Statement {
  std::variant<Instruction, Label, Loc, Variable, CallPrototype, TargetList, Directive, Block> node;
};

class ParsedModule;

class Function {
 public:
  Position position;
  bool is_entry = false;
  std::string_view linkage;  // "visible", "extern", "weak" or empty
  std::string_view name;
  std::vector<Variable> results;
  std::vector<Variable> params;
  std::vector<FunctionDirective> directives;
  std::vector<std::string_view> attributes;  // "unified(…)" inside .attribute(…)
  bool has_body = false;

  // The directive of that name, or null.
  const FunctionDirective* directive(std::string_view directive_name) const;
  // Its integer operands, with `missing` for those left out, as in ".maxntid 128".
  std::optional<std::vector<std::int64_t>> integers(std::string_view directive_name,
                                                    std::size_t count = 0,
                                                    std::int64_t missing = 1) const;

  // The parsed body. Parses at the first call; throws Error(kInvalidInput) with the place in the
  // text where it does not parse, each time it is called. Thread-safe.
  const Block& body() const;
  // Error(kInvalidInput) at a place of the function's module, with that line as a note.
  Error error(Position at, const std::string& message) const;
  // The body as written, braces included; empty where there is none.
  std::string_view body_text() const { return body_text_; }

 private:
  friend class Parser;
  friend class ParsedModule;
  const ParsedModule* module_ = nullptr;
  std::string_view body_text_;
  Position body_position_;
  struct Lazy;
  std::shared_ptr<Lazy> lazy_;
};

// .file index "name" [, timestamp, size]
struct FileEntry {
  std::uint32_t index = 0;
  std::string_view name;
  std::vector<InstructionOperand> extra;
};

// .section .debug_… { … }: kept as text.
struct Section {
  std::string_view name;  // with its dot: ".debug_info"
  std::string_view text;  // braces included
};

using TopLevel = std::variant<Variable, Function, FileEntry, Section, Directive>;

class ParsedModule {
 public:
  // Parses a module, or gives the one that was last parsed from an equal text, where that has the
  // same name and is still alive. `name` is what messages call it: a path, or "<ptx of norm.cu>".
  // One module a text: anything after the first NUL is refused unless it is the trailing NUL that
  // compilers count. Throws Error(kInvalidInput) at name:line:column. Function bodies are only
  // delimited here. Thread-safe.
  static std::shared_ptr<const ParsedModule> parse(std::string text, std::string name);

  // The same for a text that crosses an interface as bytes, without its name: the live module has
  // the name that it was parsed with, and a new one gets `name`.
  static std::shared_ptr<const ParsedModule> of(std::string text, std::string name);

  ParsedModule(const ParsedModule&) = delete;
  ParsedModule& operator=(const ParsedModule&) = delete;
  ~ParsedModule();

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  int version_major() const { return version_major_; }
  int version_minor() const { return version_minor_; }
  // The first of .target: "sm_90a"; the others ("debug", "texmode_independent") follow in
  // `targets`.
  std::string_view target() const { return targets_.empty() ? std::string_view() : targets_[0]; }
  const std::vector<std::string_view>& targets() const { return targets_; }
  int address_size() const { return address_size_; }
  const std::deque<TopLevel>& items() const { return items_; }

  // The function or variable of that name, or null; of a function that is declared and defined, the
  // definition. Constant time.
  const Function* function(std::string_view function_name) const;
  const Variable* variable(std::string_view variable_name) const;
  // All entries in the order written.
  std::vector<const Function*> entries() const;
  // Error(kInvalidInput) at a place in the text, with that line as a note.
  Error error(Position at, const std::string& message) const;
  // The source file of a .loc index, or empty.
  std::string_view file(std::uint32_t index) const;

 private:
  friend class Parser;
  ParsedModule() = default;

  std::string name_;
  std::string text_;
  int version_major_ = 0;
  int version_minor_ = 0;
  std::vector<std::string_view> targets_;
  int address_size_ = 64;
  std::deque<TopLevel> items_;
  struct Index;
  std::unique_ptr<Index> index_;
};

}  // namespace baton::ptx
