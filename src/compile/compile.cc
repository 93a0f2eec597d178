#include "baton/compile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "compile/cache/cache.h"
#include "compile/cache/cache_key.h"
#include "compile/cache/path_table.h"
#include "compile/nvrtc/diagnostics.h"
#include "compile/nvrtc/hints.h"
#include "compile/nvrtc/line_table.h"
#include "compile/nvrtc/nvrtc.h"
#include "compile/nvrtc/ptxas_report.h"
#include "compile/request.h"
#include "compile/source/host_code.h"
#include "image/cubin.h"
#include "image/kernel_index.h"

namespace baton {

using compiler::Cache;
using compiler::Diagnostic;
using compiler::Nvrtc;
using compiler::PathTable;
using compiler::Request;
using compiler::Result;

Source Source::from_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kMaxSourceBytes = std::uint64_t{64} << 20;
  Source source = from_text(read_file(path, kMaxSourceBytes), path.string());
  source.directory = std::filesystem::absolute(path).parent_path();
  return source;
}

Source Source::from_text(std::string text, std::string name) {
  if (trim(text).empty()) {
    throw error(ErrorCode::kInvalidInput, "{} is blank: it holds no CUDA source", name);
  }
  Source source;
  source.text = std::move(text);
  source.name = std::move(name);
  return source;
}

ImageFacts read_facts(const Compiled& compiled) {
  ImageFacts facts = read_facts(compiled.ptx);
  if (compiled.cubin) facts = merge_facts(facts, read_facts(*compiled.cubin));
  std::unordered_map<std::string_view, const CompiledKernel*> made;
  for (const CompiledKernel& kernel : compiled.kernels) made.emplace(kernel.symbol, &kernel);
  for (KernelFacts& kernel : facts.kernels) {
    const auto found = made.find(kernel.name);
    if (found != made.end()) kernel.spill_bytes = found->second->spill_store_bytes;
  }
  return facts;
}

namespace {

// The file in which NVRTC reports errors about name expressions.
constexpr std::string_view kNameMap = "__nv_name_map";

// One program of NVRTC, from creation to its results.
class Program {
 public:
  Program(const Nvrtc& nvrtc, const Request& request) : nvrtc_(nvrtc) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    for (const compiler::EmbeddedHeader& header : request.headers) {
      texts.push_back(header.text);
      names.push_back(header.name);
    }
    nvrtc.check(nvrtc.create(&program_, request.text.c_str(), request.program_name.c_str(),
                             static_cast<int>(texts.size()), texts.data(), names.data()),
                "nvrtcCreateProgram");
  }
  ~Program() { nvrtc_.destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void add_name(const std::string& expression) {
    nvrtc_.check(nvrtc_.add_name(program_, expression.c_str()), "nvrtcAddNameExpression");
  }

  Nvrtc::Result compile(const std::vector<std::string>& arguments) {
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    return nvrtc_.compile(program_, static_cast<int>(pointers.size()), pointers.data());
  }

  std::string ptx() const { return text(nvrtc_.ptx_size, nvrtc_.ptx, "nvrtcGetPTX"); }
  std::string cubin() const { return text(nvrtc_.cubin_size, nvrtc_.cubin, "nvrtcGetCUBIN"); }
  std::string log() const {
    std::string out = text(nvrtc_.log_size, nvrtc_.log, "nvrtcGetProgramLog");
    return out.substr(0, out.find('\0'));
  }
  std::string symbol(const std::string& expression) const {
    const char* name = nullptr;
    nvrtc_.check(nvrtc_.lowered_name(program_, expression.c_str(), &name), "nvrtcGetLoweredName");
    return name;
  }

 private:
  std::string text(Nvrtc::Result (*size_of)(Nvrtc::Program, std::size_t*),
                   Nvrtc::Result (*get)(Nvrtc::Program, char*), const char* call) const {
    std::size_t size = 0;
    nvrtc_.check(size_of(program_, &size), call);
    std::string out(size, '\0');
    if (size > 0) nvrtc_.check(get(program_, out.data()), call);
    return out;
  }

  const Nvrtc& nvrtc_;
  Nvrtc::Program program_ = nullptr;
};

struct Attempt {
  Nvrtc::Result result = Nvrtc::kSuccess;
  std::string log;
  std::vector<CompiledKernel> kernels;
  std::vector<Diagnostic> diagnostics;
  std::string ptx;
  std::string cubin;
  std::vector<std::pair<std::string, std::string>> symbols;
};

bool has_errors(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::kError;
  });
}

