#pragma once

// A record: for each program, a digest of each section of what is said of it.

#include <string>
#include <vector>

#include "analysis/section.h"

namespace baton::record {

class RecordFile {
 public:
  // Of `name`, in tests/golden/analysis. UPDATE=1 in the environment makes it anew.
  explicit RecordFile(std::string name);

  // Compares with the record. BATON_RECORD_DUMP, a folder, gets each program's text.
  void add(const std::string& program, const std::vector<Section>& sections);
  bool differs() const { return differing_ != 0; }
  // Returns what differs, with the text of the first such sections; empty if nothing does.
  std::string end();

 private:
  const std::string name_;
  const std::string path_;
  std::vector<std::string> old_, new_;  // lines
  std::size_t differing_ = 0;
  std::string difference_;
};

}  // namespace baton::record
