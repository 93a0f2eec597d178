#include "bind/tape.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace baton::bind {
namespace {

// LaunchPlan's own alignment of arguments: tensor maps need 128 bytes, everything else at most 16.
constexpr std::size_t kMapAlignment = 128;
constexpr std::size_t kAlignment = 16;

std::size_t alignment_of(std::uint32_t size) {
  return size != 0 && size % kMapAlignment == 0 ? kMapAlignment : kAlignment;
}

LaunchAttribute attribute_of(PlannedEvent::Kind kind, const Event& event) {
  switch (kind) {
    case PlannedEvent::Kind::kProgrammatic:
      return programmatic_event(event);
    case PlannedEvent::Kind::kLaunchCompletion:
      return launch_completion_event(event);
  }
  throw error(ErrorCode::kInternal, "unknown kind of event {}", static_cast<int>(kind));
}

// The config of a form as it is sent: with the decision, and with PDL if programmatic.
LaunchConfig sent_config(const LaunchConfig& config, const LaunchSite& site, bool programmatic) {
  const LaunchDecision& decision = site.decision;
  LaunchConfig sent = config;
  for (const LaunchAttribute& event : site.events) sent.attributes.set(event);
  sent.shared = std::max(sent.shared, decision.least_shared);
  if (decision.carveout) {
    sent.attributes.set(preferred_shared_memory_carveout(*decision.carveout));
  }
  // The judge of edges has decided, also about kernels that never wait.
  if (programmatic) {
    sent.attributes.set(pdl());
    sent.force_pdl = true;
  }
  return sent;
}

}  // namespace

// Hands out memory that stays where it is until the arena ends.
class Tape::Arena {
 public:
  void* allocate(std::size_t size, std::size_t alignment) {
    std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
    if (chunks_.empty() || begin + size > size_) {
      size_ = std::max(kChunk, size);
      // Chunks begin at a multiple of the largest alignment.
      chunks_.emplace_back(
          static_cast<std::byte*>(::operator new (size_, std::align_val_t{kMapAlignment})));
      begin = 0;
    }
    used_ = begin + size;
    return chunks_.back().get() + begin;
  }

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 16;
  struct Free {
    void operator()(std::byte* chunk) const {
      ::operator delete (chunk, std::align_val_t{kMapAlignment});
    }
  };
  std::vector<std::unique_ptr<std::byte, Free>> chunks_;
  std::size_t size_ = 0, used_ = 0;  // of the newest chunk
};

Tape::Tape(const Plan& plan, std::vector<std::int64_t> symbols)
    : slots_(std::move(symbols)),
      symbols_(slots_.size()),
      has_conditions_(plan.conditions != 0),
      lanes_(plan.lanes),
      events_(plan.events),
      collectives_(plan.leaves),
      sites_(plan.launches),
      arena_(std::make_unique<Arena>()) {
  slots_.resize(plan.slots);
}

Tape::Tape(Tape&&) noexcept = default;
Tape& Tape::operator=(Tape&&) noexcept = default;
Tape::~Tape() = default;

void** Tape::allocate_arguments(const PlannedLaunch& launch, std::span<const std::uint32_t> own,
                                void* const* base) {
  const std::size_t count = launch.args.size();
  auto** const pointers = static_cast<void**>(
      arena_->allocate(std::max<std::size_t>(count, 1) * sizeof(void*), alignof(void*)));
  if (base != nullptr) std::copy(base, base + count, pointers);
  for (const std::uint32_t index : own) {
    const std::uint32_t size = launch.args[index].size();
    pointers[index] = arena_->allocate(std::max(size, 1u), alignment_of(size));
  }
  return pointers;
}

std::uint32_t Tape::save(Slots slots) {
  if (saved_.empty() || !std::ranges::equal(saved_.back(), slots)) {
    saved_.emplace_back(slots.begin(), slots.end());
  }
  return static_cast<std::uint32_t>(saved_.size() - 1);
}

void Tape::write_argument(const PlannedArgument& argument, Slots slots, const BufferTable& buffers,
                          void* target) {
  argument.write(slots, buffers, static_cast<std::byte*>(target));
  for (const PlannedArgument::Part& part : argument.parts()) {
    if (!part.value.buffer()) continue;
    std::byte* const place = static_cast<std::byte*>(target) + part.position;
    const std::uint32_t buffer = *part.value.buffer();
    if (relocations_.size() <= buffer) relocations_.resize(buffers.size());
    if (part.value.is_tensor_map()) {
      relocations_[buffer].push_back({&part.value, place, 0, save(slots)});
    } else {
      // A buffer without memory has the address 0.
      std::uint64_t address = 0;
      std::memcpy(&address, place, sizeof(address));
      relocations_[buffer].push_back({&part.value, place, address - buffers[buffer].address(), 0});
    }
  }
}

void Tape::relocate(const Relocation& relocation) const {
  const ArgumentPart& part = *relocation.part;
  if (part.is_tensor_map()) {
    return part.write(saved_[relocation.slots], *buffers_, relocation.target);
  }
  const std::uint64_t address = (*buffers_)[*part.buffer()].address() + relocation.offset;
  std::memcpy(relocation.target, &address, sizeof(address));
}

