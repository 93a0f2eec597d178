#include "tools/tuned_program.h"

#include <fmt/core.h>

#include <cmath>

namespace baton::tools {

std::optional<TuneRecord> take_tuned(const ProgramFile& file, const Device& device,
                                     const Bindings& bindings, const TunedChoice& choice,
                                     PrepareOptions& options) {
  if (choice.untuned) return std::nullopt;
  std::optional<TuneRecord> record =
      file.bundle ? find_tuned(*file.bundle, device, bindings, options.load())
                  : find_tuned(file.program, device, bindings, options.load());
  if (!record || !record->accepted) return std::nullopt;
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
