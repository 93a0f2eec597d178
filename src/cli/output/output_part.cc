#include "cli/output/output_part.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace baton::cli {

OutputPart::OutputPart(Output& output, std::string name, bool shows_text)
    : output_(output),
      whole_(std::exchange(output.result_, std::make_unique<nlohmann::ordered_json>(
                                               nlohmann::ordered_json::object()))),
      warnings_before_(output.warnings_) {
  output_.part_ = std::move(name);
  output_.hides_text_ = !shows_text;
}

OutputPart::~OutputPart() {
  output_.result_ = std::move(whole_);
  output_.part_.clear();
  output_.hides_text_ = false;
}

nlohmann::ordered_json OutputPart::result() const {
  nlohmann::ordered_json part = output_.result();
  part["status"] = part.contains("error")                 ? "failed"
                   : output_.warnings_ > warnings_before_ ? "warnings"
                                                          : "ok";
  return part;
}

}  // namespace baton::cli
