#include "cli/command_line/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "baton/error.h"
#include "cli/command_line/command_table.h"
#include "cli/command_line/help.h"
#include "tools/basics.h"

namespace baton::cli::command_line_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

template <typename T>
T parsed(const std::vector<std::string>& arguments) {
  return std::get<T>(parse_command_line(arguments));
}

std::string refusal(const std::vector<std::string>& arguments) {
  try {
    parse_command_line(arguments);
  } catch (const Error& error) {
    EXPECT_EQ(exit_status(error.code()), 2) << error.what();
    return error.message();
  }
  return "nothing was refused";
}

TEST(CommandLine, EveryRunOptionArrives) {
  const auto run = parsed<RunCommand>(
      {"run",       "p.toml",     "--device", "sim:tiny", "--set",   "N=-7",   "--input",
       "x=a=b.npy", "--output",   "y=o.npy",  "--expect", "y=e.npy", "--rtol", "1e-3",
       "--atol",    "0",          "--repeat", "5",        "--seed",  "12",     "--timeout",
       "2.5",       "--keep",     "k",        "--json",   "--pdl",   "off",    "--executor",
       "graph",     "--schedule", "serial"});
  EXPECT_TRUE(run.json);
  EXPECT_EQ(run.program, "p.toml");
  EXPECT_EQ(run.device, "sim:tiny");
  EXPECT_THAT(run.symbols, ElementsAre(Pair("N", -7)));
  EXPECT_THAT(run.inputs, ElementsAre(Pair("x", "a=b.npy")));
  EXPECT_THAT(run.outputs, ElementsAre(Pair("y", "o.npy")));
  EXPECT_THAT(run.expected.files, ElementsAre(Pair("y", "e.npy")));
  EXPECT_EQ(run.rtol, 1e-3);
  EXPECT_EQ(run.atol, 0);
  EXPECT_EQ(run.repeat, 5u);
  EXPECT_EQ(run.seed, 12u);
  EXPECT_EQ(run.timeout, 2.5);
  EXPECT_EQ(run.keep, "k");
  EXPECT_EQ(run.pdl, PdlMode::kOff);
  EXPECT_EQ(run.executor, ExecutorKind::kGraph);
  EXPECT_EQ(parsed<RunCommand>({"run", "p.toml"}).executor, ExecutorKind::kStream);
  EXPECT_EQ(parsed<BenchCommand>({"bench", "p.toml"}).executor, ExecutorKind::kStream);
  EXPECT_EQ(parsed<BenchCommand>({"bench", "p.toml", "--executor", "graph"}).executor,
            ExecutorKind::kGraph);
}

TEST(CommandLine, HowKernelsAreRewritten) {
  EXPECT_EQ(parsed<RunCommand>({"run", "p.toml"}).rewrite, std::nullopt);
  EXPECT_EQ(parsed<RunCommand>({"run", "p.toml", "--rewrite", "off"}).rewrite, RewriteMode::kOff);
  EXPECT_EQ(parsed<CheckCommand>({"check", "p.toml", "--rewrite", "auto"}).rewrite,
            RewriteMode::kAuto);
  EXPECT_EQ(parsed<BenchCommand>({"bench", "p.toml", "--rewrite", "top"}).rewrite,
            RewriteMode::kTop);
}

TEST(CommandLine, StrictIsAskedFor) {
  EXPECT_FALSE(parsed<RunCommand>({"run", "p.toml"}).strict);
  EXPECT_TRUE(parsed<RunCommand>({"run", "p.toml", "--strict"}).strict);
  EXPECT_FALSE(parsed<CheckCommand>({"check", "p.toml"}).strict);
  EXPECT_TRUE(parsed<CheckCommand>({"check", "p.toml", "--strict"}).strict);
}

TEST(CommandLine, ADashIsNoFile) {
  const std::vector<std::string> calls[] = {
      {"init", "k.cu", "-o", "-"},          {"compile", "k.cu", "--output=-"},
      {"build", "p.toml", "-o", "-"},       {"run", "p.toml", "--output", "y=-"},
      {"run", "p.toml", "--html", "-"},     {"run", "p.toml", "--dump", "-"},
      {"exec", "--json", "-", "--", "true"}};
  for (const std::vector<std::string>& words : calls) {
    EXPECT_THAT(refusal(words), HasSubstr("\"-\" does not stand for standard input or output"))
        << words[0];
  }
}

TEST(CommandLine, TheCommandIsNamedWhereverItIs) {
  EXPECT_EQ(command_name({"--device", "sim", "run", "p.toml"}), "run");
  EXPECT_EQ(command_name({"compile", "k.cu", "--", "run"}), "compile");
  EXPECT_EQ(command_name({"rum", "p.toml"}), "rum");
  EXPECT_EQ(command_name({"--json", "rum"}), "");
  EXPECT_EQ(command_name({"k.cu", "--", "run"}), "k.cu");
  EXPECT_EQ(command_name({}), "");
}

