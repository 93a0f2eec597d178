#include "image/debug_params.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "image/bytes.h"
#include "image/ptx_section.h"

namespace baton::image {
namespace {

// The numbers of DWARF 2 to 4 that are needed here.
enum DwarfTag : std::uint64_t { kFormalParameter = 0x05, kSubprogram = 0x2e };
enum DwarfAttribute : std::uint64_t { kName = 0x03, kLinkageName = 0x6e, kOldLinkageName = 0x2007 };
enum class DwarfForm : std::uint64_t {
  kAddress = 0x01,
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kFlag = 0x0c,
  kSigned = 0x0d,
  kStringOffset = 0x0e,
  kUnsigned = 0x0f,
  kReferenceAddress = 0x10,
  kReference1 = 0x11,
  kReference2 = 0x12,
  kReference4 = 0x13,
  kReference8 = 0x14,
  kReferenceUnsigned = 0x15,
  kSectionOffset = 0x17,
  kExpression = 0x18,
  kFlagPresent = 0x19,
  kTypeSignature = 0x20,
};

// Bytes read from the front to the end. Past the end every value is zero, and `failed()` says so.
class DwarfReader {
 public:
  explicit DwarfReader(std::string_view bytes, std::uint64_t at = 0) : bytes_(bytes), at_(at) {}

  std::uint64_t at() const { return at_; }
  bool failed() const { return failed_; }
  bool at_end() const { return failed_ || at_ >= bytes_.size(); }

  template <typename T>
  T number() {
    const std::optional<T> value = load<T>(bytes_, at_);
    skip(sizeof(T));
    return value.value_or(0);
  }

