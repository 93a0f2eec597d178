#include "image/ptx/link_ptx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "baton/error.h"
#include "baton/image.h"

namespace baton::image::link_ptx_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Links texts that are called a.ptx, b.ptx, …; each gets a header unless it has one.
std::string linked(const std::vector<std::string>& texts, std::string_view target = "sm_90") {
  std::vector<std::shared_ptr<const ptx::ParsedModule>> modules;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string text = texts[i];
    if (!text.starts_with(".version")) {
      text = ".version 8.0\n.target " + std::string(target) + "\n.address_size 64\n" + text;
    }
    const std::string name = std::string(1, static_cast<char>('a' + i)) + ".ptx";
    modules.push_back(ptx::ParsedModule::parse(text, name));
  }
  return link_ptx(modules);
}

// The text parses, all bodies included.
std::shared_ptr<const ptx::ParsedModule> parsed(const std::string& text) {
  auto module = ptx::ParsedModule::parse(text, "linked.ptx");
  for (const auto& item : module->items()) {
    if (const auto* function = std::get_if<ptx::Function>(&item)) function->body();
  }
  return module;
}

std::string refusal(const std::vector<std::string>& texts) {
  try {
    linked(texts);
  } catch (const Error& refused) {
    EXPECT_EQ(refused.code(), ErrorCode::kCompile);
    return refused.message();
  }
  return "it links";
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++found;
  return found;
}

constexpr const char* kCaller = R"(
.extern .func (.param .b32 r) scale(.param .b32 x);
.extern .global .align 4 .b8 table[];
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<3>;
  ld.global.u32 %r1, [table+4];
  { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call (out), scale, (in);
    ld.param.b32 %r2, [out]; }
  ret;
}
)";
constexpr const char* kCallee = R"(
.visible .global .align 4 .b32 table[4] = {1, 2, 3, 4};
.visible .func (.param .b32 value) scale(.param .b32 y) { ret; }
)";

TEST(LinkPtx, JoinsDeclarationsAndDefinitions) {
  for (const auto& order : {std::vector<std::string>{kCaller, kCallee}, {kCallee, kCaller}}) {
    const std::string text = linked(order);
    const auto module = parsed(text);
    EXPECT_TRUE(module->function("k")->has_body);
    EXPECT_TRUE(module->function("scale")->has_body);
    EXPECT_EQ(count(text, "extern"), 0u) << text;
    // Declared before use.
    EXPECT_LT(text.find("scale("), text.find(".entry"));
    EXPECT_LT(text.find("table[4]"), text.find(".entry"));
  }
}

TEST(LinkPtx, NamesTheFileAndTheSymbolOfWhatIsMissing) {
  EXPECT_EQ(refusal({kCaller, ".visible .global .align 4 .b32 table[4];"}),
            "a.ptx uses scale, which none of the linked files defines; add the file with its "
            "definition");
  EXPECT_EQ(refusal({".extern .func _Z5scalef(.param .b32 x);"}),
            "a.ptx uses scale(float), which none of the linked files defines; add the file with "
            "its definition");
  EXPECT_THAT(refusal({".extern .const .b32 c;"}), HasSubstr("a.ptx uses c"));
  EXPECT_EQ(refusal({".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);"}),
            "it links");
}

TEST(LinkPtx, RefusesTwoDefinitions) {
  EXPECT_EQ(refusal({kCallee, ".visible .func scale() { ret; }"}),
            "b.ptx defines scale, and so does a.ptx; keep one definition, or make them static");
  EXPECT_THAT(refusal({".entry k() { ret; }", ".visible .entry k() { ret; }"}),
              HasSubstr("b.ptx defines k"));
  EXPECT_EQ(refusal({".visible .func f() { ret; }", ".visible .global .b32 f;"}),
            "f is a function in a.ptx and a variable in b.ptx; rename one");
}

TEST(LinkPtx, RefusesADeclarationThatDoesNotFit) {
  EXPECT_EQ(
      refusal({".extern .func f(.param .b64 x);", ".visible .func f(.param .b32 x) { ret; }"}),
      "a.ptx declares f as (.extern .func f(.param .b64 x);), and b.ptx defines it as "
      "(.visible .func f(.param .b32 x);); make them equal");
  EXPECT_THAT(refusal({".extern .global .b32 v[3];", ".visible .global .b32 v[4];"}),
              HasSubstr("make them equal"));
  EXPECT_THAT(refusal({".extern .global .b32 v;", ".visible .const .b32 v = 1;"}),
              HasSubstr("make them equal"));
}

TEST(LinkPtx, KeepsOneWeakDefinition) {
  const std::string one = ".weak .func f() { .reg .b32 %a; mov.u32 %a, 1; ret; }";
  const std::string two = ".weak .func f() { .reg .b32 %a; mov.u32 %a, 2; ret; }";
  const std::string strong = ".visible .func f() { .reg .b32 %a; mov.u32 %a, 3; ret; }";
  EXPECT_THAT(linked({one, two}), HasSubstr("mov.u32 %a, 1;"));
  EXPECT_THAT(linked({one, two}), Not(HasSubstr("mov.u32 %a, 2;")));
  const std::string text = linked({one, strong, two});
  EXPECT_THAT(text, HasSubstr("mov.u32 %a, 3;"));
  EXPECT_EQ(count(text, "mov.u32"), 1u) << text;
  EXPECT_EQ(count(text, ".weak"), 0u) << text;
}