Attempt compile_with(const std::vector<std::string>& arguments, const Nvrtc& nvrtc,
                     const Request& request, const PathTable& paths,
                     const std::vector<std::string>& entries) {
  const auto rename = [&](std::string_view file) { return paths.encode(file); };
  Program program(nvrtc, request);
  for (const std::string& entry : entries) program.add_name(entry);
  Attempt out;
  out.result = program.compile(arguments);
  out.log = program.log();
  out.kernels = compiler::take_ptxas_report(out.log);
  out.diagnostics = compiler::parse_log(out.log, rename);
  if (out.result != Nvrtc::kSuccess) {
    const bool by_assembler =
        std::any_of(out.diagnostics.begin(), out.diagnostics.end(),
                    [](const Diagnostic& diagnostic) { return diagnostic.ptx_line != 0; });
    if (by_assembler) compiler::place_ptx_errors(out.diagnostics, program.ptx(), rename);
    return out;
  }
  out.ptx = program.ptx();
  out.cubin = program.cubin();
  for (const std::string& entry : entries) out.symbols.emplace_back(entry, program.symbol(entry));
  return out;
}

Attempt attempt(const Nvrtc& nvrtc, const Request& request, const PathTable& paths,
                const std::vector<std::string>& entries, std::vector<std::string> arguments) {
  Attempt out = compile_with(arguments, nvrtc, request, paths, entries);
  if (out.result == Nvrtc::kSuccess || has_errors(out.diagnostics)) return out;
  // ptxas leaves some of its errors out where it is asked for its report.
  std::erase(arguments, compiler::kPtxasReport);
  return compile_with(arguments, nvrtc, request, paths, entries);
}

// The name expression that an error is about: the compiler quotes the line it made of it.
std::string_view expression_of(const Diagnostic& diagnostic) {
  constexpr std::string_view kPragma = "#pragma nv_mangled_name ";
  const std::string_view line =
      std::string_view(diagnostic.excerpt).substr(0, diagnostic.excerpt.find('\n'));
  const std::size_t at = line.find(kPragma);
  return at == std::string_view::npos ? "" : line.substr(at + kPragma.size());
}

// The entries that the compiler could not find, where nothing else was wrong.
std::unordered_set<std::string_view> unknown_entries(const Attempt& failed,
                                                     const std::vector<std::string>& entries) {
  const std::unordered_set<std::string_view> asked(entries.begin(), entries.end());
  std::unordered_set<std::string_view> unknown;
  for (const Diagnostic& diagnostic : failed.diagnostics) {
    if (diagnostic.severity != Diagnostic::Severity::kError) continue;
    if (diagnostic.where.file != kNameMap) return {};
    const auto found = asked.find(expression_of(diagnostic));
    if (found != asked.end()) unknown.insert(*found);
  }
  return unknown;
}

[[noreturn]] void throw_unknown_entry(std::string_view entry, const Error& not_found,
                                      const Attempt& failed) {
  Error out = not_found;
  out.note("a kernel that is a template is named with its arguments: name<float>");
  for (const Diagnostic& diagnostic : failed.diagnostics) {
    if (expression_of(diagnostic) == entry) {
      out.note("the compiler says: " + diagnostic.message);
      break;
    }
  }
  throw out;
}

