#include "program/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

// Every row of the launch room's table in a program, and attributes built in C++.

namespace baton::attributes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Program with_attribute(const std::string& line) {
  return Program::from_text(
      "[symbols]\nN = 4\n[buffers.w]\ndtype = \"f32\"\nshape = [64]\n[kernels.k]\nptx = \"k.ptx\"\n"
      "[[steps]]\nlaunch = \"k\"\ngrid = [1]\nblock = [1]\n" +
          line + "\n",
      "p.toml");
}

const ProgramAttributes& attributes_of(const Program& program) {
  return std::get<LaunchStep>(program.steps()[0].action).attributes;
}

// A value for a field as a program writes it.
std::string sample(const launch::AttributeField& field) {
  switch (field.kind) {
    case launch::FieldKind::kFlag:
      return "true";
    case launch::FieldKind::kChoice:
      return '"' + std::string(field.choices.back()) + '"';
    case launch::FieldKind::kReal:
      return "0.5";
    case launch::FieldKind::kHandle:
      return "\"w + N\"";
    default:
      return field.least > 0 ? "1" : "\"N - 4\"";
  }
}

std::string sample(const launch::AttributeRow& row) {
  if (row.fields.size() == 1) return sample(row.fields[0]);
  const bool extents = row.fields[0].name == "x";
  std::string text;
  for (const launch::AttributeField& field : row.fields) {
    const std::string name = extents ? "" : std::string(field_name(field)) + " = ";
    text += (text.empty() ? "" : ", ") + name + sample(field);
  }
  return extents ? '[' + text + ']' : "{ " + text + " }";
}

// No attribute is dropped: the table's every row is taken or refused with a reason.
TEST(ProgramAttributes, EveryRowIsTakenOrRefusedWithAReason) {
  int taken = 0;
  for (const launch::AttributeRow& row : launch::attribute_rows()) {
    const std::string line = std::string(row.name) + " = " + sample(row);
    SCOPED_TRACE(line);
    if (is_event(row)) continue;  // events_test.cc of play
    try {
      const Program program = with_attribute(line);
      ASSERT_EQ(attributes_of(program).list.size(), 1u);
      EXPECT_EQ(attributes_of(program).list[0].name, row.name);
      EXPECT_EQ(attributes_of(program).list[0].values.size(), row.fields.size());
      ++taken;
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
      EXPECT_THAT(failure.message(), HasSubstr("cannot be used in a program: "));
      EXPECT_EQ(failure.where().line, 12);
    }
  }
  // All but the stream's policy, the two events, the node and the edge's own.
  EXPECT_EQ(taken + 5, static_cast<int>(launch::attribute_rows().size()));
}

TEST(ProgramAttributes, StandInTheOrderOfTheirNumbers) {
  const Program program = with_attribute("priority = 1\ncooperative = true\ncluster = [1]");
  std::vector<std::string> names;
  for (const ProgramAttribute& each : attributes_of(program).list) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("cooperative", "cluster", "priority"));
  EXPECT_NE(attributes_of(program).find("cluster"), nullptr);
  EXPECT_EQ(attributes_of(program).find("cluste"), nullptr);
}

Error refusal(std::vector<ProgramAttribute> list) {
  ProgramBuilder builder("p");
  builder.kernel({.name = "k", .origin = KernelOrigin::kPtx, .file = "k.ptx"});
  LaunchStep step{.kernel = "k", .grid = {1}, .block = {1}, .args = {}, .attributes = {}};
  step.attributes.list = std::move(list);
  builder.launch(std::move(step));
  try {
    builder.build();
  } catch (const Error& failure) {
    return failure;
  }
  ADD_FAILURE() << "was not refused";
  return Error(ErrorCode::kInternal, "");
}

TEST(ProgramAttributes, OfTheBuilderAreHeldAgainstTheTable) {
  const Error unknown = refusal({{"clutser", {1}}});
  EXPECT_THAT(unknown.message(),
              HasSubstr("unknown attribute \"clutser\"; did you mean \"cluster\""));
  EXPECT_THAT(unknown.where().file, HasSubstr("attributes_test.cc"));
  EXPECT_THAT(refusal({{"priority", {1}}, {"priority", {2}}}).message(),
              HasSubstr("the attribute priority is given twice"));
  EXPECT_THAT(refusal({{"priority", {1, 2}}}).message(), HasSubstr("priority takes 1 value"));
  EXPECT_THAT(refusal({{"priority", {}}}).message(), HasSubstr("priority is missing"));
  EXPECT_THAT(refusal({{"cluster", {{"x", 2}, {"x", 2}}}}).message(),
              HasSubstr("cluster.x is given twice"));
  EXPECT_THAT(refusal({{"cooperative", {1}}}).message(), HasSubstr("must be true or false"));
}

TEST(ProgramAttributes, FieldsReadBack) {
  const auto& window = *launch::find_row(AttributeId::kAccessPolicyWindow);
  const LaunchAttribute attribute = access_policy_window(
      0x1000, 64, 0.5f, AccessProperty::kPersisting, AccessProperty::kStreaming);
  EXPECT_EQ(std::get<std::int64_t>(read_field(attribute, attribute_field(window, "num_bytes"))),
            64);
  EXPECT_EQ(std::get<double>(read_field(attribute, attribute_field(window, "hit_ratio"))), 0.5);
  EXPECT_EQ(std::get<std::string_view>(read_field(attribute, attribute_field(window, "hit_prop"))),
            "persisting");
  const auto& order = *launch::find_row(AttributeId::kPriority);
  EXPECT_EQ(std::get<std::int64_t>(read_field(priority(-3), order.fields[0])), -3);
}

}  // namespace
}  // namespace baton::attributes_test
