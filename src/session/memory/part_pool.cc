#include "session/memory/part_pool.h"

#include "base/error.h"

namespace baton {
namespace {

std::shared_ptr<const SharedParts> make_parts(const Device& device,
                                              const std::vector<std::uint32_t>& sizes) {
  auto made = std::make_shared<SharedParts>();
  std::vector<std::uint32_t> asked;
  for (const std::uint32_t size : sizes) {
    auto& number = made->numbers.emplace_back();
    if (size == 0) continue;
    number = static_cast<std::uint32_t>(asked.size());
    asked.push_back(size);
  }
  if (!asked.empty()) made->parts = split_sms(device, asked);
  for (const SmPart& part : made->parts) made->streams.emplace_back(part);
  return made;
}

}  // namespace

std::vector<std::uint32_t> part_sizes(const bind::Plan& plan,
                                      std::span<const std::int64_t> symbols) {
  std::vector<std::uint32_t> sizes;
  for (const bind::PlannedPart& part : plan.parts) {
    const std::int64_t size = part.sms.evaluate(symbols);
    if (size < 0 || size > UINT32_MAX) {
      throw error_at(part.where, ErrorCode::kInvalidInput,
                     "sms = {} is {}{}; a part of the SMs has from 1 to {}, and 0 means all",
                     part.sms.code().text, size, part.sms.values_text(symbols), UINT32_MAX);
    }
    sizes.push_back(static_cast<std::uint32_t>(size));
  }
  return sizes;
}

std::vector<SmPartReport> part_reports(const std::shared_ptr<const SharedParts>& parts,
                                       const bind::Tape& tape, std::uint32_t launches) {
  std::vector<SmPartReport> reports;
  if (parts == nullptr) return reports;
  for (const SmPart& part : parts->parts) reports.push_back({part.asked(), part.sms(), {}});
  for (std::uint32_t number = 0; number < launches; ++number) {
    const std::optional<std::uint32_t> part = tape.site(number).part_number;
    if (part) reports[*part].launches.push_back(number);
  }
  return reports;
}

std::shared_ptr<const SharedParts> PartPool::take(const Device& device, const bind::Plan& plan,
                                                  std::span<const std::int64_t> symbols) {
  if (plan.parts.empty()) return nullptr;
  std::vector<std::uint32_t> sizes = part_sizes(plan, symbols);
  std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  const auto found = known_.find(sizes);
  if (found != known_.end()) {
    if (auto parts = found->second.lock()) return parts;
  }
  try {
    auto parts = make_parts(device, sizes);
    known_[std::move(sizes)] = parts;
    return parts;
  } catch (Error& failure) {
    failure.at(plan.parts.front().where);
    for (std::size_t i = 0; i < plan.parts.size(); ++i) {
      const bind::PlannedPart& part = plan.parts[i];
      if (sizes[i] == 0) continue;
      failure.note(fmt::format("{}: sms = {}{}, {}", part.where.to_string(), part.sms.code().text,
                               part.sms.values_text(symbols),
                               part.lane == 0 ? std::string("among the steps in order")
                                              : fmt::format("in a branch (lane {})", part.lane)));
    }
    throw;
  }
}

}  // namespace baton
