#include "image/container/archive.h"

#include <charconv>
#include <optional>

#include "base/error.h"
#include "image/container/bytes.h"

namespace baton::image {
namespace {

constexpr std::string_view kArchiveMagic = "!<arch>\n";
constexpr std::string_view kThinMagic = "!<thin>\n";
constexpr std::size_t kHeader = 60;
constexpr std::size_t kNameField = 16;
constexpr std::string_view kEnd = "`\n";

std::optional<std::uint64_t> decimal(std::string_view field) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (code != std::errc{} || end == field.data()) return std::nullopt;
  return value;
}

// "name/" or "name" padded with spaces; "/12" is an offset into the table of long names.
std::string_view gnu_name(std::string_view field, std::string_view long_names) {
  field = field.substr(0, field.find_last_not_of(' ') + 1);
  if (field.size() > 1 && field[0] == '/') {
    const auto offset = decimal(field.substr(1));
    if (!offset || *offset >= long_names.size()) return {};
    const std::string_view rest = long_names.substr(*offset);
    return rest.substr(0, rest.find_first_of("/\n"));
  }
  return field.substr(0, field.find('/'));
}

}  // namespace

bool is_archive(std::string_view bytes) {
  return bytes.starts_with(kArchiveMagic) || bytes.starts_with(kThinMagic);
}

Archive read_archive(std::string_view bytes, std::string_view name) {
  if (bytes.starts_with(kThinMagic)) {
    throw error(ErrorCode::kInvalidInput,
                "{} is a thin archive: its members are files of their own; give those", name);
  }
  Archive archive;
  std::string_view long_names;
  std::uint64_t at = kArchiveMagic.size();
  while (at < bytes.size()) {
    const auto header = slice(bytes, at, kHeader);
    const auto size = header ? decimal(header->substr(48, 10)) : std::nullopt;
    std::optional<std::string_view> body;
    if (size && header->ends_with(kEnd)) body = slice(bytes, at + kHeader, *size);
    if (!body) {
      archive.remarks.push_back(fmt::format("the archive is damaged at offset {:#x}", at));
      break;
    }
    const std::string_view field = header->substr(0, kNameField);
    ArchiveMember member{{}, at + kHeader, *body};
    if (field.starts_with("// ")) {
      long_names = *body;
    } else if (field.starts_with("#1/")) {
      // BSD: the name stands before the bytes.
      const auto length = decimal(field.substr(3));
      if (length && *length <= body->size()) {
        member.name = body->substr(0, *length);
        member.name = member.name.substr(0, member.name.find('\0'));
        member.offset += *length;
        member.bytes.remove_prefix(*length);
      }
      if (!member.name.starts_with("__.SYMDEF")) archive.members.push_back(member);
    } else if (!field.starts_with("/ ") && !field.starts_with("/SYM64/")) {
      member.name = gnu_name(field, long_names);
      archive.members.push_back(member);
    }
    at += kHeader + *size + *size % 2;
  }
  return archive;
}

}  // namespace baton::image