bool Tape::can_move(std::uint32_t buffer) const {
  for (const LaunchSite& site : sites_) {
    if (site.launch == nullptr) continue;
    if (std::ranges::any_of(site.launch->attributes, &PlannedAttribute::has_address)) return false;
  }
  return buffer >= relocations_.size() ||
         std::ranges::none_of(relocations_[buffer], [](const Relocation& relocation) {
           return relocation.part->is_tensor_map();
         });
}

// The offset of a relocation is the one of the first values, and symbols may have changed since.
void Tape::move_buffer(std::uint32_t buffer, std::uint64_t distance) {
  if (buffer >= relocations_.size()) return;
  for (const Relocation& relocation : relocations_[buffer]) {
    std::uint64_t address = 0;
    std::memcpy(&address, relocation.target, sizeof(address));
    address += distance;
    std::memcpy(relocation.target, &address, sizeof(address));
  }
}

void Tape::settle(const BufferTable& buffers, std::span<const LaunchDecision> decisions,
                  std::span<const Stream> parts) {
  buffers_ = &buffers;
  has_stream_ = false;
  for (const std::vector<Relocation>& list : relocations_) {
    for (const Relocation& relocation : list) relocate(relocation);
  }
  for (std::size_t number = 0; number < sites_.size(); ++number) {
    LaunchSite& site = sites_[number];
    site.decision = decisions[number];
    if (site.part_number) site.part = parts[*site.part_number];
    for (LaunchForm& form : site.forms) settle(site, form);
  }
}

void Tape::settle(LaunchSite& site, LaunchForm& form) {
  if (!form.config) return;  // every execution has an empty grid
  // An attribute may hold the address of a buffer.
  for (const PlannedAttribute& attribute : site.launch->attributes) {
    form.config->attributes.set(attribute.evaluate(form.slots, *buffers_));
  }
  const bool early = site.decision.early && site.follows_launch;
  if (early) form.early = make_plan(site, form, true);
  if (!early || site.follows_other) form.full = make_plan(site, form, false);
}

void change_config(const LaunchSite& site, LaunchForm& form, const LaunchConfig& config) {
  form.config = config;
  const auto update = [&](std::optional<LaunchPlan>& plan, bool programmatic) {
    if (!plan) return;
    LaunchConfig sent = sent_config(config, site, programmatic);
    sent.stream = plan->config().stream;
    plan->set_config(sent);
  };
  update(form.full, false);
  update(form.early, true);
}

void Tape::set_events(std::span<const Event> events) {
  if (events_ == 0) return;
  for (LaunchSite& site : sites_) {
    if (site.launch == nullptr || site.launch->events.empty()) continue;
    site.events.clear();
    if (!events.empty()) {
      for (const PlannedEvent& event : site.launch->events) {
        site.events.push_back(attribute_of(event.kind, events[event.number]));
      }
    }
    for (LaunchForm& form : site.forms) {
      if (form.config) change_config(site, form, LaunchConfig(*form.config));
    }
  }
}

// The plan's own arguments are placeholders: executions bring theirs.
LaunchPlan Tape::make_plan(const LaunchSite& site, const LaunchForm& form,
                           bool programmatic) const {
  const std::vector<PlannedArgument>& args = site.launch->args;
  std::size_t largest = 0;
  for (const PlannedArgument& arg : args) largest = std::max<std::size_t>(largest, arg.size());
  const std::vector<std::byte> zeros(largest);
  std::vector<Argument> arguments;
  for (const PlannedArgument& arg : args) {
    const ArgumentType type = arg.type();
    arguments.push_back({zeros.data(), type.size, type.pointer, type.dtype});
  }
  LaunchConfig sent = sent_config(*form.config, site, programmatic);
  if (site.part) sent.stream = *site.part;
  return LaunchPlan(site.launch->kernel, sent, arguments);
}

void Tape::set_symbols(std::span<const std::int64_t> symbols) {
  std::ranges::copy(symbols, slots_.begin());
}

void Tape::set_stream(const Stream& stream, std::span<const Stream> lanes) {
  if (has_stream_ && stream.native() == stream_) return;
  for (LaunchSite& site : sites_) {
    if (site.launch == nullptr || site.part) continue;
    const std::uint32_t lane = site.launch->lane;
    const Stream& own = lane == 0 ? stream : lanes[lane - 1];
    for (LaunchForm& form : site.forms) {
      if (form.full) form.full->set_stream(own);
      if (form.early) form.early->set_stream(own);
    }
  }
  stream_ = stream.native();
  has_stream_ = true;
}

void Tape::patch(TapeLaunch& launch, Slots slots) {
  const PlannedLaunch& planned = *launch.site->launch;
  LaunchForm* const own = launch.site->patched;
  if (planned.config_varies || launch.form == nullptr) {
    LaunchValues values = evaluate(planned, slots, *buffers_);
    launch.form = values.skipped ? nullptr : own;
    if (values.skipped) return;
    if (!same_config(*own->config, values.config)) {
      change_config(*launch.site, *own, values.config);
    }
  }
  for (const std::uint32_t index : planned.varying_args) {
    planned.args[index].write(slots, *buffers_, static_cast<std::byte*>(launch.arguments[index]));
  }
}

std::uint64_t Tape::count(const TapeLoop& loop, Slots slots) const {
  return loop.patched ? evaluate(*loop.group, slots) : loop.count;
}

void Tape::patch(TapeCondition& condition, Slots slots) const {
  condition.values = evaluate(condition.group->test, slots, *buffers_);
}

}  // namespace baton::bind