TEST(CommandLine, EveryCheckOptionArrives) {
  const auto check = parsed<CheckCommand>(
      {"check", "p.toml", "--device", "sim:tiny", "--set", "N=-7", "--pdl", "on", "--json"});
  EXPECT_TRUE(check.json);
  EXPECT_THAT(check.files, ElementsAre("p.toml"));
  EXPECT_EQ(check.device, "sim:tiny");
  EXPECT_THAT(check.symbols, ElementsAre(Pair("N", -7)));
  EXPECT_EQ(check.pdl, PdlMode::kOn);
  EXPECT_EQ(parsed<CheckCommand>({"check", "p.toml"}).pdl, PdlMode::kAuto);
}

TEST(CommandLine, CheckTakesSeveralNames) {
  const auto check =
      parsed<CheckCommand>({"check", "p.toml", "--strict", "lib.so", "--set", "N=1", "folder"});
  EXPECT_THAT(check.files, ElementsAre("p.toml", "lib.so", "folder"));
  EXPECT_THAT(check.symbols, ElementsAre(Pair("N", 1)));
  EXPECT_TRUE(check.strict);
}

TEST(CommandLine, LeftOutOptionsAreEmpty) {
  const auto run = parsed<RunCommand>({"run", "p.toml"});
  EXPECT_FALSE(run.json);
  EXPECT_FALSE(run.device || run.rtol || run.atol || run.timeout || run.keep);
  EXPECT_EQ(run.repeat, 1u);
  EXPECT_EQ(run.seed, 0u);
}

TEST(CommandLine, OptionsAreNeverGreedy) {
  const auto run =
      parsed<RunCommand>({"run", "--set", "N=1", "p.toml", "--set", "K=2", "--set", "N=1"});
  EXPECT_EQ(run.program, "p.toml");
  EXPECT_THAT(run.symbols, ElementsAre(Pair("N", 1), Pair("K", 2)));
  const auto compile = parsed<CompileCommand>({"compile", "--entry", "a<1>", "f.cu"});
  EXPECT_EQ(compile.source, "f.cu");
  EXPECT_THAT(compile.entries, ElementsAre("a<1>"));
}

TEST(CommandLine, OptionsAfterTheSeparatorGoToTheCompiler) {
  const auto compile = parsed<CompileCommand>(
      {"compile", "f.cu", "-o", "f.ptx", "--arch", "sm_90a", "--ptx", "--", "-DN=4", "--json"});
  EXPECT_FALSE(compile.json);
  EXPECT_TRUE(compile.ptx);
  EXPECT_EQ(compile.output, "f.ptx");
  EXPECT_EQ(compile.arch, "sm_90a");
  EXPECT_THAT(compile.options, ElementsAre("-DN=4", "--json"));
}

TEST(CommandLine, BuildTakesSeveralArchitectures) {
  const auto plain = parsed<BuildCommand>({"build", "p.toml", "-o", "p.baton"});
  EXPECT_TRUE(plain.architectures.empty() && plain.sources && !plain.weights);
  const auto full = parsed<BuildCommand>({"build", "p.toml", "-o", "p.baton", "--arch",
                                          "sm_90a,compute_80", "--no-sources", "--weights"});
  EXPECT_EQ(full.output, "p.baton");
  EXPECT_THAT(full.architectures, ElementsAre("sm_90a", "compute_80"));
  EXPECT_TRUE(!full.sources && full.weights);
}

TEST(CommandLine, CacheActions) {
  EXPECT_EQ(parsed<CacheCommand>({"cache", "stats"}).action, CacheCommand::Action::kStats);
  EXPECT_EQ(parsed<CacheCommand>({"cache", "list"}).action, CacheCommand::Action::kList);
  EXPECT_EQ(parsed<CacheCommand>({"cache", "verify"}).action, CacheCommand::Action::kVerify);
  EXPECT_EQ(parsed<CacheCommand>({"cache", "clear"}).action, CacheCommand::Action::kClear);
}

TEST(CommandLine, HelpAndVersionEverywhere) {
  parsed<ShowVersion>({"--version"});
  parsed<ShowVersion>({"version", "--json"});
  EXPECT_EQ(parsed<ShowHelp>({"--help"}).command, "");
  EXPECT_EQ(parsed<ShowHelp>({"help"}).command, "");
  EXPECT_EQ(parsed<ShowHelp>({"run", "p.toml", "--device", "--help"}).command, "run");
  EXPECT_EQ(parsed<ShowHelp>({"exec", "--json", "-h", "--", "./app"}).command, "exec");
  for (const std::string& command : command_names()) {
    parsed<ShowVersion>({command, "-V"});
    EXPECT_EQ(parsed<ShowHelp>({command, "--help"}).command, command);
    EXPECT_EQ(parsed<ShowHelp>({command, "-h", "--json"}).command, command);
    EXPECT_EQ(parsed<ShowHelp>({"help", command}).command, command);
  }
}

