#include "session/world/message_agreement.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/file/byte_reader.h"
#include "base/file/byte_writer.h"
#include "base/text/text.h"
#include "world/group_link.h"

namespace baton {
namespace {

using Runs = std::vector<EqualExchanges>;

// Empty bytes stand for messages that are not known.
std::string bytes_of(const std::optional<Runs>& runs) {
  if (!runs) return {};
  ByteWriter writer;
  writer.count(runs->size());
  for (const EqualExchanges& run : *runs) {
    writer.counted_bytes(run.where);
    writer.counted_bytes(run.content);
    writer.count(run.times);
  }
  return writer.take();
}

std::optional<Runs> runs_of(const std::string& bytes) {
  if (bytes.empty()) return std::nullopt;
  static const std::string kName = "the messages of another rank";
  ByteReader reader(bytes, kName);
  Runs runs;
  for (auto left = reader.count(3 * sizeof(std::uint64_t), "the list"); left > 0; --left) {
    std::string where(reader.counted_bytes("a place"));
    std::string content(reader.counted_bytes("a content"));
    runs.push_back(
        {std::move(where), std::move(content), reader.number<std::uint64_t>("a number")});
  }
  return runs;
}

std::optional<Runs> known(const CollectiveTrace& trace,
                          const std::map<std::uint32_t, ExchangeSequence>& all,
                          std::uint32_t rank) {
  if (!trace.knows_messages) return std::nullopt;
  const auto found = all.find(rank);
  if (found == all.end()) return Runs();
  if (!found->second.is_known()) return std::nullopt;
  return found->second.runs();
}

std::uint64_t count_of(const Runs& runs) {
  std::uint64_t count = 0;
  for (const EqualExchanges& run : runs) count += run.times;
  return count;
}

std::string messages(std::uint64_t count) {
  return fmt::format("{} message{}", count, count == 1 ? "" : "s");
}

std::string place_of(const Runs& runs, std::size_t at) {
  return at < runs.size() ? ", at " + printable(runs[at].where) : std::string();
}

// The first difference of what `from` sends and `to` receives.
std::optional<Error> difference(const Runs& sent, const Runs& received, std::uint32_t from,
                                std::uint32_t to) {
  std::uint64_t number = 0, sent_done = 0, received_done = 0;  // of the run at hand
  std::size_t i = 0, k = 0;
  while (i < sent.size() && k < received.size()) {
    if (sent[i].content != received[k].content) {
      return error(ErrorCode::kInvalidInput,
                   "the ranks disagree: message {} from rank {} to rank {} is sent with {}, at {}, "
                   "and received with {}, at {}; make both equal",
                   number, from, to, printable(sent[i].content), printable(sent[i].where),
                   printable(received[k].content), printable(received[k].where));
    }
    const std::uint64_t both =
        std::min(sent[i].times - sent_done, received[k].times - received_done);
    number += both;
    sent_done += both;
    received_done += both;
    if (sent_done == sent[i].times) ++i, sent_done = 0;
    if (received_done == received[k].times) ++k, received_done = 0;
  }
  if (i == sent.size() && k == received.size()) return std::nullopt;
  return error(ErrorCode::kInvalidInput,
               "the ranks disagree: rank {} sends {} to rank {}{}, which receives {} from it{}; "
               "write a receive for each send",
               from, messages(count_of(sent)), to, place_of(sent, i), messages(count_of(received)),
               place_of(received, k));
}

}  // namespace

void agree_on_messages(const World& world, const CollectiveTrace& trace) {
  world::Communicator& ranks = *world.communicator();
  const world::Stage stage{"agree: messages", "the comparison of the ranks' messages"};
  for (std::uint32_t rank = 0; rank < world.ranks(); ++rank) {
    ranks.send(rank, stage, bytes_of(known(trace, trace.sent, rank)));
  }
  std::optional<Error> found;
  for (std::uint32_t rank = 0; rank < world.ranks(); ++rank) {
    const std::optional<Runs> sent = runs_of(ranks.receive(rank, stage));
    const std::optional<Runs> received = known(trace, trace.received, rank);
    if (found || !sent || !received) continue;
    found = difference(*sent, *received, rank, world.rank());
  }
  if (found) throw Error(ranks.end_run(*found).error);
}

}  // namespace baton
