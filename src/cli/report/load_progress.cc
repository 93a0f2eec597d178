#include "cli/report/load_progress.h"

#include <fmt/format.h>

#include <chrono>

namespace baton::cli {

std::function<void(const LoadProgress&)> load_progress(Output& output) {
  output.progress("compile and load");
  return [&output, start = std::chrono::steady_clock::now()](const LoadProgress& progress) {
    if (progress.done == progress.count) return;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    output.progress(fmt::format("compile and load {}: {} of {}", progress.kernel, progress.done + 1,
                                progress.count),
                    static_cast<double>(progress.done) / static_cast<double>(progress.count),
                    passed.count());
  };
}

}  // namespace baton::cli
