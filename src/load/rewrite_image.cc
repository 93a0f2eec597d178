#include <charconv>
#include <memory>

#include "base/error.h"
#include "baton/rewrite.h"
#include "chip/chip.h"
#include "load/rewrite_words.h"

namespace baton {
namespace {

// 90 of "sm_90a"; 0 for what is not an architecture.
int number_of(const std::string& arch) {
  int number = 0;
  const std::size_t begin = arch.find('_') + 1;
  std::from_chars(arch.data() + begin, arch.data() + arch.size(), number);
  return number;
}

}  // namespace

RewrittenPtx rewrite(const Image& ptx, RewriteMode mode) {
  if (mode == RewriteMode::kOff || mode == RewriteMode::kAuto) {
    throw error(ErrorCode::kInvalidInput,
                "rewriting PTX by itself takes the modes wait, loads, exit and top, not {}",
                to_string(mode));
  }
  if (ptx.kind() != ImageKind::kPtx) {
    throw error(ErrorCode::kInvalidInput, "{} is a {}, and only PTX can be rewritten", ptx.name(),
                to_string(ptx.kind()));
  }
  const ImageFacts facts = read_facts(ptx);
  if (number_of(facts.arch) < chip::kFirstWithPdl) {
    throw error(ErrorCode::kInvalidInput,
                "{} is for {}, and programmatic dependent launch begins with sm_{}", ptx.name(),
                facts.arch, chip::kFirstWithPdl);
  }
  const auto parsed = ptx::ParsedModule::parse(std::string(ptx.bytes()), ptx.name());
  std::vector<overlap::RewriteRequest> requests;
  for (const KernelFacts& kernel : facts.kernels) {
    const ptx::Function* const function = parsed->function(kernel.name);
    if (function == nullptr || !function->has_body) {
      throw error(ErrorCode::kInternal, "{} has no kernel {}", ptx.name(), kernel.name);
    }
    requests.push_back({function, {}, load::trigger_of(mode)});
  }
  const overlap::Rewriting done = overlap::rewrite(parsed, requests);
  RewrittenPtx result{ptx, {}};
  for (const overlap::RewrittenKernel& kernel : done.kernels) {
    result.kernels.push_back(load::public_rewrite(kernel.kernel, mode, kernel));
  }
  if (done.module != nullptr) {
    result.image = Image::from_bytes(done.module->text(), ptx.name());
  }
  return result;
}

}  // namespace baton
