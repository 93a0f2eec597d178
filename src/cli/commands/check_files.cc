#include "cli/commands/check_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/unused_options.h"
#include "cli/output/counted.h"
#include "cli/output/output_part.h"
#include "cli/output/table.h"
#include "cli/report/run_report.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kVerdicts[] = {"proven", "unsafe", "unknown"};

// The least number of files among which those without code are left out of the table.
constexpr std::size_t kManyFiles = 40;

using Verdicts = std::map<std::string, std::size_t, std::less<>>;

std::string text_of(const Verdicts& verdicts) {
  std::string text;
  for (const std::string_view name : kVerdicts) {
    const auto found = verdicts.find(name);
    if (found == verdicts.end()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second, name);
  }
  return text;
}

std::size_t size_of(const Json& part, const char* list) {
  const auto found = part.find(list);
  return found == part.end() || !found->is_array() ? 0 : found->size();
}

// Checks file after file, and keeps what is said of all of them.
class FileChecks {
 public:
  FileChecks(const CheckCommand& command, Output& output) : command_(command), output_(output) {}

  void add(const tools::CheckTarget& target, CheckedFiles& checked) {
    OutputPart part(output_, target.file.string(), command_.verbose);
    output_.line("\n{}", printable(target.file.string()));
    std::string skipped;
    try {
      skipped = check_file(command_, target, checked, output_);
    } catch (...) {
      const Error failure = current_error();
      if (failure.code() == ErrorCode::kInterrupted) throw;
      output_.report(failure);
      if (!worst_ || exit_status(failure.code()) > exit_status(*worst_)) worst_ = failure.code();
    }
    Json object = part.result();
    if (!skipped.empty()) {
      object["status"] = "skipped";
      object["skipped"] = skipped;
    }
    note(std::move(object));
  }

  void finish() {
    Json& result = output_.result();
    Json edges = Json::object();
    for (const std::string_view name : kVerdicts) edges[name] = verdicts_[std::string(name)];
    result["summary"] = {{"files", files_.size()},
                         {"failed", states_["failed"]},
                         {"warnings", states_["warnings"]},
                         {"skipped", states_["skipped"]},
                         {"kernels", kernels_},
                         {"launches", launches_},
                         {"edges", std::move(edges)}};
    show_table();
    result["files"] = std::move(files_);
    if (worst_) {
      throw error(*worst_, "{} of {} fail; their errors are above", states_["failed"],
                  counted(result["files"].size(), "file"));
    }
  }

 private:
  void note(Json part) {
    ++states_[part["status"].get<std::string>()];
    kernels_ += part.contains("steps") ? 0 : size_of(part, "kernels");
    launches_ += size_of(part, "steps");
    if (part.contains("edges")) {
      for (const Json& edge : part["edges"]) ++verdicts_[edge["verdict"].get<std::string>()];
    }
    files_.push_back(std::move(part));
  }

  void show_table() {
    using enum Table::Align;
    Table table({{"file"}, {"kernels", kRight}, {"launches", kRight}, {"edges"}, {"result"}});
    std::size_t left_out = 0;
    for (const Json& part : files_) {
      const std::string state = part["status"];
      if (state == "skipped" && files_.size() >= kManyFiles && !command_.verbose) {
        ++left_out;
        continue;
      }
      table.add({printable(part["file"].get<std::string>()), count(part, "kernels"),
                 count(part, "steps"), text_of(verdicts_of(part)), result_of(part, state)});
    }
    output_.text(fmt::format("\n{}", table.format(output_.terminal())));
    if (left_out > 0) output_.line("  and {} skipped: --verbose lists all", left_out);
    const std::string edges = text_of(without_zeros(verdicts_));
    output_.line("\n{}: {} failed, {} with warnings, {} skipped{}{}",
                 counted(files_.size(), "file"), states_["failed"], states_["warnings"],
                 states_["skipped"], edges.empty() ? "" : "; edges: ", edges);
  }

  static std::string count(const Json& part, const char* list) {
    return part.contains(list) ? std::to_string(size_of(part, list)) : "";
  }

  static Verdicts verdicts_of(const Json& part) {
    Verdicts verdicts;
    if (!part.contains("edges")) return verdicts;
    for (const Json& edge : part["edges"]) ++verdicts[edge["verdict"].get<std::string>()];
    return verdicts;
  }

  static Verdicts without_zeros(Verdicts verdicts) {
    std::erase_if(verdicts, [](const auto& row) { return row.second == 0; });
    return verdicts;
  }

  std::string result_of(const Json& part, const std::string& state) const {
    const bool colour = output_.colour();
    if (state == "failed") {
      return styled(part["error"]["code"].get<std::string>(), Style::kBad, colour);
    }
    if (state == "warnings") {
      return styled(counted(size_of(part, "warnings"), "warning"), Style::kWarning, colour);
    }
    if (state == "skipped") {
      return styled("skipped: " + part["skipped"].get<std::string>(), Style::kFaint, colour);
    }
    return styled("ok", Style::kGood, colour);
  }

  const CheckCommand& command_;
  Output& output_;
  Json files_ = Json::array();
  std::map<std::string, std::size_t> states_;
  Verdicts verdicts_;
  std::size_t kernels_ = 0, launches_ = 0;
  std::optional<ErrorCode> worst_;
};

}  // namespace

void check_files(const CheckCommand& command, Output& output) {
  const tools::CheckTargets targets = tools::find_check_targets(command.files);
  for (const std::string& remark : targets.remarks) output.warning(remark);
  CheckedFiles checked;
  checked.device = command.device ? Device::open(*command.device) : Device::open();
  show_device(*checked.device, output);
  FileChecks checks(command, output);
  for (std::size_t k = 0; k < targets.files.size(); ++k) {
    output.progress(fmt::format("check {}", printable(targets.files[k].file.string())),
                    static_cast<double>(k) / static_cast<double>(targets.files.size()));
    checks.add(targets.files[k], checked);
  }
  warn_of_unused(command, checked, output);
  checks.finish();
}

}  // namespace baton::cli
