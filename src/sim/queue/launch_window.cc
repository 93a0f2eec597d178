#include "sim/queue/launch_window.h"

#include <limits>

#include "image/names/readable_names.h"

namespace baton::sim {
namespace {

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

std::uint64_t end_of(const LaunchWindow::Asked& asked) {
  return asked.count == 0 || asked.count > kNoEnd - asked.skip ? kNoEnd : asked.skip + asked.count;
}

std::optional<std::regex> regex_of(const std::optional<std::string>& pattern) {
  return pattern ? std::optional<std::regex>(std::in_place, *pattern) : std::nullopt;
}

// As written in the source or as the image has it.
bool names(const std::regex& pattern, const std::string& kernel) {
  return std::regex_search(kernel, pattern) ||
         std::regex_search(image::with_readable_names(kernel), pattern);
}

}  // namespace

LaunchWindow::LaunchWindow(const Asked& asked)
    : first_(asked.skip),
      end_(end_of(asked)),
      kernels_(regex_of(asked.kernels)),
      excluded_(regex_of(asked.excluded)) {}

bool LaunchWindow::is_chosen(std::string_view kernel) const {
  const std::string name(kernel);
  return (!kernels_ || names(*kernels_, name)) && (!excluded_ || !names(*excluded_, name));
}

bool LaunchWindow::take(std::string_view kernel) {
  if (!is_chosen(kernel)) return false;
  const std::uint64_t number = launches_.fetch_add(1);
  return number >= first_ && number < end_;
}

}  // namespace baton::sim
