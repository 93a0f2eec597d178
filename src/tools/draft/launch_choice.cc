#include "tools/draft/launch_choice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iterator>
#include <utility>
#include <vector>

#include "base/log.h"
#include "tools/draft/draft_text.h"

namespace baton::tools {
namespace {

using std::chrono::seconds;

// Processor time: the limits catch guesses with which a kernel goes astray.
constexpr seconds kScoutLimit{5};
constexpr seconds kTrialLimit{20};
// That of all trials of one kernel, after which no further guess is tried. Guesses that fit are
// found in a few seconds.
constexpr double kTrialsLimit = 20;
// The instructions of warps in a run of the draft, which its reader waits for: one or two seconds.
constexpr double kDraftInstructions = 16e6;

// The elements beyond a line that a kernel may access: those of a stencil, the last of the offsets
// of rows, or those of an error by one.
constexpr std::uint32_t kMostBeyond = 8;
// The elements of a table that a kernel accesses whatever its size is, such as the bins of a
// histogram of bytes.
constexpr std::int64_t kTables[] = {128, 256, 512, 1024};
// Below it a number of elements is that of a table, and no accident of random integers.
constexpr std::int64_t kMostOfTable = 90;
// The next multiple of any block is farther away than `kMostBeyond`. Random integers, which may be
// indexes, are smaller.
constexpr std::int64_t kOddElements = 101;

class LaunchChoice {
 public:
  LaunchChoice(const KernelFile& file, const std::filesystem::path& origin, DraftKernel& kernel,
               const std::function<void(std::size_t guess)>& tells)
      : file_(file), origin_(origin), kernel_(kernel), tells_(tells) {}

  std::optional<TrialFailure> make() {
    // A kernel that writes past its buffers with any other N takes multiples of its block. Buffers
    // of more than the blocks cover come last: most kernels run with them, and leave elements out.
    for (const bool has_more : {false, true}) {
      for (const bool has_bounds : {true, false}) {
        if (!try_guesses(has_more, has_bounds)) continue;
        log(LogLevel::kDebug, "kernel {}: a launch was found in {:.1f} s of processor time",
            kernel_.name, seconds_taken());
        return std::move(left_);
      }
    }
    log(LogLevel::kDebug, "kernel {}: no launch was found in {:.1f} s of processor time",
        kernel_.name, seconds_taken());
    kernel_.launch = kernel_.launches.front();
    kernel_.elements = 0;
    return std::move(first_);
  }

 private:
  // A guess, and what a small run with it showed.
  struct Scouted {
    const LaunchGuess* guess = nullptr;
    std::optional<Trial> trial = std::nullopt;
  };

  // Whether the buffers have more elements than the threads: each block, or each thread, goes
  // through several.
  static bool has_more_than_blocks(const LaunchGuess& guess) {
    if (guess.cover.blocks == BlockForm::kRows) return true;
    return guess.cover.blocks != BlockForm::kLine && axes_of(guess.cover.extent) > guess.axes;
  }

  // Chooses the first guess that runs to its end; false if there is none. Kernels with bounds of
  // their own run with any N.
  bool try_guesses(bool has_more, bool has_bounds) {
    has_bounds_ = has_bounds;
    std::vector<Scouted> guesses;
    for (const LaunchGuess& guess : kernel_.launches) {
      if (has_more_than_blocks(guess) == has_more) guesses.push_back({&guess});
    }
    std::optional<DraftKernel> second_best;
    std::vector<const LaunchGuess*> left;
    for (std::size_t i = 0; i < guesses.size() && !is_late(); ++i) {
      const Trial& look = scout(guesses[i]);
      if (look.reads_unwritten && !look.failure) {
        left.push_back(guesses[i].guess);
        continue;
      }
      const LaunchGuess* const better = better_than(guesses, i);
      if (better != nullptr && try_guess(*better, second_best)) return true;
      if (try_guess(*guesses[i].guess, second_best)) return true;
    }
    for (const LaunchGuess* guess : left) {
      if (second_best || is_late()) break;
      if (try_guess(*guess, second_best)) return true;
    }
    if (second_best) kernel_ = std::move(*second_best);
    return second_best.has_value();
  }

