#include "bind/binder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "bind/evaluate.h"
#include "launch/attribute_table.h"

namespace baton::bind {
namespace {

// Longer groups become loops. A step of the tape takes 64 bytes, its arguments some more.
constexpr std::uint64_t kMostUnrolled = std::uint64_t{1} << 16;
// A form takes some KiB.
constexpr std::uint64_t kMostForms = std::uint64_t{1} << 12;
// Forms of a launch that are compared with a new config.
constexpr std::size_t kNewestForms = 16;

std::uint64_t leaves(const std::vector<PlannedStep>& steps) {
  std::uint64_t count = 0;
  for (const PlannedStep& step : steps) {
    const auto* inner = inner_steps(step);
    count += inner == nullptr ? 1 : leaves(*inner) + 1;
  }
  return count;
}

bool config_varies(const std::vector<PlannedStep>& steps) {
  return std::ranges::any_of(steps, [](const PlannedStep& step) {
    if (const auto* inner = inner_steps(step)) return config_varies(*inner);
    const auto* launch = std::get_if<PlannedLaunch>(&step.action);
    return launch != nullptr && launch->config_varies;
  });
}

// The attribute that records an event, to be checked alone: the events are made later.
LaunchAttribute some_event(PlannedEvent::Kind kind) {
  const bool is_programmatic = kind == PlannedEvent::Kind::kProgrammatic;
  launch::AttributeBuilder builder(
      *launch::find_row(is_programmatic ? "programmatic_event" : "launch_completion_event"));
  builder.set("event", std::int64_t{1});
  return builder.build();
}

class Binder {
 public:
  Binder(const Plan& plan, const std::vector<std::int64_t>& symbols, const BufferTable& buffers,
         LaunchObserver& observer, const PartStreams& parts, const PeerChoice& peers)
      : plan_(plan),
        buffers_(buffers),
        observer_(observer),
        parts_(parts),
        peers_(peers),
        result_{Tape(plan, symbols), 0, std::vector<bool>(buffers.size()),
                std::vector<LaunchUse>(plan.launches)},
        slots_(result_.tape.slots()),
        sites_(plan.launches) {
    result_.tape.set_peers(peers);
  }

  BoundSteps bind() {
    walk(plan_.steps, &result_.tape.steps);
    return std::move(result_);
  }

 private:
  using Steps = std::vector<TapeStep>;

  // What is kept of a launch from one execution to the next.
  struct Site {
    std::optional<LaunchValues>
        values;                       // of the last execution; evaluated once if they do not vary
    void** arguments = nullptr;       // bytes of varying ones are overwritten by each execution
    bool is_packed = false;           // those that do not vary
    std::vector<BufferPlace> places;  // by parameter, of the last execution
    std::optional<LaunchConfig> checked;
    bool checked_early = false;  // with PDL
  };

  template <typename Work>
  void located(const PlannedStep& step, bool with_indexes, Work&& work) const {
    try {
      work();
    } catch (Error& failure) {
      failure.at(step.source->where);
      const std::string values = with_indexes ? indexes_text(step, slots_) : std::string();
      if (!values.empty()) failure.note("with " + values);
      throw;
    }
  }

  // `out`: where the tape continues; null while iterations are only checked.
  void walk(const std::vector<PlannedStep>& steps, Steps* out) {
    for (const PlannedStep& step : steps) {
      std::visit([&](const auto& action) { walk(action, step, out); }, step.action);
    }
  }

