#include "world/agreement.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

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

Error difference(const std::vector<Agreed>& first, const std::vector<Agreed>& other,
                 std::uint32_t rank) {
  for (std::size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
    if (i >= first.size() || i >= other.size()) {
      const std::vector<Agreed>& longer = first.size() > other.size() ? first : other;
      const std::uint32_t has = first.size() > other.size() ? 0 : rank;
      return error(ErrorCode::kInvalidInput,
                   "the ranks disagree: rank {} has {} = {}, rank {} does not have it; start all "
                   "ranks with the same program",
                   has, longer[i].what, longer[i].value, has == 0 ? rank : 0);
    }
    if (first[i].what != other[i].what || first[i].value != other[i].value) {
      return error(ErrorCode::kInvalidInput,
                   "the ranks disagree: rank 0 has {} = {}, rank {} has {} = {}; start all ranks "
                   "with the same program, symbols and options",
                   first[i].what, printable(first[i].value, 400), rank, other[i].what,
                   printable(other[i].value, 400));
    }
  }
  return error(ErrorCode::kInternal, "the lists of ranks 0 and {} are equal, their hashes not",
               rank);
}

}  // namespace

// Rank 0 compares, because its hash goes to all anyway.
void agree(Communicator& ranks, const std::vector<Agreed>& list) {
  if (ranks.ranks() == 1) return;
  const Stage stage{"agree", "the comparison of the ranks' programs"};
  const std::string bytes = bytes_of(list);
  const Sha256Digest digest = sha256(bytes);
  const std::string hash(digest.begin(), digest.end());
  if (ranks.rank() != 0) {
    ranks.send(0, stage, hash);
    if (ranks.receive(0, stage) != hash) {
      ranks.send(0, stage, bytes);
      ranks.receive(0, stage);  // throws the error that rank 0 finds
    }
    return;
  }
  std::uint32_t different = 0;
  for (std::uint32_t rank = ranks.ranks() - 1; rank > 0; --rank) {
    if (ranks.receive(rank, stage) != hash) different = rank;
    ranks.send(rank, stage, hash);
  }
  if (different == 0) return;
  const Error found = difference(list, list_of(ranks.receive(different, stage)), different);
  throw Error(ranks.end_run(found).error);
}

}  // namespace baton::world