  // A small run: one with a wrong block may take long, as each read of unwritten memory is noted.
  const Trial& scout(Scouted& scouted) {
    if (!scouted.trial) {
      const LaunchGuess& guess = *scouted.guess;
      tells_(number_of(guess));
      const std::int64_t elements =
          has_bounds_ ? sides_of(guess.cover.extent).small : 2 * std::int64_t{granule_of(guess)};
      scouted.trial = try_kernel(file_, origin_, with(guess), elements, kScoutLimit);
    }
    return *scouted.trial;
  }

  // A later guess that differs by its block, with which the kernel writes all of its outputs; null
  // where the guess does so itself, or none does.
  const LaunchGuess* better_than(std::vector<Scouted>& guesses, std::size_t index) {
    const LaunchGuess& guess = *guesses[index].guess;
    const Trial& trial = scout(guesses[index]);
    if (trial.failure || !trial.leaves_out) return nullptr;
    for (std::size_t i = index + 1; i < guesses.size() && !is_late(); ++i) {
      const LaunchGuess& other = *guesses[i].guess;
      const bool is_alike = other.cover == guess.cover &&
                            other.shared * guess.threads() == guess.shared * other.threads();
      if (!is_alike) continue;
      const Trial& found = scout(guesses[i]);
      if (!found.failure && !found.reads_unwritten && !found.leaves_out) return &other;
    }
    return nullptr;
  }

  // Takes the guess if the kernel runs to its end with several values of N. One with which it reads
  // unwritten memory is only the second best.
  bool try_guess(const LaunchGuess& guess, std::optional<DraftKernel>& second_best) {
    tells_(number_of(guess));
    DraftKernel tried = with(guess);
    Trial trial;
    if (has_bounds_) trial = try_all(tried);
    if (trial.breaks_off() && trial.is_outside && (extend(tried) || fix_table(tried))) {
      trial = try_all(tried);
    }
    // A failure that goes on, such as a race, is of the kernel's code. N is still one whose run
    // its reader can wait for.
    if (trial.failure && !trial.breaks_off()) try_draft(tried);
    if (!trial.failure) {
      const bool unwritten = trial.reads_unwritten;
      trial = try_draft(tried);
      trial.reads_unwritten |= unwritten;
      // The trials ran to their end, so the guess fits a kernel that is slow.
      const bool is_slow = trial.failure && trial.failure->error.code() == ErrorCode::kTimeout;
      if (has_bounds_ && is_slow) trial.failure.reset();
    }
    if (trial.breaks_off()) {
      if (!first_) first_ = std::move(trial.failure);
      return false;
    }
    if (!trial.failure && trial.reads_unwritten) {
      if (!second_best) second_best = std::move(tried);
      return false;
    }
    kernel_ = std::move(tried);
    left_ = std::move(trial.failure);
    if (!left_ && has_bounds_) shrink(kernel_);
    return true;
  }

  DraftKernel with(const LaunchGuess& guess) const {
    DraftKernel tried = kernel_;
    tried.launch = guess;
    tried.multiple_of = has_bounds_ ? 1 : granule_of(guess);
    return tried;
  }

