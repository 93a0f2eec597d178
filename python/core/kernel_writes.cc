#include "core/kernel_writes.h"

#include <algorithm>
#include <string>

#include "baton/error.h"
#include "pdl/footprint/footprint.h"
#include "ptx/ast.h"

namespace baton::python {
namespace {

using overlap::SourceKind;

const Image* ptx_of(const KernelValue& kernel) {
  if (kernel.images == nullptr) return nullptr;
  const auto found = std::ranges::find(*kernel.images, ImageKind::kPtx, &Image::kind);
  return found == kernel.images->end() ? nullptr : &*found;
}

// Adds the parameters that an address of one of these origins may come from. Returns whether it
// comes from nowhere else.
bool add_parameters(const std::vector<overlap::Origin>& origins, std::vector<bool>& written) {
  for (const overlap::Origin& origin : origins) {
    if (origin.is_unknown) return false;
    for (const overlap::AddressSource& source : origin.sources) {
      switch (source.kind) {
        case SourceKind::kParam:
        case SourceKind::kParamWord:
          if (source.id < written.size()) written[source.id] = true;
          break;
        case SourceKind::kLoaded:
          // What is added to a parameter is an index; alone it may be any address.
          if (origin.sources.size() == 1) return false;
          break;
        case SourceKind::kParamSpace:
        case SourceKind::kVariable:
        case SourceKind::kConst:
        case SourceKind::kShared:
        case SourceKind::kLocal:
          break;
      }
    }
  }
  return true;
}

std::optional<std::vector<bool>> read_writes(const KernelValue& kernel) {
  const Image* const ptx = ptx_of(kernel);
  if (ptx == nullptr) return std::nullopt;
  const auto module = ptx::ParsedModule::parse(std::string(ptx->bytes()), ptx->name());
  const ptx::Function* const function = module->function(kernel.kernel.facts().name);
  if (function == nullptr || !function->has_body) return std::nullopt;
  const overlap::Footprint footprint = overlap::read_footprint(module, *function, {});
  if (footprint.unseen) return std::nullopt;
  std::vector<bool> written(kernel.parameters.size());
  for (const overlap::AccessGroup& access : footprint.accesses) {
    if (access.writes && !add_parameters(access.origins, written)) return std::nullopt;
  }
  return written;
}

}  // namespace

const std::optional<std::vector<bool>>& may_write(const KernelValue& kernel) {
  std::call_once(kernel.writes->read, [&] { kernel.writes->written = read_writes(kernel); });
  return kernel.writes->written;
}

}  // namespace baton::python