  template <typename Action>
  void walk(const Action& action, const PlannedStep& step, Steps* out) {
    located(step, true, [&] {
      add(1);
      visit(action, step, out);
    });
  }
  void walk(const PlannedCollective& collective, const PlannedStep& step, Steps* out) {
    if (is_absent(collective, slots_)) return note_written(collective, {});
    located(step, true, [&] {
      add(1);
      visit(collective, step, out);
    });
  }
  void walk(const PlannedRepeat& group, const PlannedStep& step, Steps* out) {
    std::uint64_t count = 0;
    located(step, true, [&] { count = evaluate(group, slots_); });
    located(step, false, [&] { repeat(group, step, count, out); });
  }
  // Nothing overlaps a test, so that what holds for one execution of the steps holds for all.
  void walk(const PlannedCondition& group, const PlannedStep& step, Steps* out) {
    TapeCondition condition{&group, {}, false, {}};
    located(step, true, [&] { condition.values = evaluate(group.test, slots_, buffers_); });
    pass_other();
    const std::uint32_t tested = group.test.buffer;
    observer_.access(step, tested, 0, buffers_[tested].element_size(), false);
    walk(group.steps, out == nullptr ? nullptr : &condition.steps);
    pass_other();
    if (out != nullptr) out->push_back({&step, std::move(condition)});
  }

  // Nothing overlaps where branches begin and end.
  void walk(const PlannedParallel& group, const PlannedStep& step, Steps* out) {
    TapeParallel parallel{&group, {}};
    observer_.fork(step);
    walk(group.steps, out == nullptr ? nullptr : &parallel.steps);
    pass_other();
    observer_.join();
    if (out != nullptr) out->push_back({&step, std::move(parallel)});
  }
  void walk(const PlannedBranch& group, const PlannedStep& step, Steps* out) {
    TapeBranch branch{&group, {}};
    pass_other();
    observer_.branch();
    walk(group.steps, out == nullptr ? nullptr : &branch.steps);
    if (out != nullptr) out->push_back({&step, std::move(branch)});
  }

  // The next launch comes after something that is not a launch.
  void pass_other() {
    before_ = Before::kOther;
    observer_.other();
  }

  void iterate(const PlannedRepeat& group, std::uint64_t index, Steps* out) {
    slots_[group.slot] = static_cast<std::int64_t>(index);
    add_iterations();
    walk(group.steps, out);
  }

  void repeat(const PlannedRepeat& group, const PlannedStep& step, std::uint64_t count,
              Steps* out) {
    if (count == 0) return;
    if (!group.varies) return repeat_alike(group, step, count, out);
    const bool unrolled = out != nullptr && can_unroll(group, count);
    const bool outer = in_patched_;
    if (out != nullptr && !unrolled) {
      out->push_back(patched_loop(group, step));
      in_patched_ = true;
    }
    // Iterations count too: a group may hold only groups that do not run.
    for (std::uint64_t index = 0; index < count; ++index) {
      if (unrolled) {
        out->push_back({&step, TapeIndex{group.slot, static_cast<std::int64_t>(index)}});
      }
      iterate(group, index, unrolled ? out : nullptr);
    }
    in_patched_ = outer;
  }

  // All iterations do the same.
  void repeat_alike(const PlannedRepeat& group, const PlannedStep& step, std::uint64_t count,
                    Steps* out) {
    // The first iteration follows the step before the group, the others their own last step.
    TapeLoop loop{&group, count, false, {}};
    iterate(group, 0, out != nullptr ? &loop.steps : nullptr);
    if (out != nullptr) out->push_back({&step, std::move(loop)});
    if (count == 1) return;
    const std::uint64_t outer = times_;
    if (__builtin_mul_overflow(times_, count - 1, &times_)) times_ = UINT64_MAX;
    iterate(group, 1, nullptr);
    times_ = 0;
    if (count > 2 && observer_.looks_further_back()) iterate(group, 2, nullptr);
    times_ = outer;
  }

  bool can_unroll(const PlannedRepeat& group, std::uint64_t count) {
    const std::uint64_t each = leaves(group.steps) + 1;
    if (count > (kMostUnrolled - std::min(kMostUnrolled, unrolled_)) / each) return false;
    if (config_varies(group.steps) && count > kMostForms / each) return false;
    unrolled_ += count * each;
    return true;
  }

  // The steps of a group as they are, each evaluated anew in each iteration.
  TapeStep patched_loop(const PlannedRepeat& group, const PlannedStep& step) {
    return {&step, TapeLoop{&group, 0, true, patched(group.steps)}};
  }