  // A number of 7 bits a byte.
  std::uint64_t leb128() {
    std::uint64_t value = 0;
    for (int shift = 0; !failed_; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }

  std::string_view string() {
    const std::size_t end = failed_ ? std::string_view::npos : bytes_.find('\0', at_);
    if (end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  void skip(std::uint64_t size) {
    failed_ = failed_ || at_ > bytes_.size() || size > bytes_.size() - at_;
    if (!failed_) at_ += size;
  }

  void fail() { failed_ = true; }

 private:
  std::string_view bytes_;
  std::uint64_t at_;
  bool failed_ = false;
};

struct Abbreviation {
  std::uint64_t tag = 0;
  bool has_children = false;
  std::vector<std::pair<std::uint64_t, DwarfForm>> attributes;
};

using Abbreviations = std::unordered_map<std::uint64_t, Abbreviation>;

Abbreviations read_abbreviations(DwarfReader bytes) {
  Abbreviations found;
  while (const std::uint64_t code = bytes.leb128()) {
    Abbreviation entry;
    entry.tag = bytes.leb128();
    entry.has_children = bytes.number<std::uint8_t>() != 0;
    while (true) {
      const std::uint64_t name = bytes.leb128();
      const std::uint64_t form = bytes.leb128();
      if (name == 0 && form == 0) break;
      entry.attributes.emplace_back(name, static_cast<DwarfForm>(form));
    }
    if (bytes.failed()) return {};
    found.emplace(code, std::move(entry));
  }
  return found;
}

// One unit of debug information. A module of PTX has one.
class UnitReader {
 public:
  UnitReader(const PtxSection& info, const PtxSection& abbreviations, const PtxSection& strings)
      : info_(info), strings_(strings), bytes_(info.bytes) {
    bytes_.skip(sizeof(std::uint32_t));  // its length
    const auto version = bytes_.number<std::uint16_t>();
    const auto table = bytes_.number<std::uint32_t>();
    address_size_ = bytes_.number<std::uint8_t>();
    reference_size_ = version == 2 ? address_size_ : sizeof(std::uint32_t);
    if (version < 2 || version > 4) bytes_.fail();
    abbreviations_ = read_abbreviations(DwarfReader(abbreviations.bytes, table));
  }

  DebugParams read() {
    DebugParams found;
    std::uint64_t depth = 0;
    std::uint64_t function_depth = 0;
    std::vector<std::string>* params = nullptr;  // of the function that is read
    while (!bytes_.at_end()) {
      const std::uint64_t code = bytes_.leb128();
      if (code == 0) {
        if (depth <= 1) break;
        if (--depth == function_depth) params = nullptr;
        continue;
      }
      const auto entry = abbreviations_.find(code);
      if (entry == abbreviations_.end()) break;
      const Names names = read_names(entry->second);
      if (bytes_.failed()) break;
      if (entry->second.tag == kSubprogram && entry->second.has_children && params == nullptr) {
        function_depth = depth;
        params = &found[std::string(names.symbol.empty() ? names.name : names.symbol)];
      } else if (entry->second.tag == kFormalParameter && params != nullptr &&
                 depth == function_depth + 1) {
        params->emplace_back(names.name);
      }
      if (entry->second.has_children) ++depth;
    }
    return found;
  }

 private:
  struct Names {
    std::string_view name;
    std::string_view symbol;
  };

  Names read_names(const Abbreviation& entry) {
    Names names;
    for (const auto& [attribute, form] : entry.attributes) {
      const std::string_view text = read_value(form);
      if (attribute == kName) names.name = text;
      if (attribute == kLinkageName || attribute == kOldLinkageName) names.symbol = text;
    }
    return names;
  }

  // Goes past the value. Returns its text if it is one.
  std::string_view read_value(DwarfForm form) {
    switch (form) {
      case DwarfForm::kString:
        return bytes_.string();
      case DwarfForm::kStringOffset:
        return string_at_offset();
      case DwarfForm::kData1:
      case DwarfForm::kFlag:
      case DwarfForm::kReference1:
        bytes_.skip(1);
        break;
      case DwarfForm::kData2:
      case DwarfForm::kReference2:
        bytes_.skip(2);
        break;
      case DwarfForm::kData4:
      case DwarfForm::kReference4:
      case DwarfForm::kSectionOffset:
        bytes_.skip(4);
        break;
      case DwarfForm::kData8:
      case DwarfForm::kReference8:
      case DwarfForm::kTypeSignature:
        bytes_.skip(8);
        break;
      case DwarfForm::kAddress:
        bytes_.skip(address_size_);
        break;
      case DwarfForm::kReferenceAddress:
        bytes_.skip(reference_size_);
        break;
      case DwarfForm::kBlock1:
        bytes_.skip(bytes_.number<std::uint8_t>());
        break;
      case DwarfForm::kBlock2:
        bytes_.skip(bytes_.number<std::uint16_t>());
        break;
      case DwarfForm::kBlock4:
        bytes_.skip(bytes_.number<std::uint32_t>());
        break;
      case DwarfForm::kBlock:
      case DwarfForm::kExpression:
        bytes_.skip(bytes_.leb128());
        break;
      case DwarfForm::kSigned:
      case DwarfForm::kUnsigned:
      case DwarfForm::kReferenceUnsigned:
        bytes_.leb128();
        break;
      case DwarfForm::kFlagPresent:
        break;
      default:
        bytes_.fail();
    }
    return {};
  }

  // The offset may be that of a label of the section of strings.
  std::string_view string_at_offset() {
    const auto reference = info_.references.find(bytes_.at());
    std::uint64_t offset = bytes_.number<std::uint32_t>();
    if (reference != info_.references.end()) {
      const auto label = strings_.labels.find(reference->second);
      if (label != strings_.labels.end()) offset += label->second;
    }
    return DwarfReader(strings_.bytes, offset).string();
  }

  const PtxSection& info_;
  const PtxSection& strings_;
  DwarfReader bytes_;
  std::uint8_t address_size_ = 0;
  std::uint8_t reference_size_ = 0;
  Abbreviations abbreviations_;
};

}  // namespace

DebugParams debug_params(const ptx::ParsedModule& module) {
  PtxSection info, abbreviations, strings;
  const std::pair<std::string_view, PtxSection*> wanted[] = {
      {".debug_info", &info}, {".debug_abbrev", &abbreviations}, {".debug_str", &strings}};
  for (const ptx::TopLevel& item : module.items()) {
    const auto* const section = std::get_if<ptx::Section>(&item);
    if (section == nullptr) continue;
    for (const auto& [name, into] : wanted) {
      if (section->name != name) continue;
      if (auto read = read_section(*section)) *into = std::move(*read);
    }
  }
  if (info.bytes.empty() || abbreviations.bytes.empty()) return {};
  return UnitReader(info, abbreviations, strings).read();
}

}  // namespace baton::image
