#include "bind/steps/epilogue.h"

#include "base/error.h"

namespace baton::bind {
namespace {

// The kernels count elements of a row in 32 bits.
constexpr std::int64_t kMostOfRow = std::int64_t{1} << 30;

PlannedEpilogue::Place plan_place(const BufferOffset& place, const NameSlots& names,
                                  const BufferTable& buffers) {
  return {buffer_index(buffers, place.buffer), bind_expression(place.offset, names)};
}

// The offset of `count` elements in bytes.
std::uint64_t place_of(const PlannedEpilogue::Place& place, std::string_view key, Slots slots,
                       const BufferTable& buffers, std::int64_t count) {
  const BoundBuffer& buffer = buffers[place.buffer];
  const std::int64_t offset = place.offset ? place.offset->evaluate(slots) : 0;
  if (offset < 0 || offset > buffer.elements || count > buffer.elements - offset) {
    throw error(ErrorCode::kInvalidInput,
                "{} of the all_reduce takes {} elements of {} from element {} on, and there are {} "
                "in all",
                key, count, buffer.definition->name, offset, buffer.elements);
  }
  return static_cast<std::uint64_t>(offset) * buffer.element_size();
}

std::int64_t row_of(const BoundBuffer& weight, std::int64_t count) {
  const std::int64_t row = weight.shape.back();
  if (row > kMostOfRow) {
    throw error(ErrorCode::kLimit,
                "rms_norm of the all_reduce has rows of {} elements, the last dimension of {}; the "
                "limit is {}",
                row, weight.definition->name, kMostOfRow);
  }
  if (count == 0 || (row != 0 && count % row == 0)) return row;
  throw error(
      ErrorCode::kInvalidInput,
      "rms_norm of the all_reduce divides {} elements into rows of {}, the last dimension of "
      "{}, and some are left over",
      count, row, weight.definition->name);
}

}  // namespace

bool PlannedEpilogue::uses_buffer(std::uint32_t buffer) const {
  return (add && add->buffer == buffer) ||
         (norm && (norm->weight.buffer == buffer || norm->to.buffer == buffer));
}

PlannedEpilogue plan_epilogue(const CollectiveStep& step, const NameSlots& names,
                              const BufferTable& buffers) {
  PlannedEpilogue planned;
  if (step.add) planned.add = plan_place(*step.add, names, buffers);
  if (step.rms_norm) {
    planned.norm = PlannedEpilogue::Norm{plan_place(step.rms_norm->weight, names, buffers),
                                         plan_place(step.rms_norm->to, names, buffers),
                                         static_cast<float>(step.rms_norm->epsilon)};
  }
  return planned;
}

std::string label_of_epilogue(const CollectiveStep& step) {
  std::string label;
  if (step.add) label += ", add " + place_text(*step.add);
  if (step.rms_norm) label += ", rms_norm to " + place_text(step.rms_norm->to);
  return label;
}

bool uses_slot(const PlannedEpilogue& epilogue, std::size_t slot) {
  return (epilogue.add && uses_slot(epilogue.add->offset, slot)) ||
         (epilogue.norm && (uses_slot(epilogue.norm->weight.offset, slot) ||
                            uses_slot(epilogue.norm->to.offset, slot)));
}

PlannedEpilogue::Values evaluate(const PlannedEpilogue& epilogue, Slots slots,
                                 const BufferTable& buffers, std::int64_t count) {
  PlannedEpilogue::Values values;
  if (epilogue.add) values.add = place_of(*epilogue.add, "add", slots, buffers, count);
  if (const auto& norm = epilogue.norm) {
    const std::int64_t row = row_of(buffers[norm->weight.buffer], count);
    values.row = static_cast<std::uint64_t>(row);
    values.weight = place_of(norm->weight, "weight of rms_norm", slots, buffers, row);
    values.to = place_of(norm->to, "to of rms_norm", slots, buffers, count);
  }
  return values;
}

std::string content_text(const PlannedEpilogue& epilogue, const PlannedEpilogue::Values& values) {
  std::string text = epilogue.add ? ", add" : "";
  if (epilogue.norm) {
    text +=
        fmt::format(", rms_norm of rows of {} with epsilon {}", values.row, epilogue.norm->epsilon);
  }
  return text;
}

}  // namespace baton::bind