  Steps patched(const std::vector<PlannedStep>& steps) {
    Steps result;
    for (const PlannedStep& step : steps) {
      const auto* collective = std::get_if<PlannedCollective>(&step.action);
      if (collective != nullptr && is_absent(*collective, slots_)) continue;
      const auto* launch = std::get_if<PlannedLaunch>(&step.action);
      if (launch != nullptr) begin_events(*launch, step, &result);
      result.push_back(
          std::visit([&](const auto& action) { return patched(action, step); }, step.action));
      if (launch != nullptr) end_events(*launch, step, &result);
    }
    return result;
  }

  TapeStep patched(const PlannedLaunch& launch, const PlannedStep& step) {
    LaunchSite& site = result_.tape.site(launch.number);
    site.launch = &launch;
    if (site.patched == nullptr) site.patched = &site.forms.emplace_back();
    return {&step, TapeLaunch{&site, nullptr, own_arguments(launch), true}};
  }
  TapeStep patched(const PlannedRepeat& group, const PlannedStep& step) {
    return patched_loop(group, step);
  }
  TapeStep patched(const PlannedCondition& group, const PlannedStep& step) {
    return {&step, TapeCondition{&group, {}, true, patched(group.steps)}};
  }
  TapeStep patched(const PlannedParallel& group, const PlannedStep& step) {
    return {&step, TapeParallel{&group, patched(group.steps)}};
  }
  TapeStep patched(const PlannedBranch& group, const PlannedStep& step) {
    return {&step, TapeBranch{&group, patched(group.steps)}};
  }
  template <typename Move>
  TapeStep patched(const Move& move, const PlannedStep& step) {
    return {&step, TapeMove<Move>{&move, {}, true}};
  }

  // What orders a launch with those of other branches stands around it, so that other launches take
  // no time for it.
  static void begin_events(const PlannedLaunch& launch, const PlannedStep& step, Steps* out) {
    if (out != nullptr && !launch.after.empty()) out->push_back({&step, TapeAfter{&launch}});
  }
  static void end_events(const PlannedLaunch& launch, const PlannedStep& step, Steps* out) {
    if (out != nullptr && !launch.events.empty()) out->push_back({&step, TapeEvents{&launch}});
  }

  // The launch's own packed arguments, whose bytes no unrolled execution refers to if they vary.
  void** own_arguments(const PlannedLaunch& launch) {
    Site& site = sites_[launch.number];
    if (site.arguments == nullptr) {
      std::vector<std::uint32_t> all(launch.args.size());
      for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
      site.arguments = result_.tape.allocate_arguments(launch, all, nullptr);
      site.places.resize(launch.args.size());
    }
    return site.arguments;
  }

  void visit(const PlannedLaunch& launch, const PlannedStep& step, Steps* out) {
    if (!launch.after.empty()) pass_other();
    for (const PlannedEvent& event : launch.after) observer_.after(event);
    begin_events(launch, step, out);
    execute(launch, step, out);
    end_events(launch, step, out);
    for (const PlannedEvent& event : launch.events) observer_.record(event);
  }

  void execute(const PlannedLaunch& launch, const PlannedStep& step, Steps* out) {
    Site& site = sites_[launch.number];
    LaunchSite& tape_site = result_.tape.site(launch.number);
    tape_site.launch = &launch;
    tape_site.part_number = parts_.of(launch);
    const bool is_new = !site.values || launch.config_varies;
    if (is_new) site.values = evaluate(launch, slots_, buffers_);
    const LaunchValues& values = *site.values;
    check_edge(launch.edge, before_, step.group != nullptr);

    LaunchUse& use = result_.launches[launch.number];
    use.executions += times_;
    if (values.skipped) {
      use.skipped += times_;
      observer_.skip(launch, step, before_, tape_site.part_number);
      before_ = Before::kSkippedLaunch;
      if (out != nullptr) out->push_back({&step, TapeLaunch{&tape_site, nullptr, nullptr, false}});
      return;
    }
    void** const arguments = pack(launch, out != nullptr);
    const Before before = std::exchange(before_, Before::kLaunch);
    const bool early = observer_.launch(
        {launch, step, values.config, arguments, site.places, before, tape_site.part_number});
    check(launch, values.config, early);
    (before == Before::kLaunch ? tape_site.follows_launch : tape_site.follows_other) = true;
    if (is_new || !use.config) use.config = placed(launch, values.config);
    for (const PlannedArgument& arg : launch.args) {
      for (const PlannedArgument::Part& part : arg.parts()) {
        const ArgumentPart& value = part.value;
        if (value.buffer() && !value.read_only()) result_.written[*value.buffer()] = true;
      }
    }
    if (in_patched_ && !tape_site.patched->config) {
      give(*tape_site.patched, values.config);
    } else if (out != nullptr) {
      LaunchForm& form = form_of(tape_site, values.config);
      out->push_back({&step, TapeLaunch{&tape_site, &form, arguments, false}});
    }
  }