TEST(CommandLine, HelpFitsTheTerminal) {
  for (const std::string& command : command_names()) {
    const std::string text = help_text(command, Terminal{false, 80});
    for (const std::string_view line : split_lines(text)) {
      // A call, which is copied, stays whole.
      EXPECT_TRUE(line.size() <= 80 || line.starts_with("    baton")) << line;
    }
  }
}

TEST(CommandLine, TextsOfTheTableAreClauses) {
  const auto plain = [](std::string_view text) {
    return !text.empty() && text.back() != '.' &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  };
  for (const CommandRow& row : command_table()) {
    EXPECT_TRUE(plain(row.summary)) << row.name;
    std::set<std::string_view> names;
    for (const OptionRow& option : all_options(row)) {
      EXPECT_TRUE(plain(option.text)) << row.name << " " << option.names;
      for (const std::string_view name : option_names(option)) {
        EXPECT_TRUE(names.insert(name).second) << row.name << " has " << name << " twice";
      }
    }
    for (const ArgumentRow& argument : row.arguments) EXPECT_TRUE(plain(argument.text)) << row.name;
  }
}

TEST(CommandLine, ShellsAndManualPagesArePrinted) {
  EXPECT_THAT(parsed<ShowText>({"completion", "bash"}).text, HasSubstr("complete -F _baton baton"));
  EXPECT_THAT(parsed<ShowText>({"manual"}).text, HasSubstr(".TH BATON 1"));
  EXPECT_THAT(parsed<ShowText>({"manual", "run"}).text, HasSubstr("\\-\\-device"));
}

