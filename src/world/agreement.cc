#include "world/agreement.h"

#include <algorithm>

#include "base/error.h"
#include "base/file/byte_reader.h"
#include "base/file/byte_writer.h"
#include "base/hash/hash.h"
#include "base/text/text.h"

namespace baton::world {
namespace {

const std::string kListName = "the program of another rank";

std::string bytes_of(const std::vector<Agreed>& list) {
  ByteWriter writer;
  writer.count(list.size());
  for (const Agreed& each : list) {
    writer.counted_bytes(each.what);
    writer.counted_bytes(each.value);
  }
  return writer.take();
}

std::vector<Agreed> list_of(std::string_view bytes) {
  ByteReader reader(bytes, kListName);
  std::vector<Agreed> list;
  for (auto left = reader.count(2 * sizeof(std::uint64_t), "the list"); left > 0; --left) {
    std::string what(reader.counted_bytes("a name"));
    list.push_back({std::move(what), std::string(reader.counted_bytes("a value"))});
  }
  return list;
}

Error difference(const GroupLink& ranks, const AgreementTopic& topic,
                 const std::vector<Agreed>& first, const std::vector<Agreed>& other,
                 std::uint32_t number) {
  const std::uint32_t first_rank = ranks.in_world(0), rank = ranks.in_world(number);
  for (std::size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
    if (i >= first.size() || i >= other.size()) {
      const std::vector<Agreed>& longer = first.size() > other.size() ? first : other;
      const bool is_first = first.size() > other.size();
      return error(ErrorCode::kInvalidInput,
                   "the ranks disagree: rank {} has {} = {}, rank {} does not have it; {}",
                   is_first ? first_rank : rank, longer[i].what, printable(longer[i].value, 400),
                   is_first ? rank : first_rank, topic.advice);
    }
    if (first[i].what != other[i].what || first[i].value != other[i].value) {
      return error(ErrorCode::kInvalidInput,
                   "the ranks disagree: rank {} has {} = {}, rank {} has {} = {}; {}", first_rank,
                   first[i].what, printable(first[i].value, 400), rank, other[i].what,
                   printable(other[i].value, 400), topic.advice);
    }
  }
  return error(ErrorCode::kInternal, "the lists of ranks {} and {} are equal, their hashes not",
               first_rank, rank);
}

// Empty where there is no list.
std::string hash_of(const std::optional<std::vector<Agreed>>& list) {
  if (!list) return {};
  const Sha256Digest digest = sha256(bytes_of(*list));
  return {digest.begin(), digest.end()};
}

bool differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}

}  // namespace

// The first rank compares, because its hash goes to all anyway.
void agree(const GroupLink& ranks, const AgreementTopic& topic,
           const std::optional<std::vector<Agreed>>& list) {
  if (ranks.ranks() == 1) return;
  const std::string text = "the comparison of " + topic.what;
  const Stage stage{"agree: " + text, text};
  const std::string hash = hash_of(list);
  if (ranks.rank() != 0) {
    ranks.send(0, stage, hash);
    if (differ(ranks.receive(0, stage), hash)) {
      ranks.send(0, stage, bytes_of(*list));
      ranks.receive(0, stage);  // throws the error that the first rank finds
    }
    return;
  }
  std::uint32_t different = 0;
  for (std::uint32_t rank = ranks.ranks() - 1; rank > 0; --rank) {
    if (differ(ranks.receive(rank, stage), hash)) different = rank;
    ranks.send(rank, stage, hash);
  }
  if (different == 0) return;
  const Error found =
      difference(ranks, topic, *list, list_of(ranks.receive(different, stage)), different);
  throw Error(ranks.world().end_run(found).error);
}

}  // namespace baton::world
