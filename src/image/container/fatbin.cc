#include "image/container/fatbin.h"

#include <zstd.h>

#include <optional>

#include "base/error.h"
#include "base/text/text.h"
#include "image/container/bytes.h"
#include "image/container/lz4.h"

namespace baton::image {
namespace {

constexpr std::size_t kContainerHeader = 16;
constexpr std::size_t kMemberHeader = 64;
constexpr std::size_t kAlign = 8;
constexpr std::size_t kMaxMembers = 4096;

// Flags of a member.
constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstd = 0x8000;
constexpr std::uint64_t kOldPacking = 0x1000;
constexpr std::uint64_t kAccelerated = 0x100000;  // "a"
constexpr std::uint64_t kFamily = 0x200000;       // "f"

// Against bombs. PTX shrinks to a tenth, seldom to a hundredth.
constexpr std::uint64_t kMaxUnpacked = std::uint64_t{512} << 20;
constexpr std::uint64_t kMaxRatio = 1024;

std::optional<FatbinMember::Kind> kind_of(std::uint16_t kind) {
  switch (kind) {
    case 1:
      return FatbinMember::Kind::kPtx;
    case 2:
      return FatbinMember::Kind::kCubin;
    case 8:
      return FatbinMember::Kind::kLto;
    default:
      return std::nullopt;
  }
}

std::optional<std::string> unpack_zstd(std::string_view frame, std::size_t size) {
  std::string out(size, '\0');
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) || got != size) return std::nullopt;
  return out;
}

// A string inside a member's header, without the NULs that end it.
std::string string_at(std::string_view header, std::uint32_t offset, std::uint32_t length) {
  std::string_view text = slice(header, offset, length).value_or("");
  return std::string(text.substr(0, text.find('\0')));
}

}  // namespace

std::uint64_t Fatbin::size_of(const void* bytes) {
  const std::string_view header(static_cast<const char*>(bytes), kContainerHeader);
  if (load_or_zero<std::uint32_t>(header, 0) != kFatbinMagic) return 0;
  return load_or_zero<std::uint16_t>(header, 6) + load_or_zero<std::uint64_t>(header, 8);
}

std::uint64_t Fatbin::container_at(std::string_view bytes) {
  constexpr std::uint16_t kVersion = 1;
  if (load<std::uint32_t>(bytes, 0) != kFatbinMagic || load<std::uint16_t>(bytes, 4) != kVersion)
    return 0;
  const auto header = load_or_zero<std::uint16_t>(bytes, 6);
  const auto size = load_or_zero<std::uint64_t>(bytes, 8);
  if (header < kContainerHeader || !slice(bytes, header, size)) return 0;
  const std::string_view members = bytes.substr(header, size);
  const auto member_header = load_or_zero<std::uint32_t>(members, 4);
  const auto member_size = load_or_zero<std::uint64_t>(members, 8);
  if (member_header < kMemberHeader || !slice(members, member_header, member_size)) return 0;
  return header + size;
}

Fatbin::Fatbin(std::string_view bytes, std::string_view name) : name_(name) {
  if (bytes.size() < kContainerHeader || load_or_zero<std::uint32_t>(bytes, 0) != kFatbinMagic) {
    throw error(ErrorCode::kInvalidInput, "{} is truncated: {} bytes, and a fatbin's header has {}",
                name, bytes.size(), kContainerHeader);
  }
  // Several containers may follow one another.
  while (bytes.size() >= kContainerHeader &&
         load_or_zero<std::uint32_t>(bytes, 0) == kFatbinMagic) {
    const auto header = load_or_zero<std::uint16_t>(bytes, 6);
    const auto size = load_or_zero<std::uint64_t>(bytes, 8);
    if (header < kContainerHeader || header > bytes.size()) {
      remarks_.push_back(fmt::format("a container's header claims {} bytes", header));
      return;
    }
    bytes.remove_prefix(header);
    if (size > bytes.size()) {
      remarks_.push_back(fmt::format("it is truncated: its members have {} bytes, {} are there",
                                     size, bytes.size()));
    }
    read_members(bytes.substr(0, size));
    const std::uint64_t padded = size > bytes.size() ? size : (size + kAlign - 1) / kAlign * kAlign;
    bytes.remove_prefix(std::min<std::uint64_t>(padded, bytes.size()));
  }
}

