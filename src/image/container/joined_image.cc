#include "image/container/joined_image.h"

#include <memory>
#include <string_view>
#include <vector>

#include "baton/error.h"
#include "image/container/fatbin.h"
#include "image/cubin/kept_ptx.h"
#include "image/ptx/link_ptx.h"
#include "ptx/ast.h"

namespace baton::image {
namespace {

using MemberKind = FatbinMember::Kind;

Fatbin fatbin_at(const void* start) {
  return {{static_cast<const char*>(start), Fatbin::size_of(start)}, "<fatbin>"};
}

// The PTX of a fatbin whose members are all for that architecture.
std::optional<std::string> ptx_for(const Fatbin& fatbin, int architecture) {
  for (const FatbinMember& member : fatbin.members()) {
    if (member.sm != architecture) return std::nullopt;
  }
  const FatbinMember* const ptx = fatbin.newest(MemberKind::kPtx);
  return ptx == nullptr ? std::nullopt : std::optional(fatbin.unpack(*ptx));
}

}  // namespace

std::optional<std::string> joined_image(const FatbinWrapper& wrapper) try {
  if (!wrapper.has_joined()) return std::nullopt;
  const Fatbin whole = fatbin_at(wrapper.fatbin);
  if (whole.members().size() != 1 || whole.members()[0].facts.kind != MemberKind::kCubin) {
    return std::nullopt;
  }
  const FatbinMember& code = whole.members()[0];
  std::vector<std::shared_ptr<const ptx::ParsedModule>> modules;
  for (const void* const* object = wrapper.joined; *object != nullptr; ++object) {
    std::optional<std::string> ptx = ptx_for(fatbin_at(*object), code.sm);
    if (!ptx) return std::nullopt;
    modules.push_back(ptx::ParsedModule::parse(*std::move(ptx), "<ptx>"));
  }
  if (modules.empty()) return std::nullopt;
  return keep_ptx(whole.unpack(code), link_ptx(modules), "<cubin>");
} catch (const Error&) {
  return std::nullopt;  // then the record has the machine code alone
}

}  // namespace baton::image
