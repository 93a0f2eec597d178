#include "compile/nvrtc/ptxas_report.h"

#include <cstdlib>
#include <string_view>

#include "base/text/text.h"

namespace baton::compiler {
namespace {

// The number in front of `unit`, as in "Used 32 registers, 256 bytes smem"; 0 where there is none.
std::uint32_t amount(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  const std::string digits(line.substr(start, end - start));
  return static_cast<std::uint32_t>(std::strtoul(digits.c_str(), nullptr, 10));
}

// What stands in the line after `label`, up to `end`.
std::string_view after(std::string_view line, std::string_view label, char end) {
  const std::size_t start = line.find(label);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = line.substr(start + label.size());
  return rest.substr(0, rest.find(end));
}

class ReportReader {
 public:
  // Whether the line was part of the report.
  bool take(std::string_view line) {
    // "ptxas         .     768 bytes stack frame, 800 bytes spill stores, 936 bytes spill loads"
    constexpr std::string_view kFrame = " bytes stack frame";
    constexpr std::string_view kStores = " bytes spill stores";
    if (line.find(kFrame) != std::string_view::npos &&
        line.find(kStores) != std::string_view::npos) {
      // Functions that were not inlined have such a line as well.
      if (!kernels.empty() && described_ == kernels.back().symbol) {
        CompiledKernel& kernel = kernels.back();
        kernel.stack_bytes = amount(line, kFrame);
        kernel.spill_store_bytes = amount(line, kStores);
        kernel.spill_load_bytes = amount(line, " bytes spill loads");
      }
      return true;
    }
    constexpr std::string_view kInfo = "ptxas info";
    if (!line.starts_with(kInfo)) return false;
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return false;
    const std::string_view text = line.substr(colon + 2);
    if (text.starts_with("Compiling entry function '")) {
      kernels.emplace_back().symbol = after(text, "'", '\'');
    } else if (text.starts_with("Function properties for ")) {
      described_ = after(text, "for ", '\n');
    } else if (text.starts_with("Used ")) {
      if (!kernels.empty()) {
        kernels.back().registers = amount(text, " registers");
        kernels.back().static_shared = amount(text, " bytes smem");
      }
    } else if (text.starts_with("Compile time = ")) {
      if (!kernels.empty()) {
        const std::string time(after(text, "= ", ' '));
        kernels.back().seconds = std::strtod(time.c_str(), nullptr) / 1e3;
      }
    } else {
      return text.find(" bytes gmem") != std::string_view::npos;
    }
    return true;
  }

  std::vector<CompiledKernel> kernels;

 private:
  std::string described_;
};

}  // namespace

std::vector<CompiledKernel> take_ptxas_report(std::string& log) {
  ReportReader reader;
  std::string rest;
  for (const std::string_view line : split_lines(log)) {
    if (reader.take(line)) continue;
    rest += line;
    rest += '\n';
  }
  log = std::move(rest);
  return std::move(reader.kernels);
}

}  // namespace baton::compiler
