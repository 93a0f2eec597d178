#include "compile/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/file/file.h"
#include "base/log.h"
#include "compile/advice.h"
#include "compile/entries.h"
#include "compile/nvrtc/hints.h"
#include "compile/source/host_code.h"
#include "compile/source/words.h"

namespace baton::compiler {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{64} << 20;
// So often host code is hidden, each time with what the last compile complained of.
constexpr int kMaxRounds = 16;

// A value for a parameter of a template; its name where the type tells none.
std::string_view example_argument(std::string_view parameter) {
  constexpr std::string_view kIntegers[] = {"int",     "unsigned", "size_t",  "std::size_t",
                                            "long",    "short",    "int32_t", "uint32_t",
                                            "int64_t", "uint64_t", "auto"};
  const std::string_view type = parameter.substr(0, parameter.find_first_of(" \t\n."));
  if (type == "typename" || type == "class") return "float";
  if (type == "bool") return "true";
  if (std::ranges::find(kIntegers, type) != std::end(kIntegers)) return "4";
  return parameter.substr(parameter.find_last_of(" \t\n.&*") + 1);
}

// "stencil<4, float>": arguments up to the first one that has a default.
std::string example_of(const KernelTemplate& kernel) {
  std::string arguments;
  for (const std::string_view parameter : kernel.parameters) {
    if (parameter.find('=') != std::string_view::npos) break;
    arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", example_argument(parameter));
  }
  return fmt::format("{}<{}>", kernel.name, arguments);
}

// Errors about entries are settled when the source compiles.
bool is_about_source(const Diagnostic& diagnostic) {
  return is_error(diagnostic) && !is_about_entry(diagnostic);
}

std::ptrdiff_t count_of_errors(const Attempt& failed) {
  return std::count_if(failed.diagnostics.begin(), failed.diagnostics.end(), is_about_source);
}

bool needs_other_source(const Attempt& attempt) {
  return attempt.result == Nvrtc::kCompilation && count_of_errors(attempt) > 0;
}

class Compiler {
 public:
  Compiler(const Nvrtc& nvrtc, const Request& request, const PathTable& paths)
      : nvrtc_(nvrtc), request_(request), paths_(paths) {}

  Compilation run() {
    Setup setup;
    setup.host = request_.scan.mentions_launch;
    setup.standard = !request_.scan.opens_std;
    if (setup.host && keeps_all_functions()) {
      setup.hides = true;
      read_files();
      hidden_.make_host_functions_inline(request_.parsed.is_relocatable);
      hidden_.next_round();
    }
    Attempt made = attempt_with(setup, request_.options.entries);
    if (needs_other_source(made)) made = without_marks(std::move(made), setup);
    if (needs_other_source(made)) made = improved(std::move(made), setup);
    // In a file without host code whatever is wrong is the author's to mend, but for C's literals.
    const bool may_be_read =
        setup.host ||
        std::any_of(made.diagnostics.begin(), made.diagnostics.end(), [](const auto& each) {
          return is_error(each) && each.message == "expected an expression";
        });
    if (needs_other_source(made) && may_be_read) made = with_hidden_code(std::move(made), setup);
    if (made.result == Nvrtc::kCompilation) made = without_unknown_entries(std::move(made), setup);
    if (!made.succeeded()) throw_failure(made);
    if (!request_.is_for_link) refuse_templates_alone(made, setup);
    return {std::move(made), std::move(hidden_)};
  }

 private:
  // -G keeps what nothing calls, as if a debugger might; and another file may call what is
  // relocatable.
  bool keeps_all_functions() const {
    return request_.parsed.has_debug || request_.parsed.is_relocatable;
  }

  // The sources that host code may be hidden in.
  void read_files() {
    if (has_files_) return;
    has_files_ = true;
    hidden_.add_file(paths_.encode(request_.program_name), request_.program_name,
                     request_.text.substr(request_.source_at));
    std::map<std::filesystem::path, int> names_of;
    for (const auto& [name, paths] : request_.scan.paths_of) {
      for (const std::filesystem::path& path : paths) ++names_of[path];
    }
    bool knows_macros =
        request_.text.substr(0, request_.source_at).find("return") == std::string::npos;
    for (const std::string& option : request_.parsed.others) {
      knows_macros = knows_macros && option.find("return") == std::string::npos;
    }
    for (const auto& [name, paths] : request_.scan.paths_of) {
      // What comes from memory is found by its name alone.
      if (paths.size() != 1 || name.starts_with('/')) continue;
      const std::string path = paths.begin()->string();
      if (const auto known = header_of_.find(path); known == header_of_.end()) {
        try {
          hidden_.add_file(paths_.encode(path), path, read_file(path, kMaxHeaderBytes));
        } catch (const Error&) {
          continue;
        }
        header_of_.emplace(path, names_of[path] > 1);
      }
      headers_.emplace_back(name, path);
    }
    knows_macros =
        knows_macros && request_.scan.obstacle.empty() && header_of_.size() == names_of.size();
    if (!knows_macros) hidden_.keep_statement_expressions();
  }

