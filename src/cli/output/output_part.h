#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/output/output.h"

namespace baton::cli {

// One file's share of the output of a command that takes several. While it lives, `result()` is an
// object of the part's own, and warnings on standard error begin with the part's name.
class OutputPart {
 public:
  // `shows_text`: lines for people are kept, too.
  OutputPart(Output& output, std::string name, bool shows_text);
  // Gives the command's own object back, without the part's.
  ~OutputPart();
  OutputPart(const OutputPart&) = delete;
  OutputPart& operator=(const OutputPart&) = delete;

  // The part's object as it is now, with its "status".
  nlohmann::ordered_json result() const;

 private:
  Output& output_;
  std::unique_ptr<nlohmann::ordered_json> whole_;
  std::size_t warnings_before_;
};

}  // namespace baton::cli
