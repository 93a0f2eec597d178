#include "bundle/index.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/text/text.h"
#include "bundle/check.h"
#include "bundle/zip.h"

namespace baton::bundle {
namespace {

// The first bytes of a zip's first entry, which the index is.
constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::size_t kChecksumBegin = offsetof(HeaderRow, major);

std::string_view name_of(const TableRow& row) {
  return {row.name, strnlen(row.name, sizeof row.name)};
}

}  // namespace

bool is_bundle(std::string_view file) {
  return begins_as_bundle(file) ||
         (file.size() > kPage && file.substr(kPage).starts_with(kIndexMagic));
}

Index Index::read(const MappedFile& file) {
  return Index(file);
}

Index::Index(const MappedFile& mapped) {
  const std::string_view file = mapped.bytes();
  const std::string& name = mapped.name();
  if (file.size() < kPage + sizeof(HeaderRow)) {
    char start[kZipMagic.size()];
    const std::size_t size = std::min(file.size(), sizeof start);
    mapped.read(file.substr(0, size), start);
    if (!kZipMagic.starts_with(std::string_view(start, size))) {
      throw error(ErrorCode::kInvalidInput,
                  "{} is not a bundle: it has {} bytes and does not begin as a bundle does", name,
                  file.size());
    }
    throw error(ErrorCode::kInvalidInput,
                "{} is truncated: it has {} bytes, the header of a bundle ends at byte {}; copy it "
                "again",
                name, file.size(), kPage + sizeof(HeaderRow));
  }
  mapped.read(file.substr(kPage, sizeof header_), reinterpret_cast<char*>(&header_));
  if (std::string_view(header_.magic, sizeof header_.magic) != kIndexMagic) {
    throw error(ErrorCode::kInvalidInput, "{} is not a bundle: its index does not begin at byte {}",
                name, kPage);
  }
  if (header_.major != kMajor) {
    throw error(ErrorCode::kInvalidInput,
                "{} is a bundle of version {}.{}, this Baton reads version {}; {}build the bundle "
                "with this one",
                name, header_.major, header_.minor, kMajor,
                header_.major > kMajor ? "use a later Baton, or " : "");
  }
  if (header_.file_size != file.size()) {
    throw error(ErrorCode::kInvalidInput,
                "{} has {} bytes, and its index says {}: it is {}; copy it again", name,
                file.size(), header_.file_size,
                header_.file_size > file.size() ? "truncated" : "damaged");
  }
  if (header_.index_size < sizeof(HeaderRow) || header_.index_size > file.size() - kPage) {
    throw error(ErrorCode::kInvalidInput,
                "{} is damaged: its index claims {} bytes, {} are left; copy it again", name,
                header_.index_size, file.size() - kPage);
  }
  size_ = header_.index_size;
  bytes_ = std::make_unique_for_overwrite<char[]>(size_);
  mapped.read(file.substr(kPage, size_), bytes_.get());
  std::memcpy(&header_, bytes_.get(), sizeof header_);
  const std::uint64_t sum = xxh3(bytes().substr(kChecksumBegin));
  if (sum != header_.xxh3) {
    throw error(ErrorCode::kInvalidInput,
                "{} is damaged: the checksum of its index is {:016x}, its bytes have {:016x}; copy "
                "it again",
                name, header_.xxh3, sum);
  }
  read_tables(name);
  skipped_ = check(*this, file.size(), name, std::move(skipped_));
}

template <typename Row>
void Index::take(IndexTable<Row>& table, const TableRow& row, std::string_view table_name,
                 const std::string& name) {
  if (table.bytes_ != nullptr) {
    throw error(ErrorCode::kInvalidInput, "{}: its index has the table {} twice", name, table_name);
  }
  if (row.row_size < kLeastSize<Row>) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the table {} of its index has rows of {} bytes, at least {} are needed", name,
                table_name, row.row_size, kLeastSize<Row>);
  }
  table.bytes_ = bytes_.get() + row.offset;
  table.row_size_ = row.row_size;
  table.rows_ = row.rows;
}

void Index::read_tables(const std::string& name) {
  const std::uint64_t size = size_;
  if (header_.tables > (size - sizeof(HeaderRow)) / sizeof(TableRow)) {
    throw error(ErrorCode::kInvalidInput, "{}: its index claims {} tables, {} bytes are left", name,
                header_.tables, size - sizeof(HeaderRow));
  }
  std::uint64_t end = sizeof(HeaderRow) + header_.tables * sizeof(TableRow);
  for (std::uint32_t number = 0; number < header_.tables; ++number) {
    TableRow row;
    std::memcpy(&row, bytes_.get() + sizeof(HeaderRow) + number * sizeof row, sizeof row);
    const std::string_view table = name_of(row);
    if (row.offset % 8 != 0 || row.offset < end || row.offset > size || row.row_size == 0 ||
        row.rows > (size - row.offset) / row.row_size || row.rows >= kNone) {
      throw error(ErrorCode::kInvalidInput,
                  "{}: the table {} of its index, {} rows of {} bytes at byte {}, does not lie "
                  "between byte {} and the end at byte {}, or not at a multiple of 8",
                  name, printable(table), row.rows, row.row_size, row.offset, end, size);
    }
    end = row.offset + row.rows * row.row_size;
#define BATON_TABLE(Row, member)               \
  if (table == #member) {                      \
    take<Row>(this->member, row, table, name); \
    continue;                                  \
  }
    BATON_BUNDLE_TABLES(BATON_TABLE)
#undef BATON_TABLE
    if ((row.flags & kRequired) != 0) {
      throw error(ErrorCode::kInvalidInput,
                  "{} requires the table \"{}\", which this Baton does not know; use a later Baton",
                  name, printable(table));
    }
    skipped_.push_back(fmt::format("the table {}", printable(table)));
  }
}

std::uint32_t Index::section(std::string_view name) const {
  std::uint64_t first = 0, last = sections.size();
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    const std::string_view found = text(sections[middle].name);
    if (found == name) return static_cast<std::uint32_t>(middle);
    if (found < name) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return kNone;
}

}  // namespace baton::bundle