void Fatbin::read_members(std::string_view rest) {
  while (rest.size() >= kMemberHeader) {
    const auto header = load_or_zero<std::uint32_t>(rest, 4);
    const auto stored = load_or_zero<std::uint64_t>(rest, 8);
    if (header < kMemberHeader || header > rest.size() || stored > rest.size() - header) {
      remarks_.push_back(fmt::format("a member of {} + {} bytes does not fit into the {} left",
                                     header, stored, rest.size()));
      return;
    }
    if (members_.size() >= kMaxMembers) {
      remarks_.push_back(fmt::format("it has more than {} members", kMaxMembers));
      return;
    }
    const std::string_view payload = rest.substr(header, stored);
    const std::string_view whole_header = rest.substr(0, header);
    const std::string_view head = rest.substr(0, kMemberHeader);
    rest.remove_prefix(header + stored);

    const auto number = load_or_zero<std::uint16_t>(head, 0);
    const auto packed = load_or_zero<std::uint32_t>(head, 0x10);
    const auto flags = load_or_zero<std::uint64_t>(head, 0x28);
    const std::optional<FatbinMember::Kind> kind = kind_of(number);
    if (!kind || (flags & kOldPacking) != 0 || packed > payload.size()) {
      remarks_.push_back(
          fmt::format("a member of kind {} with flags {:#x} was passed over", number, flags));
      continue;
    }
    FatbinMember member;
    member.facts.kind = *kind;
    const auto sm = load_or_zero<std::uint32_t>(head, 0x1c);
    member.sm = static_cast<int>(std::min<std::uint32_t>(sm, 9999));
    member.facts.arch = fmt::format("sm_{}{}", member.sm,
                                    (flags & kAccelerated) != 0 ? "a"
                                    : (flags & kFamily) != 0    ? "f"
                                                                : "");
    member.facts.source = string_at(whole_header, load_or_zero<std::uint32_t>(head, 0x20),
                                    load_or_zero<std::uint32_t>(head, 0x24));
    // The extra block of a cubin is a copy of one of its sections.
    const auto extra = load_or_zero<std::uint32_t>(head, 0x14);
    if (extra != 0 && *kind != FatbinMember::Kind::kCubin) {
      member.facts.options =
          string_at(whole_header, load_or_zero<std::uint32_t>(whole_header, extra),
                    load_or_zero<std::uint32_t>(whole_header, std::uint64_t{extra} + 4));
    }
    if ((flags & (kLz4 | kZstd)) != 0) {
      member.facts.packing =
          (flags & kZstd) != 0 ? FatbinMember::Packing::kZstd : FatbinMember::Packing::kLz4;
      member.payload = payload.substr(0, packed);  // then padding
      member.facts.size = load_or_zero<std::uint64_t>(head, 0x38);
    } else {
      member.payload = payload;
      member.facts.size = payload.size();
    }
    member.facts.stored_size = member.payload.size();
    members_.push_back(std::move(member));
  }
}

const FatbinMember* Fatbin::newest(FatbinMember::Kind kind) const {
  const FatbinMember* found = nullptr;
  for (const FatbinMember& member : members_) {
    if (member.facts.kind != kind) continue;
    if (found == nullptr || std::pair(member.sm, std::string_view(member.facts.arch)) >
                                std::pair(found->sm, std::string_view(found->facts.arch))) {
      found = &member;
    }
  }
  return found;
}

std::string Fatbin::unpack(const FatbinMember& member) const {
  const std::uint64_t size = member.facts.size;
  if (size > kMaxUnpacked || size / kMaxRatio > member.payload.size()) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the member for {} would unpack from {} to {}; that is not a real image", name_,
                member.facts.arch, format_bytes(member.payload.size()), format_bytes(size));
  }
  std::optional<std::string> bytes;
  switch (member.facts.packing) {
    case FatbinMember::Packing::kStored:
      bytes = std::string(member.payload);
      break;
    case FatbinMember::Packing::kLz4:
      bytes = unpack_lz4(member.payload, size);
      break;
    case FatbinMember::Packing::kZstd:
      bytes = unpack_zstd(member.payload, size);
      break;
  }
  if (!bytes && member.facts.kind == FatbinMember::Kind::kLto) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the LTO-IR for {} is packed in a way of the linker's own", name_,
                member.facts.arch);
  }
  if (!bytes) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the member for {} is damaged: its {} do not unpack to {}", name_,
                member.facts.arch, format_bytes(member.payload.size()), format_bytes(size));
  }
  if (member.facts.kind == FatbinMember::Kind::kPtx)
    bytes->resize(std::min(bytes->find('\0'), bytes->size()));
  return *std::move(bytes);
}

}  // namespace baton::image