  // A copy, a fill or a collective.
  template <typename Move>
  void visit(const Move& move, const PlannedStep& step, Steps* out) {
    const typename Move::Values values = evaluate(move, slots_, buffers_);
    if (!pass_kernel(move, values, step)) pass_other();
    show(move, values, step);
    note_written(move, values);
    if (out != nullptr) out->push_back({&step, TapeMove<Move>{&move, values, false}});
  }

  // Whether a kernel between peers executes it, which is a launch for the steps around it.
  bool pass_kernel(const PlannedCollective& collective, const PlannedCollective::Values& values,
                   const PlannedStep& step) {
    if (!is_for_peers(collective, values, peers_)) return false;
    const Before before = std::exchange(before_, Before::kLaunch);
    const bool early = observer_.kernel({collective, step, values, before});
    if (before == Before::kLaunch) result_.tape.note_start(step.leaf, early);
    return true;
  }
  template <typename Move>
  static bool pass_kernel(const Move&, const typename Move::Values&, const PlannedStep&) {
    return false;
  }

  void show(const PlannedCopy& copy, const PlannedCopy::Values& values, const PlannedStep& step) {
    observer_.access(step, copy.from, values.from, values.bytes, false);
    observer_.access(step, copy.to, values.to, values.bytes, true);
  }
  void show(const PlannedFill& fill, const PlannedFill::Values&, const PlannedStep& step) {
    observer_.access(step, fill.buffer, 0, buffers_[fill.buffer].bytes, true);
  }

  void show(const PlannedCollective& collective, const PlannedCollective::Values& values,
            const PlannedStep& step) {
    for_each_access(collective, values, [&](const BufferAccess& access) {
      observer_.access(step, access.buffer, access.offset, access.bytes, access.writes);
    });
  }

  template <typename Move>
  void note_written(const Move& move, const typename Move::Values&) {
    result_.written[target_of(move)] = true;
  }
  // Some ranks write the buffer, so it counts as written by the program.
  void note_written(const PlannedCollective& collective, const PlannedCollective::Values&) {
    if (collective.facts().moves || collective.facts().writes) {
      result_.written[collective.to] = true;
    }
    if (const auto& norm = collective.epilogue.norm) result_.written[norm->to.buffer] = true;
  }

  // Packs the arguments of one execution; `kept`: those that vary into memory of its own.
  void** pack(const PlannedLaunch& launch, bool kept) {
    Site& site = sites_[launch.number];
    void** const own = own_arguments(launch);
    if (!site.is_packed) {
      for (std::uint32_t i = 0; i < launch.args.size(); ++i) {
        if (std::ranges::binary_search(launch.varying_args, i)) continue;
        result_.tape.write_argument(launch.args[i], slots_, buffers_, own[i]);
        note_place(launch.args[i], own[i], site.places[i]);
      }
      site.is_packed = true;
    }
    if (launch.varying_args.empty()) return own;
    void** const arguments =
        kept ? result_.tape.allocate_arguments(launch, launch.varying_args, own) : own;
    for (const std::uint32_t i : launch.varying_args) {
      const PlannedArgument& argument = launch.args[i];
      if (kept) {
        result_.tape.write_argument(argument, slots_, buffers_, arguments[i]);
      } else {
        argument.write(slots_, buffers_, static_cast<std::byte*>(arguments[i]));
      }
      note_place(argument, arguments[i], site.places[i]);
    }
    return arguments;
  }