void check_arch(const Nvrtc& nvrtc, const compiler::Arch& arch) {
  const std::vector<int> known = nvrtc.archs();
  if (std::find(known.begin(), known.end(), arch.number) != known.end()) return;
  std::vector<std::string> names;
  for (const int number : known) names.push_back(fmt::format("{}", number));
  throw error(ErrorCode::kInvalidInput,
              "NVRTC {} does not compile for {}; it supports the architectures {}",
              nvrtc.version_text(), arch.text, fmt::join(names, ", "));
}

[[noreturn]] void throw_failure(const Nvrtc& nvrtc, const Request& request, const PathTable& paths,
                                Attempt& failed) {
  for (Diagnostic& diagnostic : failed.diagnostics) {
    diagnostic.where.file = paths.decode(diagnostic.where.file);
  }
  if (failed.result == Nvrtc::kInvalidOption) {
    Error out = error(ErrorCode::kInvalidInput, "{}: NVRTC rejects the compile options",
                      request.source.name);
    for (const Diagnostic& diagnostic : failed.diagnostics) out.note(diagnostic.to_string());
    throw out;
  }
  if (failed.result != Nvrtc::kCompilation) nvrtc.check(failed.result, "nvrtcCompileProgram");
  Error out = compiler::compile_error(failed.diagnostics, request.source.name, failed.log);
  for (std::string& hint : compiler::hints_for(failed.diagnostics, request)) {
    out.note(std::move(hint));
  }
  throw out;
}

// The kernels that were asked for by something that is no expression of C++, or that lack their
// template arguments: the image knows.
void find_in_image(const Request& request, const std::unordered_set<std::string_view>& unknown,
                   const Attempt& failed, Attempt& made) {
  const ImageFacts facts =
      read_facts(Image::from_bytes(made.ptx, "the PTX of " + request.source.name));
  const image::KernelIndex index(facts);
  for (const std::string& entry : request.options.entries) {
    if (!unknown.contains(entry)) continue;
    try {
      made.symbols.emplace_back(entry, index.find(entry, request.source.name).name);
    } catch (const Error& not_found) {
      throw_unknown_entry(entry, not_found, failed);
    }
  }
}

// The warnings that are about the user's own text: CUDA's headers are system headers to nvcc.
std::string warnings_of(const Attempt& made) {
  std::vector<Diagnostic> own;
  for (const Diagnostic& diagnostic : made.diagnostics) {
    if (!PathTable::is_cuda(diagnostic.where.file)) own.push_back(diagnostic);
  }
  return compiler::warnings_text(own);
}