  ProgramInput input(const Setup& setup, const std::vector<std::string>& entries) const {
    ProgramInput out;
    out.name = request_.program_name;
    out.arguments = compiler_arguments(request_, setup);
    out.entries = entries;
    for (const EmbeddedHeader& header : request_.headers) {
      std::string text = header.text;
      if (header.name == kHostStdHeader) {
        for (const std::string& name : setup.withheld) {
          replace_word(text, name, "baton_withheld_" + name);
        }
      }
      out.headers.emplace_back(header.name, std::move(text));
    }
    out.text = request_.text;
    if (setup.hides) {
      out.text.replace(request_.source_at, std::string::npos, hidden_.text(request_.program_name));
      const bool any_header = std::any_of(headers_.begin(), headers_.end(), [&](const auto& each) {
        return hidden_.is_changed(each.second);
      });
      // One from memory finds others by their names alone, so all come from there, or none.
      for (const auto& [name, path] : headers_) {
        if (any_header) out.headers.emplace_back(name, header_text(path));
      }
    }
    if (setup.no_thrust) {
      for (const IncludedFile& file : request_.scan.files) {
        if (auto text = without_host_library(file.name, setup)) {
          out.headers.emplace_back(file.name, std::move(*text));
        }
      }
    }
    return out;
  }

  // A header from memory has no place, so it is told; and NVRTC tells such headers apart by name.
  std::string header_text(const std::string& path) const {
    const std::string text =
        fmt::format("#line 1 \"{}\"\n{}\n", path, with_full_names(path, hidden_.text(path)));
    if (!header_of_.at(path)) return text;
    const auto number = std::distance(header_of_.begin(), header_of_.find(path));
    if (text.find("#pragma once") == std::string::npos) return text;
    return fmt::format("#ifndef BATON_HEADER_{0}\n#define BATON_HEADER_{0}\n{1}#endif\n", number,
                       text);
  }

  // Names that mean several files mean those beside the header: they are written in full.
  std::string with_full_names(const std::filesystem::path& path, std::string text) const {
    for (const auto& [name, paths] : request_.scan.paths_of) {
      if (paths.size() == 1) continue;
      const std::filesystem::path beside = (path.parent_path() / name).lexically_normal();
      if (paths.count(beside) == 0) continue;
      const std::string quoted = fmt::format("\"{}\"", name);
      for (std::size_t at = 0; (at = text.find(quoted, at)) != std::string::npos; ++at) {
        const std::size_t line = text.rfind('\n', at) + 1;
        const std::string_view before = std::string_view(text).substr(line, at - line);
        if (!contains_word(before, "include")) continue;
        text.replace(at, quoted.size(), fmt::format("\"{}\"", beside.string()));
      }
    }
    return text;
  }

  Attempt attempt_with(const Setup& setup, const std::vector<std::string>& entries) const {
    return attempt(nvrtc_, input(setup, entries), paths_);
  }

  // Whether a compile that a kernel's author did not ask for is what he means: it must not make
  // calls of the host out of what was an error.
  bool is_sound(const Attempt& made) const {
    // What another file is to define is missed where the files are linked.
    if (made.succeeded() && request_.parsed.is_relocatable) {
      return made.ptx.find(kHiddenFunction) == std::string::npos;
    }
    if (made.succeeded()) return !calls_the_host(made.ptx);
    return std::none_of(made.diagnostics.begin(), made.diagnostics.end(),
                        [](const auto& each) { return says(each, "Unresolved extern function"); });
  }

  // Follows the errors' advice for as long as there is some. Gives the best attempt, and leaves its
  // setup in `setup`.
  Attempt improved(Attempt best, Setup& setup) const {
    Setup next = setup;
    Attempt latest = best;
    for (;;) {
      Setup advice = advised(request_, latest, next);
      // The source's own namespace std may be for other compilers than this one.
      if (advice == next && !next.standard) advice.standard = true;
      if (advice == next) return best;
      next = advice;
      latest = attempt_with(next, request_.options.entries);
      if (!is_sound(latest)) continue;
      const bool is_done = !needs_other_source(latest);
      if (is_done || count_of_errors(latest) <= count_of_errors(best)) {
        best = latest;
        setup = next;
      }
      if (is_done) return best;
    }
  }

  // Included files without the byte order marks that the compiler does not read.
  Attempt without_marks(Attempt failed, Setup& setup) {
    const auto& files = request_.scan.files;
    const bool has_marks = std::any_of(files.begin(), files.end(),
                                       [](const auto& each) { return each.begins_with_mark; });
    const bool is_about_marks =
        std::any_of(failed.diagnostics.begin(), failed.diagnostics.end(),
                    [](const Diagnostic& each) { return says(each, "unrecognized token"); });
    if (!has_marks || !is_about_marks) return failed;
    read_files();
    hidden_.blank_byte_order_marks();
    hidden_.next_round();
    setup.hides = true;
    return attempt_with(setup, request_.options.entries);
  }