  void note_place(const PlannedArgument& argument, const void* packed, BufferPlace& place) {
    const ArgumentPart* const single = argument.single();
    if (single == nullptr || !single->buffer()) return;
    if (single->is_tensor_map()) {
      place.offset = single->offset(slots_, buffers_);
      return;
    }
    std::memcpy(&place.offset, packed, sizeof(place.offset));
    place.offset -= buffers_[*single->buffer()].address();
    if (const auto view = single->view(slots_, buffers_)) place.bytes = view->bytes;
  }

  // The config in a stream of the launch's part of the SMs.
  LaunchConfig placed(const PlannedLaunch& launch, LaunchConfig config) const {
    if (const auto part = parts_.of(launch)) config.stream = parts_.streams[*part];
    return config;
  }

  // Checks a config unless the launch's last one was equal.
  void check(const PlannedLaunch& launch, const LaunchConfig& config, bool early) {
    Site& site = sites_[launch.number];
    const bool known =
        site.checked && (!launch.config_varies || same_config(*site.checked, config));
    if (known && (site.checked_early || !early)) return;
    site.checked = config;
    site.checked_early = early;
    LaunchConfig sent = placed(launch, config);
    if (!early && launch.events.empty()) return launch.kernel.check(sent);
    if (early) {
      sent.attributes.set(pdl());
      sent.force_pdl = true;  // the edges decide that
    }
    for (const PlannedEvent& event : launch.events) sent.attributes.set(some_event(event.kind));
    launch.kernel.check(sent);
  }

  // The form of an unrolled execution: one of the newest forms, or a new one.
  LaunchForm& form_of(LaunchSite& site, const LaunchConfig& config) {
    std::size_t looked_at = 0;
    for (auto form = site.forms.rbegin(); form != site.forms.rend(); ++form) {
      if (&*form != site.patched && same_config(*form->config, config)) return *form;
      if (++looked_at == kNewestForms) break;
    }
    LaunchForm& form = site.forms.emplace_back();
    give(form, config);
    return form;
  }

  void give(LaunchForm& form, const LaunchConfig& config) {
    form.config = config;
    form.slots = slots_;
  }

  void add(std::uint64_t steps) {
    std::uint64_t added = 0;
    if (__builtin_mul_overflow(steps, times_, &added) || added > kMaxRunSteps - result_.steps) {
      refuse();
    }
    result_.steps += added;
  }

  // Iterations count like steps: a run goes through empty ones, too.
  void add_iterations() {
    if (times_ > kMaxRunSteps - iterations_) refuse();
    iterations_ += times_;
  }

  [[noreturn]] static void refuse() {
    throw error(ErrorCode::kInvalidInput,
                "a run has more than {} steps, or iterations of its repeats; make them smaller",
                kMaxRunSteps);
  }

  const Plan& plan_;
  const BufferTable& buffers_;
  LaunchObserver& observer_;
  const PartStreams& parts_;
  const PeerChoice peers_;
  BoundSteps result_;
  std::vector<std::int64_t> slots_;
  std::vector<Site> sites_;  // by launch
  Before before_ = Before::kNothing;
  bool in_patched_ = false;  // inside a loop whose steps are patched
  std::uint64_t unrolled_ = 0;
  std::uint64_t times_ = 1;  // executions of the open groups that are gone through once
  std::uint64_t iterations_ = 0;
};

}  // namespace

BoundSteps bind_steps(const Plan& plan, const std::vector<std::int64_t>& symbols,
                      const BufferTable& buffers, LaunchObserver& observer,
                      const PartStreams& parts, const PeerChoice& peers) {
  return Binder(plan, symbols, buffers, observer, parts, peers).bind();
}

}  // namespace baton::bind
