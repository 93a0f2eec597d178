#include "baton/compile.h"

#include <map>
#include <unordered_map>

#include "base/error.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/text/text.h"
#include "compile/cache/path_table.h"
#include "compile/make_result.h"
#include "compile/nvrtc/line_table.h"
#include "compile/param_names.h"
#include "compile/relocatable.h"
#include "compile/request.h"

namespace baton {

using compiler::Cache;
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

Compiled compile_for(const Source& source, const CompileOptions& options, bool is_for_link) {
  const Request request = compiler::make_request(source, options, is_for_link);
  const PathTable paths(request);
  Cache::Outcome outcome = compiler::obtain_result(request, paths);
  return finished(std::move(outcome.result), request, paths, outcome.hit);
}

}  // namespace

Compiled compile(const Source& source, const CompileOptions& options) {
  if (options.param_names) {
    return compiler::compile_described(source, options, compiler::DescribedKernels::kAll);
  }
  return compile_for(source, options, false);
}

namespace compiler {

bool is_relocatable(const Source& source) {
  return parse_options(source).is_relocatable;
}

Compiled compile_relocatable(const Source& source, const CompileOptions& options) {
  return compile_for(source, options, true);
}

}  // namespace compiler

}  // namespace baton
