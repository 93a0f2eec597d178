#include "image/cubin/dwarf_unit.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "image/container/bytes.h"

namespace baton::image {
namespace {

// The numbers of DWARF 2 to 4 that are needed here.
enum DwarfAttribute : std::uint64_t {
  kName = 0x03,
  kByteSize = 0x0b,
  kBitSize = 0x0d,
  kUpperBound = 0x2f,
  kCount = 0x37,
  kMemberLocation = 0x38,
  kEncoding = 0x3e,
  kType = 0x49,
  kLinkageName = 0x6e,
  kOldLinkageName = 0x2007,
};
constexpr std::uint8_t kPlusConstant = 0x23;  // an operation of an expression
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

  std::string_view block(std::uint64_t size) {
    const std::uint64_t begin = at_;
    skip(size);
    return failed_ ? std::string_view() : bytes_.substr(begin, size);
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

  std::vector<DwarfEntry> read() {
    std::vector<DwarfEntry> entries;
    std::uint64_t depth = 0;
    while (!bytes_.at_end()) {
      const std::uint64_t offset = bytes_.at();
      const std::uint64_t code = bytes_.leb128();
      if (code == 0) {
        if (depth <= 1) break;
        --depth;
        continue;
      }
      const auto form = abbreviations_.find(code);
      if (form == abbreviations_.end()) break;
      const DwarfEntry entry = read_entry(form->second, offset, depth);
      if (bytes_.failed()) break;
      entries.push_back(entry);
      if (form->second.has_children) ++depth;
    }
    return entries;
  }

 private:
  DwarfEntry read_entry(const Abbreviation& form, std::uint64_t offset, std::uint64_t depth) {
    DwarfEntry entry;
    entry.offset = offset;
    entry.depth = depth;
    entry.tag = form.tag;
    for (const auto& [attribute, how] : form.attributes) {
      const Value value = read_value(how);
      if (attribute == kName) entry.name = value.text;
      if (attribute == kLinkageName || attribute == kOldLinkageName) entry.symbol = value.text;
      if (attribute == kType) entry.type = value.number;
      if (attribute == kByteSize) entry.size = value.number;
      if (attribute == kBitSize) entry.bit_size = value.number;
      if (attribute == kCount) entry.count = value.number;
      if (attribute == kUpperBound) entry.count = value.number + 1;
      if (attribute == kEncoding) entry.encoding = value.number;
      if (attribute == kMemberLocation) entry.member_at = location_of(value);
    }
    return entry;
  }

  // A text, a number, or the bytes of a block.
  struct Value {
    std::string_view text;
    std::uint64_t number = 0;
  };

  Value read_value(DwarfForm form) {
    switch (form) {
      case DwarfForm::kString:
        return {bytes_.string()};
      case DwarfForm::kStringOffset:
        return {string_at_offset()};
      case DwarfForm::kData1:
      case DwarfForm::kFlag:
      case DwarfForm::kReference1:
        return {"", bytes_.number<std::uint8_t>()};
      case DwarfForm::kData2:
      case DwarfForm::kReference2:
        return {"", bytes_.number<std::uint16_t>()};
      case DwarfForm::kData4:
      case DwarfForm::kReference4:
      case DwarfForm::kSectionOffset:
        return {"", bytes_.number<std::uint32_t>()};
      case DwarfForm::kData8:
      case DwarfForm::kReference8:
      case DwarfForm::kTypeSignature:
        return {"", bytes_.number<std::uint64_t>()};
      case DwarfForm::kAddress:
        bytes_.skip(address_size_);
        break;
      case DwarfForm::kReferenceAddress:
        bytes_.skip(reference_size_);
        break;
      case DwarfForm::kBlock1:
        return {bytes_.block(bytes_.number<std::uint8_t>())};
      case DwarfForm::kBlock2:
        return {bytes_.block(bytes_.number<std::uint16_t>())};
      case DwarfForm::kBlock4:
        return {bytes_.block(bytes_.number<std::uint32_t>())};
      case DwarfForm::kBlock:
      case DwarfForm::kExpression:
        return {bytes_.block(bytes_.leb128())};
      case DwarfForm::kSigned:
      case DwarfForm::kUnsigned:
      case DwarfForm::kReferenceUnsigned:
        return {"", bytes_.leb128()};
      case DwarfForm::kFlagPresent:
        break;
      default:
        bytes_.fail();
    }
    return {};
  }

  // Of a member: a number, or an expression that adds one.
  static std::uint64_t location_of(const Value& value) {
    if (value.text.empty()) return value.number;
    DwarfReader expression(value.text);
    return expression.number<std::uint8_t>() == kPlusConstant ? expression.leb128() : 0;
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

std::vector<DwarfEntry> read_unit(const PtxSection& info, const PtxSection& abbreviations,
                                  const PtxSection& strings) {
  return UnitReader(info, abbreviations, strings).read();
}

}  // namespace baton::image
