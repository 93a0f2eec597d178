#include "cli/commands/seen_steps.h"

#include <nlohmann/json.hpp>
#include <string>

#include "cli/output/counted.h"
#include "tools/basics.h"

namespace baton::cli {

SeenSteps::SeenSteps(const RunCommand& command, const Program& program) : until_(command.until) {
  if (until_) tools::check_step_choice("--until", *until_, program);
  if (command.dump) dump_.emplace("--dump", *command.dump, program);
}

void SeenSteps::check(const Program& program, const std::vector<BoundSymbol>& symbols) const {
  if (until_) tools::check_step_exists("--until", *until_, program, symbols);
}

bool SeenSteps::add(const CompletedStep& step) {
  ++steps_;
  met_ = until_ && until_->fits(step);
  if (dump_ && (met_ || !until_)) dump_->add(step);
  return !met_;
}

void SeenSteps::finish(Output& output) {
  if (until_ && met_) {
    output.line("the run ended after step {} (--until {})", steps_ - 1, until_->text);
  }
  finish_dump(output);
  if (!until_ || met_) return;
  throw error(ErrorCode::kNotFound,
              "--until {}: the run came to no such step; it executed {}, numbered from 0",
              printable(until_->text), counted(steps_, "step"));
}

void SeenSteps::fail(const Executable& executable, const Error& failure, Output& output) {
  if (!dump_) return;
  const std::string remark = dump_->add_failure(executable, failure);
  if (!remark.empty()) output.warning(remark);
  finish_dump(output);
}

void SeenSteps::finish_dump(Output& output) {
  if (!dump_) return;
  dump_->finish();
  output.result()["dump"] = dump_->folder().string();
  output.line("dumped the buffers after {} into {}", counted(dump_->steps(), "step"),
              dump_->folder().string());
}

}  // namespace baton::cli