TEST(LinkPtx, SeparatesWhatOnlyItsOwnModuleSees) {
  const std::string first = R"(
.global .b32 x = 1;
.func add(.param .b32 a) { ret; }
.visible .entry k() { .reg .b32 %r<3>; .param .b32 p;
 ld.global.u32 %r1, [x]; add.s32 %r2, %r1, 1; call add, (p); ret; }
)";
  const std::string second = R"(
.global .b32 x = 2;
.global .u64 at[2] = {x, generic(x)};
.func add(.param .b32 a) { ret; }
.visible .entry l() { .reg .b32 %r<3>; .param .b32 p;
 ld.global.u32 %r1, [x+4]; add.s32 %r2, %r1, 1; call add, (p); ret; }
)";
  const std::string text = linked({first, second});
  parsed(text);
  EXPECT_THAT(text, HasSubstr(".global .b32 x = 1;"));
  EXPECT_THAT(text, HasSubstr(".global .b32 x$1 = 2;"));
  EXPECT_THAT(text, HasSubstr("at[2] = {x$1, generic(x$1)};"));
  EXPECT_THAT(text, HasSubstr("[x$1+4]"));
  EXPECT_THAT(text, HasSubstr("call add$1, (p);"));
  EXPECT_EQ(count(text, "add.s32 %r2, %r1, 1;"), 2u) << text;
}

TEST(LinkPtx, TakesNoNameThatIsThere) {
  const std::string text =
      linked({".global .b32 x;", ".global .b32 x; .visible .entry k() { .reg .b32 x$1; ret; }"});
  EXPECT_THAT(text, HasSubstr(".global .b32 x$2;"));
}

TEST(LinkPtx, KeepsArraysOfDynamicSharedMemoryApart) {
  const std::string one = ".extern .shared .align 16 .b8 s[]; .visible .entry k() { ret; }";
  const std::string two = ".extern .shared .align 4 .b32 s[]; .visible .entry l() { ret; }";
  const std::string text = linked({one, two});
  EXPECT_THAT(text, HasSubstr(".extern .shared .align 16 .b8 s[];"));
  EXPECT_THAT(text, HasSubstr(".extern .shared .align 4 .b32 s$1[];"));
}

TEST(LinkPtx, DefinesVariablesBeforeOthersThatNameThem) {
  const std::string text = linked({".extern .global .b32 v; .global .u64 at = v;",
                                   ".visible .global .b32 v = 3; .global .u64 self = self;"});
  EXPECT_LT(text.find("v = 3"), text.find("at = v")) << text;
  EXPECT_THAT(refusal({".extern .global .u64 b; .visible .global .u64 a = b;",
                       ".extern .global .u64 a; .visible .global .u64 b = a;"}),
              HasSubstr("name each other"));
}

TEST(LinkPtx, NumbersTheFilesOfAllModules) {
  const std::string one = R"(
.file 1 "a.cu"
.file 2 "a.h"
.visible .entry k() { .loc 2 5 1
 ret; }
)";
  const std::string two = R"(
.file 1 "b.cu"
.visible .entry l() { .loc 1 7 2, function_name $L__info_string0, inlined_at 1 3 1
 ret; }
.section .debug_str { $L__info_string0: .b8 95,90,0 }
)";
  const std::string text = linked({one, two, ".section .debug_str { $L__info_string0: .b8 95 }"});
  const auto module = parsed(text);
  EXPECT_EQ(module->file(2), "a.h");
  EXPECT_EQ(module->file(3), "b.cu");
  EXPECT_THAT(text, HasSubstr(".loc 2 5 1"));
  EXPECT_THAT(text, HasSubstr(".loc 3 7 2, function_name $L__info_string0, inlined_at 3 3 1"));
  EXPECT_THAT(text, HasSubstr("$L__info_string0$1:"));
  EXPECT_EQ(count(text, ".section"), 1u);
}

TEST(LinkPtx, IsForTheLatestOfItsTargets) {
  const std::string old = ".version 7.8\n.target sm_80\n.address_size 64\n";
  const std::string text = linked({old, ".entry k() { ret; }"}, "sm_90a");
  EXPECT_TRUE(text.starts_with(".version 8.0\n.target sm_90a\n.address_size 64\n")) << text;
  EXPECT_EQ(refusal({".version 8.0\n.target sm_90a\n", ".version 8.6\n.target sm_100\n"}),
            "a.ptx is for sm_90a and b.ptx is for sm_100, and no GPU runs both; compile them for "
            "one architecture");
  EXPECT_THAT(refusal({".version 8.0\n.target sm_90\n.address_size 32\n", ""}),
              HasSubstr("32-bit"));
}

TEST(LinkPtx, KeepsOtherNamesOfFunctions) {
  const std::string text = linked({R"(
.visible .func f() { ret; }
.visible .func g();
.alias g, f;
)",
                                   ".extern .func g(); .visible .entry k() { call g; ret; }"});
  EXPECT_THAT(text, HasSubstr(".alias g, f;"));
  EXPECT_TRUE(parsed(text)->function("g")->has_body);
}

}  // namespace
}  // namespace baton::image::link_ptx_test
