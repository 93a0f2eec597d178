#include "session/run/non_finite.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "base/array/array.h"
#include "base/array/float_convert.h"
#include "base/array/non_finite.h"
#include "program/buffer_roles.h"

namespace baton {
namespace {

std::string text_of(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

// The first and the number of the elements that are not finite and that `before` has otherwise.
std::optional<NonFiniteReport> changed(const Array& now, const Array* before) {
  NonFiniteReport report;
  const std::size_t size = size_of(now.dtype);
  for_each_non_finite(now, [&](std::size_t element, std::uint64_t bits) {
    const std::size_t at = element * size;
    if (before != nullptr &&
        std::memcmp(before->bytes.data() + at, now.bytes.data() + at, size) == 0) {
      return;
    }
    if (report.count++ != 0) return;
    report.index = index_of(static_cast<std::int64_t>(element), now.shape);
    report.value = text_of(decode_float(now.dtype, bits));
  });
  if (report.count == 0) return std::nullopt;
  return report;
}

// Whether something gives the buffer contents before the first step.
bool starts_with_contents(const bind::BoundBuffer& buffer) {
  const ProgramBuffer& definition = *buffer.definition;
  return definition.init != BufferInit::kNone || definition.variable || buffer.given ||
         facts_of(definition.role).needs_contents;
}

}  // namespace

std::vector<std::string> NonFiniteSearch::begin() {
  std::vector<std::string> warnings;
  seen_.assign(table_.size(), std::nullopt);
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const ProgramBuffer& definition = *table_[i].definition;
    if (!is_float(definition.dtype) || table_[i].bytes == 0) continue;
    Seen& seen = seen_[i].emplace(Seen{download_(i), true});
    if (!starts_with_contents(table_[i])) continue;
    const auto found = changed(seen.before, nullptr);
    if (!found) continue;
    seen.is_finite = false;
    warnings.push_back(fmt::format(
        "the buffer {} starts with {} at {}, in {} of {} elements; what steps make of it is not "
        "searched for",
        definition.name, found->value, shape_text(found->index), found->count, table_[i].elements));
  }
  return warnings;
}

std::vector<std::uint32_t> NonFiniteSearch::buffers_of(const bind::PlannedStep& step) const {
  std::set<std::uint32_t> buffers;
  if (const auto* launch = std::get_if<bind::PlannedLaunch>(&step.action)) {
    buffers.insert(launch->buffers.begin(), launch->buffers.end());
    // Kernels use variables by their names.
    for (std::uint32_t i = 0; i < table_.size(); ++i) {
      if (table_[i].definition->variable) buffers.insert(i);
    }
  } else if (const auto* copy = std::get_if<bind::PlannedCopy>(&step.action)) {
    buffers = {copy->from, copy->to};
  } else if (const auto* fill = std::get_if<bind::PlannedFill>(&step.action)) {
    buffers = {fill->buffer};
  } else if (const auto* collective = std::get_if<bind::PlannedCollective>(&step.action)) {
    for (std::uint32_t i = 0; i < table_.size(); ++i) {
      if (i == collective->from || i == collective->to || collective->epilogue.uses_buffer(i)) {
        buffers.insert(i);
      }
    }
  }
  std::erase_if(buffers, [this](std::uint32_t buffer) { return !seen_[buffer]; });
  return {buffers.begin(), buffers.end()};
}

std::optional<NonFiniteReport> NonFiniteSearch::compare(std::uint32_t buffer, Array now) {
  Seen& seen = *seen_[buffer];
  auto found = changed(now, &seen.before);
  if (found) {
    found->buffer = table_[buffer].definition->name;
    seen.is_finite = false;
  }
  seen.before = std::move(now);
  return found;
}

std::optional<NonFiniteReport> NonFiniteSearch::look(const bind::PlannedStep& step) {
  const std::vector<std::uint32_t> buffers = buffers_of(step);
  bool was_finite = true;
  for (const std::uint32_t buffer : buffers) was_finite = was_finite && seen_[buffer]->is_finite;
  std::optional<NonFiniteReport> first;
  for (const std::uint32_t buffer : buffers) {
    // Only the setup writes a weight.
    if (facts_of(table_[buffer].definition->role).is_constant) continue;
    auto found = compare(buffer, download_(buffer));
    if (found && !first) first = std::move(found);
  }
  if (!was_finite) return std::nullopt;
  return first;
}

}  // namespace baton
