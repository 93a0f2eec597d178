#include "compile/request.h"

#include <algorithm>

#include "base/error.h"
#include "chip/chip.h"
#include "compile/nvrtc/bundled_headers.h"
#include "compile/nvrtc/ptxas_report.h"

namespace baton::compiler {
namespace {

// "#line 1 "name"" makes messages and line tables speak of that text; quotes and backslashes cannot
// stand in the directive.
std::string line_directive(std::string_view name) {
  std::string clean(name);
  std::replace(clean.begin(), clean.end(), '"', '\'');
  std::replace(clean.begin(), clean.end(), '\\', '/');
  std::replace(clean.begin(), clean.end(), '\n', ' ');
  return fmt::format("#line 1 \"{}\"\n", clean);
}

// A file is called by its full path, so that debuggers find it; a text as if it were a file of its
// folder, so that its quotes resolve from there.
std::string program_name(const Source& source, const std::filesystem::path& directory) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(source.name, failed);
  if (!failed && std::filesystem::is_regular_file(path, failed)) {
    return path.lexically_normal().string();
  }
  std::string file = source.name;
  std::replace(file.begin(), file.end(), '/', '_');
  return (directory / file).string();
}

// What nvcc's preprocessor takes and NVRTC does not: a byte order mark in front, and a backslash at
// the very end, which would join the line that NVRTC adds.
std::string readable(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string out(text);
  if (out.ends_with('\\')) out += "\n\n";
  return out;
}

// NVRTC reads up to the first NUL, and would compile less than there is.
void refuse_nul(std::string_view text, std::string_view name) {
  const std::size_t at = text.find('\0');
  if (at == std::string_view::npos) return;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  throw error_at({std::string(name), static_cast<int>(line) + 1, 0}, ErrorCode::kInvalidInput,
                 "byte {} of {} is NUL, which CUDA source cannot contain; save it as UTF-8 text",
                 at, name);
}

std::string whole_text(const Source& source, const std::string& name) {
  refuse_nul(source.text, source.name);
  refuse_nul(source.prelude, fmt::format("<prelude of {}>", source.name));
  if (source.prelude.empty()) return readable(source.text);
  std::string text = line_directive(kPreludeName);
  text += readable(source.prelude);
  if (!text.ends_with('\n')) text += '\n';
  text += line_directive(name);
  text += readable(source.text);
  return text;
}

}  // namespace

Request make_request(const Source& source, const CompileOptions& options, bool is_for_link) {
  Request request{
      source, options, find_toolkit(), parse_arch(options.arch), parse_options(source), {}, {}, {},
      0,      {},      is_for_link};
  if (is_for_link && !request.parsed.is_relocatable) {
    request.parsed.others.emplace_back("--relocatable-device-code=true");
    request.parsed.is_relocatable = true;
  }
  add_bundled_headers(request.toolkit);
  std::vector<std::string_view> standard;
  for (const EmbeddedHeader& header : embedded_headers()) {
    const std::string_view name = header.name;
    const bool is_of_cuda = std::ranges::any_of(
        kCudaPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (!is_of_cuda) standard.push_back(name);
  }
  request.program_name = program_name(source, request.parsed.directory);
  request.text = whole_text(source, request.program_name);
  request.source_at = request.text.size() - readable(source.text).size();
  request.scan = scan_includes(request.text, request.parsed.directory, request.parsed.forced,
                               request.parsed.include, request.toolkit.include, standard);
  for (const EmbeddedHeader& header : embedded_headers()) {
    if (!request.scan.own_headers.contains(header.name)) request.headers.push_back(header);
  }
  return request;
}

std::vector<std::string> compiler_arguments(const Request& request, const Setup& setup) {
  std::vector<std::string> arguments;
  arguments.push_back("--gpu-architecture=" + request.arch.text);
  if (!request.parsed.has_standard) arguments.emplace_back("--std=c++17");
  if (!request.parsed.has_debug) arguments.emplace_back("-lineinfo");
  if (request.arch.is_real) arguments.emplace_back(kPtxasReport);
  // As nvcc has it on Linux: __int128 in device code.
  arguments.emplace_back("--device-int128");
  // nvcc takes functions without a mark for the host's and compiles them; NVRTC refuses them.
  arguments.emplace_back("-default-device");
  const auto include_first = [&](std::string_view header) {
    arguments.push_back(fmt::format("--pre-include={}", header));
  };
  const IncludeScan& scan = request.scan;
  include_first(kPreludeHeader);
  if (setup.host) include_first(kHostHeader);
  // Thrust's types name members of `std` themselves.
  const bool has_standard = (scan.mentions_std || setup.no_thrust) && setup.standard;
  if (has_standard) include_first(kStdHeader);
  if (setup.host && has_standard) include_first(kHostStdHeader);
  for (std::string_view header : setup.headers) include_first(header);
  if (setup.tensor_map) include_first("cuda.h");
  if (setup.hides) include_first(kHiddenHeader);
  if (setup.no_register) arguments.emplace_back("-Dregister=");
  if (setup.nvcc) arguments.emplace_back("-D__NVCC__");
  if (request.scan.mentions_pdl && request.arch.number >= chip::kFirstWithPdl) {
    arguments.emplace_back("--pre-include=cuda_device_runtime_api.h");
  }
  for (const std::string& header : request.parsed.forced) {
    arguments.push_back("--pre-include=" + header);
  }
  for (const auto* folders : {&request.parsed.include, &request.toolkit.include}) {
    for (const std::filesystem::path& folder : *folders) {
      arguments.push_back("--include-path=" + folder.string());
    }
  }
  arguments.insert(arguments.end(), request.parsed.others.begin(), request.parsed.others.end());
  return arguments;
}

}  // namespace baton::compiler
