// The analysis is compared with a record of everything that it says about some thousand kernels. A
// change of the record is not an error in itself: it shows what a change of the analysis did.
//
// UPDATE=1 renews the record. BATON_RECORD_DUMP=FOLDER writes what is said, as text.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/analysis_text.h"
#include "analysis/form_text.h"
#include "analysis/operation_text.h"
#include "analysis/programs.h"
#include "analysis/record_file.h"
#include "ptx/isa.h"

namespace baton::record::record_test {
namespace {

void hold(const std::string& name, const std::vector<RecordedProgram>& programs) {
  RecordFile record(name);
  for (const RecordedProgram& program : programs) {
    record.add(program.name, analysis_of(program));
    if (record.differs() && GTEST_FLAG_GET(fail_fast)) break;
  }
  if (const std::string difference = record.end(); !difference.empty()) {
    ADD_FAILURE() << difference;
  }
}

// A line for each group.
void hold_groups(const std::string& name, const std::vector<CaseGroup>& groups) {
  RecordFile record(name);
  for (const CaseGroup& group : groups) {
    std::vector<Section> all;
    for (const RecordedProgram& program : group.programs) {
      const std::vector<Section> sections = analysis_of(program);
      all.resize(sections.size());
      for (std::size_t k = 0; k < sections.size(); ++k) {
        all[k].name = sections[k].name;
        all[k].text += program.name + ":\n" + sections[k].text;
      }
    }
    record.add(group.name, all);
    if (record.differs() && GTEST_FLAG_GET(fail_fast)) break;
  }
  if (const std::string difference = record.end(); !difference.empty()) {
    ADD_FAILURE() << difference;
  }
}

TEST(Record, Instructions) {
  RecordFile record("instructions");
  for (const ptx::Form& form : ptx::forms()) {
    record.add(std::string(form.name), {{"shape", form_text(form)}});
  }
  if (const std::string difference = record.end(); !difference.empty()) {
    ADD_FAILURE() << difference;
  }
}

TEST(Record, Operations) {
  RecordFile record("operations");
  for (const char* const operation : operations()) {
    std::string name = operation;
    std::ranges::replace(name, ' ', '_');
    record.add(name, {{"values", operation_text(operation)}});
  }
  record.add("places", {{"values", places_text()}});
  if (const std::string difference = record.end(); !difference.empty()) {
    ADD_FAILURE() << difference;
  }
}

TEST(Record, Numbers) {
  hold("numbers", number_programs());
}

TEST(Record, Loops) {
  hold("loops", loop_programs());
}

TEST(Record, Passing) {
  hold("passing", passing_programs());
}

TEST(Record, Cases) {
  hold_groups("cases", case_groups());
}

TEST(Record, Altered) {
  hold_groups("altered", altered_programs());
}

TEST(Record, Limits) {
  hold("limits", limit_programs());
}

TEST(Record, Files) {
  hold("files", file_programs());
}

class RecordOfChains : public testing::TestWithParam<ChainFamily> {};

TEST_P(RecordOfChains, Analysis) {
  hold(GetParam().name, chain_programs(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Of, RecordOfChains, testing::ValuesIn(chain_families()),
                         [](const auto& family) { return family.param.name; });

}  // namespace
}  // namespace baton::record::record_test