TEST(CommandLine, RefusalsNameWhatIsWrong) {
  struct Case {
    std::vector<std::string> arguments;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {{}, {"no command", "run"}},
      {{"rum"}, {"\"rum\"", "did you mean \"run\""}},
      {{"tune"}, {"baton tune PROGRAM", "a program file"}},
      {{"tune", "p.toml", "--budget", "-1"}, {"--budget", "-1"}},
      {{"build", "p.toml"}, {"baton build PROGRAM -o OUT.baton", "a file to write"}},
      {{"build", "-o", "p.baton"}, {"baton build PROGRAM -o OUT.baton", "a program file"}},
      {{"build", "p.toml", "-o", "p.baton", "--arch", "a,"}, {"--arch", "\"a,\""}},
      {{"build", "p.toml", "-o", "p.baton", "--arch", ""}, {"--arch lacks its value: --arch A,B"}},
      {{"run", "p.toml", "--output", ""}, {"--output lacks its value"}},
      {{"bench"}, {"baton bench PROGRAM"}},
      {{"bench", "p.toml", "--repeat", "0"}, {"--repeat", "\"0\""}},
      {{"bench", "p.toml", "--expect", "y=y.npy"}, {"\"--expect\""}},
      {{"check"}, {"baton check PROGRAM|IMAGE"}},
      {{"check", "p.toml", "--pdl", "force"}, {"\"force\"", "known: auto, on, off"}},
      {{"check", "p.toml", "--repeat", "2"}, {"\"--repeat\""}},
      {{"--jsn"}, {"\"--jsn\""}},
      {{"run"}, {"baton run PROGRAM"}},
      {{"run", "p.toml", "--repaet", "3"}, {"\"--repaet\"", "did you mean \"--repeat\""}},
      {{"run", "p.toml", "--repaet=3"}, {"\"--repaet=3\"", "did you mean \"--repeat\""}},
      {{"run", "p.toml", "q.toml"}, {"\"q.toml\""}},
      {{"run", "p.toml", "--set"}, {"--set lacks its value: --set NAME=VALUE"}},
      {{"run", "p.toml", "--set="}, {"--set lacks its value: --set NAME=VALUE"}},
      {{"run", "p.toml", "--device", "--json"}, {"--device lacks its value: --device DEVICE"}},
      {{"run", "p.toml", "--device", "--nope"}, {"--device lacks its value: --device DEVICE"}},
      {{"record", "-o", "a", "--json", "--nope"}, {"--json lacks its value: --json FILE"}},
      {{"compile", "k.cu", "-o"}, {"-o lacks its value: -o OUT", "baton compile --help"}},
      {{"run", "p.toml", "--json=no"}, {"--json takes no value", "\"--json=no\""}},
      {{"run", ""}, {"an argument is empty", "baton run PROGRAM"}},
      {{"explain", ""}, {"an argument is empty", "baton explain [CODE]"}},
      {{""}, {"an argument is empty", "baton COMMAND"}},
      {{"run", "p.toml", "--set", "N"}, {"--set", "NAME=VALUE", "\"N\""}},
      {{"run", "p.toml", "--set", "=1"}, {"--set", "\"=1\""}},
      {{"run", "p.toml", "--set", "N="}, {"--set", "\"N=\""}},
      {{"run", "p.toml", "--set", "N=1k"}, {"--set N", "64-bit integer", "\"1k\""}},
      {{"run", "p.toml", "--set", "N=9223372036854775808"}, {"64-bit integer"}},
      {{"run", "p.toml", "--set", "N=1", "--set", "N=2"}, {"\"N\" twice", "\"1\"", "\"2\""}},
      {{"run", "p.toml", "--output", "x=o.npy", "--output", "y=./o.npy"},
       {"--output", "both x and y", "./o.npy"}},
      {{"run", "p.toml", "--rtol", "-1"}, {"--rtol", "\"-1\""}},
      {{"run", "p.toml", "--rtol", "nan"}, {"--rtol", "\"nan\""}},
      {{"run", "p.toml", "--atol", "1e-3x"}, {"--atol", "\"1e-3x\""}},
      {{"run", "p.toml", "--repeat", "0"}, {"--repeat", "\"0\""}},
      {{"run", "p.toml", "--repeat", "1.5"}, {"--repeat", "\"1.5\""}},
      {{"run", "p.toml", "--seed", "-1"}, {"--seed", "\"-1\""}},
      {{"run", "p.toml", "--seed", "18446744073709551616"}, {"from 0 to 2^64 - 1"}},
      {{"run", "p.toml", "--timeout", "0"}, {"--timeout", "seconds", "\"0\""}},
      {{"run", "p.toml", "--timeout", "inf"}, {"--timeout", "\"inf\""}},
      {{"run", "p.toml", "--device", "sim", "--device", "cuda"},
       {"--device is given twice", "\"sim\"", "\"cuda\""}},
      {{"completion", "bash", "--json"},
       {"baton completion prints a script for a shell, not JSON"}},
      {{"--json", "manual"}, {"baton manual prints a page for man, not JSON"}},
      {{"ptxas", "--json", "--", "k.ptx"}, {"baton ptxas prints what ptxas prints, not JSON"}},
      {{"compile", "k.cu", "--rewrite", "nosuch"}, {"known: off, wait, loads, exit, top"}},
      {{"compile", "k.cu", "--rewrite", "auto"}, {"needs the launches of a program"}},
      {{"bench", "p.toml", "--executor", "grph"}, {"\"grph\"", "did you mean \"graph\""}},
      {{"check", "p.toml", "--rewrite", "exits"}, {"\"exits\"", "did you mean \"exit\""}},
      {{"run", "p.toml", "--executor", "strem"}, {"\"strem\"", "did you mean \"stream\""}},
      {{"run", "p.toml", "--pdl", "of"}, {"\"of\"", "did you mean"}},
      {{"run", "p.toml", "--schedule", "earli"}, {"--schedule", "\"earli\"", "\"early\""}},
      {{"run", "p.toml", "--schedule", "random:x"}, {"--schedule", "\"x\""}},
      {{"run", "p.toml", "--", "-x"}, {"\"--\"", "baton run"}},
      {{"compile"}, {"baton compile FILE.cu"}},
      {{"compile", "f.cu", "--ptx", "--cubin"}, {"--ptx", "--cubin"}},
      {{"compile", "f.cu", "-DN=4"}, {"\"-DN=4\""}},
      {{"inspect"}, {"baton inspect FILE|PROGRAM"}},
      {{"cache"}, {"stats", "verify"}},
      {{"cache", "stat"}, {"\"stat\"", "did you mean \"stats\""}},
      {{"cache", "export"}, {"baton cache export DIR"}},
      {{"cache", "stats", "x"}, {"takes no folder", "\"x\""}},
      {{"help", "rum"}, {"\"rum\"", "did you mean \"run\""}},
      {{"manual", "rum"}, {"\"rum\"", "did you mean \"run\""}},
      {{"completion"}, {"a shell", "bash|zsh|fish"}},
      {{"completion", "bsh"}, {"\"bsh\"", "did you mean \"bash\""}},
      {{"--json", "p.toml"}, {"unknown command \"p.toml\""}},
      {{"p.toml", "run"}, {"\"p.toml\" comes before the command"}},
  };
  for (const Case& wrong : cases) {
    const std::string message = refusal(wrong.arguments);
    for (const std::string& part : wrong.parts) EXPECT_THAT(message, HasSubstr(part));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace baton::cli::command_line_test