Result run(const Request& request, const PathTable& paths) {
  const auto start = std::chrono::steady_clock::now();
  const Nvrtc& nvrtc = Nvrtc::load(compiler::require_nvrtc(request.toolkit));
  check_arch(nvrtc, request.arch);
  const std::vector<std::string>& entries = request.options.entries;

  std::vector<std::string> arguments =
      compiler::compiler_arguments(request, request.scan.mentions_launch);
  Attempt made = attempt(nvrtc, request, paths, entries, arguments);
  if (made.result == Nvrtc::kCompilation && !request.scan.mentions_launch &&
      compiler::lacks_host_declarations(made.diagnostics)) {
    std::vector<std::string> with_host_code = compiler::compiler_arguments(request, true);
    Attempt again = attempt(nvrtc, request, paths, entries, with_host_code);
    const bool is_better = again.result == Nvrtc::kSuccess
                               ? !compiler::calls_the_host(again.ptx)
                               : !unknown_entries(again, entries).empty();
    if (is_better) {
      made = std::move(again);
      arguments = std::move(with_host_code);
    }
  }
  if (made.result == Nvrtc::kCompilation) {
    const std::unordered_set<std::string_view> unknown = unknown_entries(made, entries);
    if (!unknown.empty()) {
      std::vector<std::string> others;
      std::copy_if(entries.begin(), entries.end(), std::back_inserter(others),
                   [&](const std::string& entry) { return !unknown.contains(entry); });
      const Attempt failed = std::exchange(made, attempt(nvrtc, request, paths, others, arguments));
      if (made.result == Nvrtc::kSuccess) find_in_image(request, unknown, failed, made);
    }
  }
  if (made.result != Nvrtc::kSuccess) throw_failure(nvrtc, request, paths, made);

  made.ptx.resize(std::min(made.ptx.find('\0'), made.ptx.size()));
  if (made.ptx.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "{}: NVRTC gives no PTX with these options; leave out those for link-time "
                "optimisation (-dlto)",
                request.source.name);
  }
  // Objects that wait for a device link cannot be loaded; their PTX can.
  if (!made.cubin.empty() && !image::Cubin(made.cubin, request.source.name).is_linked()) {
    log(LogLevel::kInfo, "{}: the machine code is relocatable (-rdc), only the PTX is kept",
        request.source.name);
    made.cubin.clear();
  }

  Result out;
  out.name = request.source.name;
  out.arch = request.arch.text;
  out.entries = entries;
  out.compiler = "NVRTC " + nvrtc.version_text();
  out.symbols = std::move(made.symbols);
  if (!made.cubin.empty()) out.kernels = std::move(made.kernels);
  out.log = warnings_of(made);
  out.ptx = paths.encode_ptx(made.ptx);
  out.cubin = std::move(made.cubin);
  for (std::string& file : compiler::line_table_files(out.cubin)) {
    std::string encoded = paths.encode(file);
    if (encoded != file) out.line_files.emplace_back(std::move(file), std::move(encoded));
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  out.seconds = spent.count();
  return out;
}

Compiled finished(Result result, const Request& request, const PathTable& paths, bool cache_hit) {
  Compiled out{
      Image::from_bytes(paths.decode(result.ptx), "the PTX of " + request.source.name),
      std::nullopt,
      std::move(result.symbols),
      std::move(result.kernels),
      paths.decode(result.log),
      cache_hit,
      result.seconds,
  };
  if (!result.cubin.empty()) {
    // It names the files as they lie here, wherever it was compiled.
    std::map<std::string, std::string, std::less<>> files;
    bool moved = false;
    for (const auto& [name, encoded] : result.line_files) {
      const auto here = files.emplace(name, paths.compilers_name(encoded)).first;
      moved |= here->second != name;
    }
    if (moved) {
      result.cubin =
          compiler::with_line_table_files(std::move(result.cubin), [&](std::string_view file) {
            const auto here = files.find(file);
            return here == files.end() ? std::string(file) : here->second;
          });
    }
    out.cubin = Image::from_bytes(result.cubin, "the cubin of " + request.source.name);
  }
  return out;
}

}  // namespace

Compiled compile(const Source& source, const CompileOptions& options) {
  const Request request = compiler::make_request(source, options);
  const PathTable paths(request);
  const std::optional<Cache> cache = options.use_cache ? Cache::open_default() : std::nullopt;
  std::string obstacle;
  const auto key = cache ? compiler::cache_key(request, &obstacle) : std::nullopt;
  if (!key) {
    if (cache) log(LogLevel::kInfo, "{} is not cached: {}", source.name, obstacle);
    return finished(run(request, paths), request, paths, false);
  }
  Cache::Outcome outcome = cache->get(*key, [&] {
    Cache::Made made{run(request, paths), true};
    // The compiler read the included files after they were looked at for the key.
    made.keep = compiler::cache_key(compiler::make_request(source, options), &obstacle) == key;
    if (!made.keep) {
      log(LogLevel::kInfo, "{} is not cached: an included file changed during the compile",
          source.name);
    }
    return made;
  });
  return finished(std::move(outcome.result), request, paths, outcome.hit);
}

}  // namespace baton
