#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

namespace baton::sim {

// The launches of a process whose findings count: `count` of them after the first `skip`, in the
// order submitted, among those of the kernels that the patterns choose. The others execute in the
// same way, and what they access is noted in the same way. Thread-safe.
class LaunchWindow {
 public:
  struct Asked {
    std::uint64_t skip = 0;
    std::uint64_t count = 0;  // 0: all that follow
    // Regular expressions: of the kernels, without one all, and of those that are left out.
    std::optional<std::string> kernels = std::nullopt;
    std::optional<std::string> excluded = std::nullopt;
  };

  // Throws std::regex_error for a pattern that is none.
  explicit LaunchWindow(const Asked& asked);

  // Takes the next launch, by the kernel's name in its image: whether its findings count.
  bool take(std::string_view kernel);

 private:
  bool is_chosen(std::string_view kernel) const;

  const std::uint64_t first_;
  const std::uint64_t end_;
  const std::optional<std::regex> kernels_;
  const std::optional<std::regex> excluded_;
  std::atomic<std::uint64_t> launches_ = 0;  // of chosen kernels
};

}  // namespace baton::sim