  // Whether the kernel stays inside of buffers that are a little longer than a line. It gets the
  // fewest elements more that suffice.
  bool extend(DraftKernel& kernel) const {
    if (kernel.launch.cover.extent != Extent::kLine) return false;
    const auto stays_inside = [&](std::uint32_t beyond) {
      kernel.beyond = beyond;
      return !try_kernel(file_, origin_, kernel, kOddElements, kScoutLimit).breaks_off();
    };
    std::uint32_t most = kMostBeyond;
    if (!stays_inside(most)) {
      kernel.beyond = 0;
      return false;
    }
    for (std::uint32_t least = 1; least < most;) {
      const std::uint32_t middle = (least + most) / 2;
      if (stays_inside(middle)) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    kernel.beyond = most;
    return true;
  }

  // Whether the kernel stays inside where one of its buffers has a constant number of elements.
  // With a larger N it accesses no more of them.
  bool fix_table(DraftKernel& kernel) const {
    if (kernel.launch.cover.extent != Extent::kLine) return false;
    for (DraftBuffer& buffer : kernel.buffers) {
      for (const std::int64_t elements : kTables) {
        buffer.fixed = elements;
        const Trial trial = try_kernel(file_, origin_, kernel, kOddElements, kScoutLimit);
        if (trial.breaks_off() && trial.is_outside) continue;
        if (trial.breaks_off() || try_all(kernel).breaks_off()) break;
        return true;
      }
      buffer.fixed = 0;
    }
    return false;
  }

  // Tries several values of N, until one fails.
  Trial try_all(const DraftKernel& kernel) const {
    Trial trial;
    for (const std::int64_t elements : sides_of(kernel.launch.cover.extent).trials) {
      const bool unwritten = trial.reads_unwritten;
      trial = try_kernel(file_, origin_, kernel, elements, kTrialLimit);
      trial.reads_unwritten |= unwritten;
      if (trial.failure) break;
    }
    return trial;
  }

  // A run with that many elements along each axis, and the instructions that it executed.
  struct Sample {
    std::int64_t elements = 0;
    std::uint64_t instructions = 0;
  };

  // The instructions of a run with more elements, if they go on growing as they did; 0 if the first
  // run has none, since it broke off.
  static double expected(const Sample& first, const Sample& last, std::int64_t elements) {
    if (first.instructions == 0 || first.elements == last.elements) return 0;
    const auto ratio = [](auto of, auto to) {
      return std::max(static_cast<double>(of) / static_cast<double>(std::max<decltype(to)>(to, 1)),
                      1.0);
    };
    const double power = std::log(ratio(last.instructions, first.instructions)) /
                         std::log(ratio(last.elements, first.elements));
    return static_cast<double>(last.instructions) * std::pow(ratio(elements, last.elements), power);
  }

  // Tries the smallest N of the draft, and larger ones as far as a run has few instructions. Sets
  // the one that is left.
  Trial try_draft(DraftKernel& kernel) const {
    const std::vector<std::int64_t>& draft = sides_of(kernel.launch.cover.extent).draft;
    const std::int64_t least = draft.back();
    // A run with fewer tells how the instructions grow.
    const std::int64_t fewer = std::max<std::int64_t>(least / 4, kernel.multiple_of);
    Sample last = {fewer, try_kernel(file_, origin_, kernel, fewer, kTrialLimit).instructions};
    Trial kept;
    for (auto at = draft.rbegin(); at != draft.rend(); ++at) {
      const std::int64_t elements = *at;
      Trial trial = try_kernel(file_, origin_, kernel, elements, kTrialLimit);
      const bool is_slow = trial.failure && trial.failure->error.code() == ErrorCode::kTimeout;
      const bool is_long = static_cast<double>(trial.instructions) > kDraftInstructions;
      if (elements != least && (is_slow || is_long)) break;
      kept = std::move(trial);
      kernel.elements = elements;
      if (kept.breaks_off() || std::next(at) == draft.rend()) break;
      const Sample now = {elements, kept.instructions};
      if (expected(last, now, *std::next(at)) > kDraftInstructions) break;
      last = now;
    }
    return kept;
  }

  // Takes axes from buffers of which the kernel accesses less than its launch covers: sums, and
  // values for each row of a square.
  void shrink(DraftKernel& kernel) const {
    if (kernel.beyond > 0) return;
    const Extent extent = kernel.launch.cover.extent;
    DraftKernel smaller = kernel;
    bool is_smaller = false;
    for (std::size_t number = 0; number < smaller.buffers.size(); ++number) {
      DraftBuffer& buffer = smaller.buffers[number];
      if (buffer.fixed > 0 || buffer.size) continue;
      const auto suffice = [&](int axes) {
        buffer.axes = axes;
        const std::int64_t elements = sides_of(extent).trials.back();
        const bool runs = !try_kernel(file_, origin_, smaller, elements, kScoutLimit).failure;
        if (!runs) buffer.axes.reset();
        return runs;
      };
      if (!suffice(0)) buffer.fixed = table_size(smaller, number);
      for (int axes = 1; axes < axes_of(extent); ++axes) {
        if (buffer.axes || buffer.fixed > 0 || suffice(axes)) break;
      }
      is_smaller |= buffer.axes || buffer.fixed > 0;
    }
    if (!is_smaller || try_all(smaller).failure) return;
    kernel = std::move(smaller);
    straighten(kernel);
  }

  // The fewest elements of the buffer with which the kernel runs whatever the size is, such as the
  // weights of a filter; 0 where they grow with the size, as sums of blocks do.
  std::int64_t table_size(DraftKernel kernel, std::size_t buffer) const {
    std::int64_t& fixed = kernel.buffers[buffer].fixed;
    const auto suffice = [&](std::int64_t count, std::int64_t elements) {
      fixed = count;
      return !try_kernel(file_, origin_, kernel, elements, kScoutLimit).failure;
    };
    const std::int64_t elements = sides_of(kernel.launch.cover.extent).trials.back();
    std::int64_t most = kMostOfTable;
    if (!suffice(most, elements)) return 0;
    for (std::int64_t least = 1; least < most;) {
      const std::int64_t middle = (least + most) / 2;
      if (suffice(middle, elements)) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    // The draft has far more elements than the trials.
    const bool is_table = most < kMostOfTable && suffice(most, kernel.elements);
    return is_table ? most : 0;
  }

  // Where each thread goes through a row or a column, the results are a line: so are the threads.
  void straighten(DraftKernel& kernel) const {
    if (kernel.launch.cover.blocks != BlockForm::kLine) return;
    // What a kernel adds to may need all of the threads.
    const bool is_line = std::ranges::all_of(kernel.buffers, [](const DraftBuffer& buffer) {
      return buffer.role == "input" || (buffer.role == "output" && buffer.axes == 1);
    });
    if (!is_line) return;
    DraftKernel fewer = kernel;
    fewer.launch.cover.blocks = BlockForm::kTiles;
    const std::int64_t elements = sides_of(kernel.launch.cover.extent).trials.front();
    const Trial trial = try_kernel(file_, origin_, fewer, elements, kTrialLimit);
    if (!trial.failure && !trial.leaves_out) kernel = std::move(fewer);
  }

  std::size_t number_of(const LaunchGuess& guess) const {
    return static_cast<std::size_t>(&guess - kernel_.launches.data());
  }
  double seconds_taken() const {
    return static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC;
  }
  bool is_late() const { return seconds_taken() > kTrialsLimit; }

  const KernelFile& file_;
  const std::filesystem::path& origin_;
  DraftKernel& kernel_;
  const std::function<void(std::size_t guess)>& tells_;
  const std::clock_t begin_ = std::clock();
  bool has_bounds_ = true;             // of the guesses that are tried
  std::optional<TrialFailure> first_;  // of the likeliest guess
  std::optional<TrialFailure> left_;   // of the chosen one
};

}  // namespace

std::optional<TrialFailure> choose_launch(const KernelFile& file,
                                          const std::filesystem::path& origin, DraftKernel& kernel,
                                          const std::function<void(std::size_t guess)>& tells) {
  return LaunchChoice(file, origin, kernel, tells).make();
}

}  // namespace baton::tools
