#include "trace/instrument.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "baton/image.h"
#include "image/trace_parameter.h"
#include "ptx/flat.h"
#include "ptx/testdata_test.h"
#include "trace/ptxas_test.h"

namespace baton::trace::instrument_test {
namespace {

using testing::HasSubstr;

// All PTX of the repository's tests and examples.
std::vector<std::filesystem::path> all_ptx() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"src", "tests", "python/tests", "docs"}) {
    const auto root = std::filesystem::path(BATON_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() == ".ptx") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Instrumented instrumented(const std::string& text) {
  return instrument(ptx::ParsedModule::parse(text, "test.ptx"));
}

std::string taken(const std::string& text) {
  const Instrumented done = instrumented(text);
  for (const InstrumentedKernel& kernel : done.kernels) EXPECT_EQ(kernel.obstacle, "") << text;
  return done.module == nullptr ? "" : done.module->text();
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

// Without what was inserted, the text is what it was.
TEST(Instrument, KeepsEveryLineAndParameter) {
  std::size_t kernels = 0;
  for (const auto& path : all_ptx()) {
    const auto module = ptx::ParsedModule::parse(ptx::read_text(path), path.filename());
    const Instrumented done = instrument(module);
    ASSERT_EQ(done.kernels.size(), module->entries().size()) << path;
    if (done.module == nullptr) continue;
    const std::string &before = module->text(), &after = done.module->text();
    EXPECT_EQ(count(before, "\n"), count(after, "\n")) << path;
    for (const InstrumentedKernel& kernel : done.kernels) {
      const ptx::Function& was = *module->function(kernel.kernel);
      const ptx::Function& is = *done.module->function(kernel.kernel);
      EXPECT_EQ(was.position.line, is.position.line) << path;
      EXPECT_EQ(was.directives.size(), is.directives.size()) << path;
      if (!kernel.obstacle.empty()) {
        EXPECT_EQ(was.body_text(), is.body_text()) << path << ": " << kernel.kernel;
        continue;
      }
      ++kernels;
      ASSERT_EQ(is.params.size(), was.params.size() + 1) << path << ": " << kernel.kernel;
      EXPECT_EQ(is.params.back().name, image::kTraceParameter);
      for (std::size_t i = 0; i < was.params.size(); ++i) {
        EXPECT_EQ(was.params[i].name, is.params[i].name);
        EXPECT_EQ(was.params[i].align, is.params[i].align);
      }
      // The kernel's own instructions, in their order, each on its line.
      const ptx::FlatFunction own(was), all(is);
      std::size_t at = 0;
      for (const ptx::FlatInstruction& flat : all.instructions()) {
        if (at == own.instructions().size()) break;
        const ptx::Instruction &a = *own.instructions()[at].instruction, &b = *flat.instruction;
        if (a.opcode == b.opcode && a.guard == b.guard && a.modifiers == b.modifiers &&
            a.position.line == b.position.line) {
          ++at;
        }
      }
      EXPECT_EQ(at, own.instructions().size()) << path << ": " << kernel.kernel;
    }
  }
  EXPECT_GT(kernels, 300u);
}

TEST(Instrument, TheAssemblerTakesWhatItTookBefore) {
  const auto ptxas = find_ptxas();
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
  std::size_t assembled = 0;
  for (const auto& path : all_ptx()) {
    const auto module = ptx::ParsedModule::parse(ptx::read_text(path), path.filename());
    const Instrumented done = instrument(module);
    if (done.module == nullptr) continue;
    const std::string target(module->target());
    // Half the corpus is the other compiler's of the same source.
    if (path.string().find(".nvrtc.") != std::string::npos) continue;
    const auto [taken, log] = assemble(*ptxas, done.module->text(), target, "-O1");
    if (taken) {
      ++assembled;
      continue;
    }
    const auto [original, original_log] = assemble(*ptxas, module->text(), target, "-O1");
    EXPECT_FALSE(original) << path << ": " << log;
  }
  EXPECT_GT(assembled, 50u);
}

constexpr const char* kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";

std::string with_body(const std::string& body, const std::string& head = "k(.param .u32 n)") {
  return std::string(kHead) + ".visible .entry " + head +
         "\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n" + body + "}\n";
}

TEST(Instrument, NotesEveryEnd) {
  const std::string text =
      taken(with_body("ld.param.u32 %r1, [n];\n"
                      "setp.gt.u32 %p1, %r1, 4;\n"
                      "@%p1 ret;\n"
                      "@!%p1 exit;\n"
                      "ret;\n"));
  EXPECT_EQ(count(text, "[%baton_trace_a+48]"), 3u);
  EXPECT_THAT(text, HasSubstr("@!%p1 bra $baton_trace_0; "));
  EXPECT_THAT(text, HasSubstr("@%p1 ret; $baton_trace_0: \n"));
  EXPECT_THAT(text, HasSubstr("@%p1 bra $baton_trace_1; "));
  EXPECT_THAT(text, HasSubstr("@!%p1 exit; $baton_trace_1: \n"));
}

TEST(Instrument, NotesTheEndOfABodyWithoutReturn) {
  EXPECT_EQ(count(taken(with_body("mov.u32 %r1, 1;\n")), "[%baton_trace_a+48]"), 1u);
  EXPECT_EQ(count(taken(with_body("ret;\nL: mov.u32 %r1, 1;\n")), "[%baton_trace_a+48]"), 2u);
  EXPECT_EQ(count(taken(with_body("ret;\nL:\n")), "[%baton_trace_a+48]"), 2u);
  EXPECT_EQ(count(taken(with_body("L: bra L;\n")), "[%baton_trace_a+48]"), 0u);
  EXPECT_EQ(count(taken(with_body("{ ret; }\n")), "[%baton_trace_a+48]"), 1u);
}

TEST(Instrument, AddsAParameterToAnyList) {
  const auto parameters = [](const std::string& head) {
    const Instrumented done = instrumented(with_body("ret;\n", head));
    return done.module->function("k")->params.size();
  };
  EXPECT_EQ(parameters("k"), 1u);
  EXPECT_EQ(parameters("k()"), 1u);
  EXPECT_EQ(parameters("k(\n.param .u32 n // (an int)\n)\n.maxntid 128, 1, 1"), 2u);
  EXPECT_EQ(parameters("k(.param .align 8 .b8 s[24], /* ) */ .param .u64 .ptr .global p)"), 3u);
}

TEST(Instrument, LeavesWhatItCannotSee) {
  const std::string function = ".func f()\n{\n griddepcontrol.wait;\n ret;\n}\n";
  const auto obstacle = [](const std::string& text) {
    const Instrumented done = instrumented(text);
    EXPECT_EQ(done.module, nullptr);
    return done.kernels.at(0).obstacle;
  };
  EXPECT_THAT(obstacle(kHead + function + with_body("call f, ();\nret;\n").substr(strlen(kHead))),
              HasSubstr("it calls f, which waits"));
  EXPECT_THAT(obstacle(kHead + std::string(".extern .func g();\n") +
                       with_body("call g, ();\nret;\n").substr(strlen(kHead))),
              HasSubstr("a function that its PTX does not show"));
  EXPECT_THAT(obstacle(with_body("ret;\n") + ".global .u64 table[1] = {k};\n"),
              HasSubstr("uses its name elsewhere"));
  EXPECT_THAT(obstacle(taken(with_body("ret;\n"))), HasSubstr("instrumented already"));
}

TEST(Instrument, CallsOfOtherFunctionsStay) {
  const std::string text = kHead + std::string(".func f()\n{\n ret;\n}\n") +
                           with_body("call f, ();\nret;\n").substr(strlen(kHead));
  EXPECT_EQ(count(taken(text), "[%baton_trace_a+48]"), 1u);
}

// The parameter is Baton's own: facts do not show it.
TEST(Instrument, FactsStayWhatTheyWere) {
  const std::string text =
      with_body("griddepcontrol.wait;\nret;\n", "k(.param .u32 n)\n.maxntid 64");
  const KernelFacts before = read_facts(Image::from_bytes(text, "k.ptx")).kernels.at(0);
  const KernelFacts after = read_facts(Image::from_bytes(taken(text), "k.ptx")).kernels.at(0);
  EXPECT_FALSE(before.traced);
  EXPECT_TRUE(after.traced);
  ASSERT_EQ(after.params->size(), before.params->size());
  EXPECT_EQ(after.params->at(0).size, before.params->at(0).size);
  EXPECT_EQ(after.max_threads, before.max_threads);
  EXPECT_EQ(after.waits, before.waits);
}

}  // namespace
}  // namespace baton::trace::instrument_test
