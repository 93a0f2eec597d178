#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/file/mapped_file.h"
#include "base/hash/hash.h"
#include "baton/image.h"
#include "bundle/index.h"
#include "bundle/rows.h"

namespace baton::bundle_test {

inline void expect_equal(const ImageFacts& a, const ImageFacts& b) {
  EXPECT_EQ(std::tie(a.kind, a.arch, a.producer, a.toolkit, a.ptx_version, a.abi, a.linked, a.debug,
                     a.remarks),
            std::tie(b.kind, b.arch, b.producer, b.toolkit, b.ptx_version, b.abi, b.linked, b.debug,
                     b.remarks));
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (std::size_t i = 0; i < a.kernels.size(); ++i) {
    const KernelFacts &x = a.kernels[i], &y = b.kernels[i];
    EXPECT_EQ(std::tie(x.name, x.demangled, x.arch, x.registers, x.static_shared, x.local_bytes,
                       x.max_threads, x.max_registers, x.spill_bytes, x.required_block,
                       x.required_cluster, x.max_cluster, x.min_blocks, x.barriers,
                       x.grid_in_clusters, x.waits, x.triggers, x.grid_sync, x.polls),
              std::tie(y.name, y.demangled, y.arch, y.registers, y.static_shared, y.local_bytes,
                       y.max_threads, y.max_registers, y.spill_bytes, y.required_block,
                       y.required_cluster, y.max_cluster, y.min_blocks, y.barriers,
                       y.grid_in_clusters, y.waits, y.triggers, y.grid_sync, y.polls));
    ASSERT_EQ(x.params.has_value(), y.params.has_value());
    if (!x.params) continue;
    ASSERT_EQ(x.params->size(), y.params->size());
    for (std::size_t k = 0; k < x.params->size(); ++k) {
      const ParamFacts &p = (*x.params)[k], &q = (*y.params)[k];
      EXPECT_EQ(std::tie(p.offset, p.size, p.kind, p.dtype, p.read_only, p.type, p.name),
                std::tie(q.offset, q.size, q.kind, q.dtype, q.read_only, q.type, q.name));
    }
  }
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (std::size_t i = 0; i < a.variables.size(); ++i) {
    const VariableFacts &x = a.variables[i], &y = b.variables[i];
    EXPECT_EQ(std::tie(x.name, x.size, x.constant), std::tie(y.name, y.size, y.constant));
  }
  ASSERT_EQ(a.members.size(), b.members.size());
  for (std::size_t i = 0; i < a.members.size(); ++i) {
    const MemberFacts &x = a.members[i], &y = b.members[i];
    EXPECT_EQ(std::tie(x.kind, x.packing, x.arch, x.stored_size, x.size, x.source, x.options),
              std::tie(y.kind, y.packing, y.arch, y.stored_size, y.size, y.source, y.options));
  }
}

inline bundle::Index index_of(const std::string& bytes) {
  return bundle::Index::read(*MappedFile::from_bytes(bytes, "x.baton"));
}

// A bundle whose index lies, under a checksum that is right.
class LyingBundle {
 public:
  explicit LyingBundle(std::string_view bytes) : bytes_(bytes.begin(), bytes.end()) {}

  template <typename Change>
  LyingBundle& header(Change&& change) {
    return change_at<bundle::HeaderRow>(bundle::kPage, change);
  }
  template <typename Change>
  LyingBundle& table(std::string_view name, Change&& change) {
    return change_at<bundle::TableRow>(place_of(name), change);
  }
  template <typename Row, typename Change>
  LyingBundle& row(std::string_view table, std::uint64_t number, Change&& change) {
    const auto found = read<bundle::TableRow>(place_of(table));
    return change_at<Row>(bundle::kPage + found.offset + number * found.row_size, change);
  }

  std::string bytes() const { return {bytes_.begin(), bytes_.end()}; }

 private:
  std::uint64_t place_of(std::string_view table) const {
    const auto header = read<bundle::HeaderRow>(bundle::kPage);
    for (std::uint64_t i = 0; i < header.tables; ++i) {
      const std::uint64_t place = bundle::kPage + sizeof header + i * sizeof(bundle::TableRow);
      if (std::string_view(read<bundle::TableRow>(place).name) == table) return place;
    }
    ADD_FAILURE() << "there is no table " << table;
    return bundle::kPage;
  }

  template <typename Row>
  Row read(std::uint64_t place) const {
    Row row;
    std::memcpy(&row, bytes_.data() + place, sizeof row);
    return row;
  }

  template <typename Row, typename Change>
  LyingBundle& change_at(std::uint64_t place, Change&& change) {
    auto row = read<Row>(place);
    change(row);
    std::memcpy(bytes_.data() + place, &row, sizeof row);
    const auto header = read<bundle::HeaderRow>(bundle::kPage);
    const std::uint64_t size =
        std::min<std::uint64_t>(header.index_size, bytes_.size() - bundle::kPage);
    constexpr std::size_t kBegin = offsetof(bundle::HeaderRow, major);
    const std::uint64_t sum = xxh3(std::string_view(bytes_.data(), bytes_.size())
                                       .substr(bundle::kPage + kBegin, size - kBegin));
    std::memcpy(bytes_.data() + bundle::kPage + offsetof(bundle::HeaderRow, xxh3), &sum,
                sizeof sum);
    return *this;
  }

  std::vector<char> bytes_;
};

}  // namespace baton::bundle_test
