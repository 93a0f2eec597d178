#include "compile/nvrtc/program.h"

#include <algorithm>
#include <utility>

#include "compile/compiler_call.h"
#include "compile/nvrtc/ptxas_report.h"

namespace baton::compiler {
namespace {

// One program of NVRTC, from creation to its results.
class NvrtcHandle {
 public:
  NvrtcHandle(const Nvrtc& nvrtc, const ProgramInput& input) : nvrtc_(nvrtc) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    for (const auto& [name, text] : input.headers) {
      texts.push_back(text.c_str());
      names.push_back(name.c_str());
    }
    nvrtc.check(nvrtc.create(&program_, input.text.c_str(), input.name.c_str(),
                             static_cast<int>(texts.size()), texts.data(), names.data()),
                "nvrtcCreateProgram");
  }
  ~NvrtcHandle() { nvrtc_.destroy(&program_); }
  NvrtcHandle(const NvrtcHandle&) = delete;
  NvrtcHandle& operator=(const NvrtcHandle&) = delete;

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
  std::string lto() const { return text(nvrtc_.lto_size, nvrtc_.lto, "nvrtcGetLTOIR"); }
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

bool has_errors(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::kError;
  });
}

Attempt compile_once(const Nvrtc& nvrtc, const ProgramInput& input, const PathTable& paths) {
  const auto rename = [&](std::string_view file) { return paths.encode(file); };
  NvrtcHandle program(nvrtc, input);
  for (const std::string& entry : input.entries) program.add_name(entry);
  Attempt out;
  out.result = program.compile(input.arguments);
  out.log = program.log();
  out.kernels = take_ptxas_report(out.log);
  out.diagnostics = parse_log(out.log, rename);
  if (!out.succeeded()) {
    const bool by_assembler =
        std::any_of(out.diagnostics.begin(), out.diagnostics.end(),
                    [](const Diagnostic& diagnostic) { return diagnostic.ptx_line != 0; });
    if (by_assembler) place_ptx_errors(out.diagnostics, program.ptx(), rename);
    return out;
  }
  out.ptx = program.ptx();
  out.ptx.resize(std::min(out.ptx.find('\0'), out.ptx.size()));
  out.cubin = program.cubin();
  if (out.ptx.empty()) out.lto = program.lto();
  for (const std::string& entry : input.entries) {
    out.symbols.emplace_back(entry, program.symbol(entry));
  }
  return out;
}

}  // namespace

Attempt attempt(const Nvrtc& nvrtc, ProgramInput input, const PathTable& paths) {
  return call_compiler([&nvrtc, input = std::move(input), paths]() mutable {
    Attempt out = compile_once(nvrtc, input, paths);
    if (out.succeeded() || has_errors(out.diagnostics)) return out;
    // ptxas leaves some of its errors out where it is asked for its report.
    std::erase(input.arguments, kPtxasReport);
    return compile_once(nvrtc, input, paths);
  });
}

}  // namespace baton::compiler
