#include "bind/accessible.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "base/array/array.h"

namespace baton::bind {
namespace {

using Range = driver::LaunchNote::Range;

// "view W + 256 (64 elements of f32 [4, 256])".
std::string view_title(const BoundBuffer& buffer, const ArgumentPart::Range& view) {
  const ProgramBuffer& definition = *buffer.definition;
  const std::uint64_t first = view.offset / buffer.element_size();
  const std::uint64_t count = view.bytes / buffer.element_size();
  return fmt::format("view {}{} ({} element{} of {} {})", definition.name,
                     first == 0 ? std::string() : fmt::format(" + {}", first), count,
                     count == 1 ? "" : "s", to_string(definition.dtype), shape_text(buffer.shape));
}

// The views of a buffer by which a launch is given it; nothing where it is also given the whole.
std::optional<std::vector<Range>> views_of(const PlannedLaunch& launch, std::uint32_t index,
                                           std::span<const std::int64_t> slots,
                                           const BufferTable& buffers) {
  const BoundBuffer& buffer = buffers[index];
  std::vector<Range> views;
  for (const PlannedArgument& argument : launch.args) {
    for (const PlannedArgument::Part& part : argument.parts()) {
      if (part.value.buffer() != index) continue;
      const auto view = part.value.view(slots, buffers);
      if (!view) return std::nullopt;
      views.push_back({buffer.address() + view->offset, view->bytes, view_title(buffer, *view)});
    }
  }
  return views;
}

}  // namespace

std::vector<Range> accessible_ranges(const PlannedLaunch& launch,
                                     std::span<const std::int64_t> slots,
                                     const BufferTable& buffers) {
  std::vector<Range> ranges;
  for (const std::uint32_t index : launch.buffers) {
    const BoundBuffer& buffer = buffers[index];
    if (auto views = views_of(launch, index, slots, buffers)) {
      for (Range& view : *views) ranges.push_back(std::move(view));
    } else if (buffer.given || (buffer.from_allocator && buffer.bytes != 0)) {
      ranges.push_back({buffer.address(), buffer.bytes, title_of(buffer)});
    }
  }
  return ranges;
}

}  // namespace baton::bind