  // Hides the host code that the errors are about, until it compiles or something else is wrong.
  // Gives `failed` back where that does not work, without the errors about what may be hidden.
  Attempt with_hidden_code(Attempt failed, Setup& setup) {
    read_files();
    Setup hiding = setup;
    hiding.hides = true;
    if (setup.host && keeps_all_functions()) {
      hidden_.make_host_functions_inline(request_.parsed.is_relocatable);
    }
    hidden_.next_round();
    Attempt latest = failed;
    if (!(hiding == setup)) latest = attempt_with(hiding, request_.options.entries);
    for (int round = 0; round < kMaxRounds && needs_other_source(latest); ++round) {
      std::vector<Diagnostic> others;
      for (const Diagnostic& each : latest.diagnostics) {
        if (is_about_source(each) && !hidden_.hide(each)) others.push_back(each);
      }
      if (!others.empty()) {
        const Setup advice = advised(request_, latest, hiding);
        if (advice == hiding) {
          if (round == 0) failed.diagnostics = std::move(others);
          return failed;
        }
        hiding = advice;
      }
      hidden_.next_round();
      latest = attempt_with(hiding, request_.options.entries);
    }
    const bool is_made = latest.succeeded() ||
                         (latest.result == Nvrtc::kCompilation && count_of_errors(latest) == 0);
    if (!is_made || !is_sound(latest)) return failed;
    log(LogLevel::kInfo, "{}: {} parts of host code are hidden from NVRTC", request_.source.name,
        hidden_.size());
    setup = hiding;
    return latest;
  }

  Attempt without_unknown_entries(Attempt failed, const Setup& setup) const {
    const std::vector<std::string>& entries = request_.options.entries;
    const std::unordered_set<std::string_view> unknown = unknown_entries(failed, entries);
    if (unknown.empty()) return failed;
    std::vector<std::string> others;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(others),
                 [&](const std::string& entry) { return !unknown.contains(entry); });
    Attempt made = attempt_with(setup, others);
    if (made.succeeded() && !request_.is_for_link) find_in_image(request_, unknown, failed, made);
    return made;
  }

  // A source of nothing but templates gives no kernel unless entries name some. The text proposes
  // names; that they are such templates is what the compiler says.
  void refuse_templates_alone(const Attempt& made, const Setup& setup) const {
    if (!request_.options.entries.empty() || made.ptx.find(".entry ") != std::string::npos) return;
    const std::vector<KernelTemplate> proposed =
        Outline(std::string_view(request_.text).substr(request_.source_at)).kernel_templates();
    if (proposed.empty()) return;
    std::vector<std::string> names;
    for (const KernelTemplate& each : proposed) names.push_back(each.name);
    const std::vector<std::string> templates = templates_among(attempt_with(setup, names), names);
    if (templates.empty()) return;
    const auto first = std::ranges::find(proposed, templates[0], &KernelTemplate::name);
    throw error(ErrorCode::kInvalidInput,
                "{}: {} {} a template, and nothing says for which arguments; name an entry, "
                "as '{}'",
                request_.source.name, fmt::join(templates, ", "),
                templates.size() == 1 ? "is" : "are each", example_of(*first));
  }

  [[noreturn]] void throw_failure(Attempt& failed) const {
    // What is wrong with the user's own text comes first: CUDA's headers are right.
    std::vector<Diagnostic>& all = failed.diagnostics;
    const auto is_own = [](const Diagnostic& each) {
      return is_error(each) && !PathTable::is_cuda(each.where.file);
    };
    if (std::any_of(all.begin(), all.end(), is_own)) {
      std::erase_if(all, [&](const Diagnostic& each) { return is_error(each) && !is_own(each); });
    }
    for (Diagnostic& diagnostic : all) {
      diagnostic.where.file = paths_.decode(diagnostic.where.file);
      diagnostic.message = paths_.decode(diagnostic.message);
      for (std::string& detail : diagnostic.details) detail = paths_.decode(detail);
    }
    if (failed.result == Nvrtc::kInvalidOption) {
      Error out = error(ErrorCode::kInvalidInput, "{}: NVRTC rejects the compile options",
                        request_.source.name);
      for (const Diagnostic& diagnostic : all) out.note(diagnostic.to_string());
      for (std::string& hint : hints_for(all, request_)) out.note(std::move(hint));
      throw out;
    }
    if (failed.result != Nvrtc::kCompilation) nvrtc_.check(failed.result, "nvrtcCompileProgram");
    Error out = compile_error(all, request_.source.name, failed.log);
    for (std::string& hint : hints_for(all, request_)) out.note(std::move(hint));
    throw out;
  }

  const Nvrtc& nvrtc_;
  const Request& request_;
  const PathTable& paths_;
  HiddenCode hidden_;
  bool has_files_ = false;
  std::vector<std::pair<std::string, std::string>> headers_;  // name in an #include → path
  std::map<std::string, bool> header_of_;  // path → whether several names mean it
};

}  // namespace

Compilation compile_source(const Nvrtc& nvrtc, const Request& request, const PathTable& paths) {
  return Compiler(nvrtc, request, paths).run();
}

}  // namespace baton::compiler
