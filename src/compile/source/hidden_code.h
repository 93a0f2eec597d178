#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compile/nvrtc/diagnostics.h"
#include "compile/source/macros.h"
#include "compile/source/outline.h"
#include "compile/source/statement_expression.h"

namespace baton::compiler {

// Host code that the device compiler cannot read, hidden from it: where it reports an error within
// a host function, the statement goes, then the body; a declaration for hosts goes as a whole.
// Lines stay where they are.
//
// Nothing that a kernel uses can change its meaning by it. What goes from a body is replaced by a
// call of a function that does not exist, a body by nothing, a declaration by nothing at all: where
// a kernel comes to need it the compile fails. What is marked for the device stays as it is.
class HiddenCode {
 public:
  // A file by the name that diagnostics give it, and by the one that the compiler's notes do.
  void add_file(std::string name, std::string compilers_name, std::string text);

  // Hides what the error is about. False where that may not be hidden, or was already.
  bool hide(const Diagnostic& error);
  // Writes the files for the next compile. What fails again and again is hidden in larger parts.
  void next_round();
  // Byte order marks become blanks: the compiler reads none.
  void blank_byte_order_marks();
  // GNU's statement expressions stay as they are: a macro that is not in the files may return.
  void keep_statement_expressions() { keeps_statement_expressions_ = true; }
  // Makes every function that has no mark of the device `inline`: the compiler then drops those
  // that no kernel calls, also where it keeps all code for debuggers. Those marked for both stay
  // where other files may call them.
  void make_host_functions_inline(bool keeps_marked);

  // Whether something in the declaration at this place is hidden.
  bool touches(const SourceLocation& place) const;
  // Whether the file is another than it was.
  bool is_changed(std::string_view name) const;
  // The file as the compiler is to read it.
  const std::string& text(std::string_view name) const;
  // How many parts are hidden.
  std::size_t size() const;

 private:
  // How a range appears: as blanks, as a call that cannot be linked, as ";", or with text in front.
  struct Edit {
    enum class Kind { kBlank, kCall, kEnd, kInsert };
    TextRange range;
    Kind kind = Kind::kBlank;
    std::uint32_t round = 0;
    std::string_view inserted = {};
  };
  struct File {
    explicit File(std::string all) : source(std::move(all)), outline(source) {}
    std::string source;
    Outline outline;
    std::vector<Edit> edits;
    // A function's beginning → the rounds in which a part of it was hidden.
    std::map<std::size_t, std::vector<std::uint32_t>> rounds;
    // The text as it was written last, and where its parts come from: offsets in it and in the
    // source.
    std::string out;
    std::vector<std::pair<std::size_t, std::size_t>> origins;
  };

  // False where an earlier round hid it already: that did not help.
  bool add(File& file, const TextRange& range, Edit::Kind kind) const;
  bool insert(File& file, const Insertion& insertion) const;
  bool add(File& file, const Edit& edit) const;
  static void write(File& file);
  static void write_hidden(File& file, const Edit& edit);
  static std::size_t place_of(const File& file, int line, int column);
  bool hide_at(File& file, std::size_t place, std::string_view message);
  bool hide_in_function(File& file, const Declaration& function, std::size_t place,
                        std::string_view message);
  bool hide_class(File& file, const Declaration& outermost) const;
  bool hide_in_macros(File& file, std::size_t place, std::string_view message);
  bool make_lambdas(File& file, std::size_t place);
  // Visits the definitions of the macros in a text, in all files, and of those that they name.
  using VisitMacro =
      std::function<void(File&, std::size_t body, std::string_view text, const MacroDefinition&)>;
  void visit_macros(std::string_view use, const VisitMacro& visit) const;

  File* find(std::string_view name) const;

  std::map<std::string, std::unique_ptr<File>, std::less<>> files_;
  std::map<std::string, std::string, std::less<>> names_;  // the compiler's → the diagnostics'
  std::uint32_t round_ = 0;
  bool keeps_statement_expressions_ = false;
};

}  // namespace baton::compiler
