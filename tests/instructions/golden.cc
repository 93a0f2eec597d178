#include "instructions/golden.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include "baton/error.h"
#include "instructions/match.h"

// The file has a line for each case, in order of the keys:
//   <family>.<group>/<16 digits> <rows> <16 digits: the digest> [<near result> …]
// all but the rows in hexadecimal.
namespace baton::instructions {
namespace {

constexpr std::size_t kNearRows = 96;  // kept of a case

class Digest {
 public:
  void add(u64 value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    add(text.size());
  }
  u64 value() const { return state_; }

 private:
  u64 state_ = 0x243f6a8885a308d3u;
};

u64 lane_mask(unsigned width) {
  return width == 64 ? ~u64{0} : (u64{1} << width) - 1;
}

// The bits that must be equal: all NaNs are one where the ISA leaves open which.
u64 canonical(const Result& result, u64 bits) {
  const KindInfo& type = info(result.kind);
  bits &= lane_mask(type.bits);
  if (result.match != Match::kNan || type.format == nullptr) return bits;
  const unsigned width = type.format->bits();
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    const u64 mask = lane_mask(width) << (lane * width);
    if (is_nan(*type.format, (bits & mask) >> (lane * width))) bits |= mask;
  }
  return bits;
}

// The values of all lanes as the references give them.
std::array<u64, kSlotsPerResult> doubles_of(Kind kind, u64 bits) {
  const KindInfo& type = info(kind);
  const unsigned width = type.format->bits();
  std::array<u64, kSlotsPerResult> slots{};
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    const u64 value = bits >> (lane * width) & lane_mask(width);
    slots[lane] = std::bit_cast<u64>(to_double(*type.format, value));
  }
  return slots;
}

bool agree(const Result& result, const Bounds& bounds, u64 got, u64 golden) {
  return matches(result, bounds, got, doubles_of(result.kind, golden).data()) ||
         matches(result, bounds, golden, doubles_of(result.kind, got).data());
}

[[noreturn]] void malformed(const std::filesystem::path& file, std::size_t line) {
  throw Error(ErrorCode::kInvalidInput,
              fmt::format("{}:{}: no record of a case", file.string(), line));
}

bool read(const std::string& word, u64* value, int base) {
  const char* end = word.data() + word.size();
  const auto [stop, failure] = std::from_chars(word.data(), end, *value, base);
  return failure == std::errc() && stop == end;
}

}  // namespace

Record make_record(const std::string& group, const Case& one, const std::vector<u64>& inputs,
                   const std::vector<u64>& results, std::size_t rows) {
  Digest place;
  place.add(one.text);
  place.add(one.directives);
  place.add(one.parameters);
  for (const std::string& bytes : one.bytes) place.add(bytes);
  // Equal texts may stand for several kinds of registers and shapes of blocks.
  for (const Kind kind : one.inputs) place.add(static_cast<u64>(kind));
  for (const Result& result : one.results) place.add(static_cast<u64>(result.kind));
  for (const u64 extent : {one.block.x, one.block.y, one.block.z}) place.add(extent);
  for (const u64 input : inputs) place.add(input);
  Record record{fmt::format("{}/{:016x}", group, place.value()), rows, 0, {}};
  Digest digest;
  const std::size_t step = std::max<std::size_t>(rows / kNearRows, 1);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t k = 0; k < one.results.size(); ++k) {
      const Result& result = one.results[k];
      const u64 bits = results[row * one.results.size() + k];
      if (result.match != Match::kNear) {
        digest.add(canonical(result, bits));
      } else if (row % step == 0 && row / step < kNearRows) {
        record.near.push_back(bits & lane_mask(info(result.kind).bits));
      }
    }
  }
  record.digest = digest.value();
  return record;
}

Golden::Golden(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) malformed(file, 0);
  std::string text;
  for (std::size_t line = 1; std::getline(in, text); ++line) {
    std::istringstream words(text);
    Record record;
    std::string digest, near;
    if (!(words >> record.key >> record.rows >> digest) || !read(digest, &record.digest, 16)) {
      malformed(file, line);
    }
    while (words >> near) {
      if (!read(near, &record.near.emplace_back(), 16)) malformed(file, line);
    }
    add(std::move(record));
  }
}

// Cases that are equal in all that the key says gave the same.
void Golden::add(Record record) {
  const std::string key = record.key;
  records_.insert_or_assign(key, std::move(record));
}

const Record* Golden::find(const std::string& key) const {
  const auto found = records_.find(key);
  return found == records_.end() ? nullptr : &found->second;
}

std::string Golden::text() const {
  std::string text;
  for (const auto& [key, record] : records_) {
    fmt::format_to(std::back_inserter(text), "{} {} {:016x}", key, record.rows, record.digest);
    for (const u64 bits : record.near) fmt::format_to(std::back_inserter(text), " {:x}", bits);
    text += '\n';
  }
  return text;
}

std::string difference(const Case& one, const Record& got, const Record& golden) {
  if (got.rows != golden.rows || got.near.size() != golden.near.size()) {
    return fmt::format("{}: {} rows, where the GPU's record has {}", one.text, got.rows,
                       golden.rows);
  }
  if (got.digest != golden.digest) {
    return fmt::format("{}: of {} rows some results are not those that the GPU gave", one.text,
                       got.rows);
  }
  Bounds twice = one.bounds;
  twice.relative *= 2;
  twice.absolute *= 2;
  twice.ulps = 2 * twice.ulps + 1;
  std::vector<const Result*> near;
  for (const Result& result : one.results) {
    if (result.match == Match::kNear) near.push_back(&result);
  }
  for (std::size_t k = 0; k < got.near.size(); ++k) {
    const Result& result = *near[k % near.size()];
    if (agree(result, twice, got.near[k], golden.near[k])) continue;
    return fmt::format("{}: gives {}, where the GPU gave {}: further apart than twice the bounds",
                       one.text, show(result.kind, got.near[k]), show(result.kind, golden.near[k]));
  }
  return {};
}

}  // namespace baton::instructions
