#include "tools/measure/tuned_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/hash/hash.h"
#include "world/exchange.h"

namespace baton::tools {

namespace {

// Whether all ranks have a record with the same variant: they must execute one program. With one
// rank, that is so.
bool all_have(const Bindings& bindings, const TuneRecord* record) {
  if (!bindings.world || bindings.world->ranks() == 1) return true;
  const Sha256Digest own = sha256(record == nullptr ? std::string() : to_text(record->variant));
  std::vector<Sha256Digest> all(bindings.world->ranks());
  world::all_gather(*bindings.world->communicator(), {"the tuned records", "the tuned records"},
                    sizeof(own), reinterpret_cast<const char*>(own.data()),
                    reinterpret_cast<char*>(all.front().data()));
  return std::ranges::all_of(all, [&](const Sha256Digest& each) { return each == own; });
}

}  // namespace

std::optional<TuneRecord> take_tuned(const ProgramFile& file, const Device& device,
                                     const Bindings& bindings, const TunedChoice& choice,
                                     PrepareOptions& options) {
  if (choice.untuned) return std::nullopt;
  std::optional<TuneRecord> record =
      file.bundle ? find_tuned(*file.bundle, device, bindings, options.load())
                  : find_tuned(file.program, device, bindings, options.load());
  const bool is_accepted = record && record->accepted;
  if (!all_have(bindings, is_accepted ? &*record : nullptr) || !is_accepted) return std::nullopt;
  // A record was measured with one executor, and says nothing of the other.
  if (choice.fixed_executor && record->variant.executor != options.executor) return std::nullopt;
  options.executor = record->variant.executor;
  return record;
}

std::string gain_text(const TuneRecord& record) {
  return fmt::format("{:.1f} % {} {}", 100 * std::abs(1 - record.ratio.ratio),
                     record.ratio.ratio < 1 ? "less" : "more",
                     record.cost == "seconds" ? "time" : record.cost);
}

}  // namespace baton::tools
