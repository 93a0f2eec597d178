#include "image/container/fatbin_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "image/container/fatbin.h"

namespace baton::image {
namespace {

std::string describe(const FatbinMember& member) {
  return fmt::format("{} {}", to_string(member.facts.kind), member.facts.arch);
}

}  // namespace

ImageFacts read_fatbin_facts(const Image& image) {
  const Fatbin fatbin(image.bytes(), image.name());
  // Newest first, machine code before PTX: what comes first is believed.
  std::vector<const FatbinMember*> order;
  for (const FatbinMember& member : fatbin.members()) order.push_back(&member);
  std::stable_sort(order.begin(), order.end(), [](const FatbinMember* a, const FatbinMember* b) {
    const bool a_is_code = a->facts.kind == FatbinMember::Kind::kCubin;
    const bool b_is_code = b->facts.kind == FatbinMember::Kind::kCubin;
    if (a_is_code != b_is_code) return a_is_code;
    return a->sm != b->sm ? a->sm > b->sm : a->facts.arch > b->facts.arch;
  });

  std::optional<ImageFacts> facts;
  std::vector<std::string> remarks = fatbin.remarks();
  for (const FatbinMember* member : order) {
    if (member->facts.kind == FatbinMember::Kind::kLto) {
      remarks.push_back(describe(*member) + ": only a link makes kernels of it");
      continue;
    }
    try {
      const Image inner = Image::from_bytes(
          fatbin.unpack(*member), fmt::format("{} ({})", image.name(), describe(*member)));
      const bool is_labelled_well =
          inner.kind() ==
          (member->facts.kind == FatbinMember::Kind::kPtx ? ImageKind::kPtx : ImageKind::kCubin);
      if (!is_labelled_well) {
        remarks.push_back(fmt::format("{}: it is {}", describe(*member), to_string(inner.kind())));
        continue;  // a fatbin inside a fatbin, or a false label
      }
      ImageFacts own = read_facts(inner);
      // Only the fatbin tells "f".
      own.arch = member->facts.arch;
      for (KernelFacts& kernel : own.kernels) kernel.arch = member->facts.arch;
      facts = facts ? merge_facts(*facts, own) : std::move(own);
    } catch (const Error& unreadable) {
      remarks.push_back(unreadable.message());
    }
  }
  // Members that only a link makes something of are members all the same.
  const bool has_lto = std::any_of(order.begin(), order.end(), [](const FatbinMember* member) {
    return member->facts.kind == FatbinMember::Kind::kLto;
  });
  if (!facts && has_lto) facts.emplace();
  if (!facts) {
    Error empty = error(ErrorCode::kInvalidInput, "{} has no readable image", image.name());
    for (const std::string& remark : remarks) empty.note(remark);
    throw empty;
  }
  facts->kind = ImageKind::kFatbin;
  facts->remarks.insert(facts->remarks.end(), remarks.begin(), remarks.end());
  for (const FatbinMember& member : fatbin.members()) facts->members.push_back(member.facts);
  return *std::move(facts);
}

}  // namespace baton::image
