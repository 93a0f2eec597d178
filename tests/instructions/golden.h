#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "instructions/suite.h"

namespace baton::instructions {

// What a device gave for one case, small enough to be kept for all of them.
struct Record {
  std::string key;  // of the case's place, text, kinds and inputs: another one where any changes
  std::size_t rows = 0;
  u64 digest = 0;         // of all results that must be equal; NaNs are all alike where they may be
  std::vector<u64> near;  // of some rows, the results that must be within the case's bounds
};

// `inputs` and `results` are those of all rows, one after the other.
Record make_record(const std::string& group, const Case& one, const std::vector<u64>& inputs,
                   const std::vector<u64>& results, std::size_t rows);

// Records that a GPU gave, for other devices to be checked against.
class Golden {
 public:
  Golden() = default;
  // Throws baton::Error where the file is none.
  explicit Golden(const std::filesystem::path& file);

  void add(Record record);
  // Where there is none for its key it is null.
  const Record* find(const std::string& key) const;
  bool empty() const { return records_.empty(); }
  std::string text() const;

 private:
  std::map<std::string, Record> records_;
};

// Empty where `got` is what `golden` says, else how it differs. Approximate results may lie twice
// the case's bounds apart: each is within them of the true one.
std::string difference(const Case& one, const Record& got, const Record& golden);

}  // namespace baton::instructions
