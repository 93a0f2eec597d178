#include "cli/command_line/command_table.h"

#include <algorithm>

#include "cli/command_line/command_checks.h"
#include "cli/command_line/command_options.h"
#include "tools/basics.h"
#include "tools/explanations.h"

namespace baton::cli {
namespace {

using Raw = RawOptions;
using rows::arch;
using rows::binding;
using rows::devices;
using rows::entry;
using rows::joined;
using rows::kFile;
using rows::kFolder;
using rows::Options;
using rows::output;
using rows::reports;
using rows::strict;
using rows::trusted;
using rows::words;

Completion words(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) (text += text.empty() ? "" : " ") += name;
  return words(text);
}

std::vector<std::string> codes() {
  std::vector<std::string> ids;
  for (const tools::Explanation& row : tools::explanations()) ids.emplace_back(row.id);
  for (const std::string_view group : tools::explained_groups()) ids.emplace_back(group);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<CommandRow> make_table() {
  const ArgumentRow program{"PROGRAM", "A program file or a bundle", "a program file", &Raw::file,
                            kFile};
  return {
      {"doctor",
       "Show what is installed and what is missing: devices, driver, NVRTC, headers, cache",
       "",
       {},
       {},
       {{"See why a GPU or the compiler is not found", "baton doctor"}},
       "",
       checked_doctor},
      {"init",
       "Write a program file from the facts of a source or an image",
       "FILE.cu|IMAGE",
       {{"FILE", "A .cu source, PTX, a cubin or a fatbin", "a source or an image", &Raw::file,
         kFile}},
       {output("P.toml", "The file to write; default: the name of FILE, with .toml"),
        arch("sm_NN", "The architecture of the facts; default: sm_90a"),
        entry(),
        {"--reference", "", "Write P_reference.py too: a reference in NumPy, to fill in",
         &Raw::reference}},
       {{"Start with a kernel of your own, then run it", "baton init k.cu && baton run k.toml"},
        {"Choose the instance of a template", "baton init norm.cu --entry 'norm<float>'"}},
       "",
       checked_init},
      {"run",
       "Run a program and compare its results, or replay a record",
       "PROGRAM|RECORD",
       {{"PROGRAM",
         "A program file, a bundle, a record, or with --function a library or a folder of a "
         "library",
         "a program file", &Raw::file, kFile}},
       rows::run_options(),
       {{"Test it without a GPU", "baton run p.toml --device sim"},
        {"Compare an output with a reference", "baton run p.toml --expect y=y.npy"},
        {"Give inputs and symbols, and save an output",
         "baton run p.toml --set N=4096 --input x=x.npy --output y=y.npy"},
        {"Call a function that TVM or TileLang exported",
         "baton run k.so --function scale --arg p0=x.npy --arg grid.x=1"},
        {"See all buffers after each step", "baton run p.toml --dump steps"},
        {"Find where a NaN comes from", "baton run p.toml --find-nan"},
        {"Run it on two devices", "baton run p.toml --devices cuda:0,cuda:1"},
        {"Let kernels overlap that have no PDL", "baton run p.toml --rewrite loads"},
        {"Look for races under another order of work",
         "baton run p.toml --device sim --schedule reverse --races global --strict"}},
       "",
       checked_run},
      {"check",
       "Check programs and images against a device, without a launch",
       "PROGRAM|IMAGE|RECORD|FOLDER...",
       {{"FILE",
         "Program files, bundles, files with images, records, or folders to search for these",
         "a program or an image", &Raw::files, kFile}},
       joined({binding(),
               {strict(),
                {"--collectives", "KIND",
                 "peer: also judge the edges of kernels between peers, for a [world] with ranks",
                 &Raw::collectives, words("auto nccl peer host")},
                {"--verbose", "", "List all launches and edges, not the exceptions alone",
                 &Raw::verbose}},
               reports()}),
       {{"See every launch and every edge", "baton check p.toml --verbose"},
        {"Know whether a GPU takes a library's kernels", "baton check lib.so --device sim:h100"},
        {"Check what compilers left in a cache", "baton check ~/.triton/cache"}},
       "",
       checked_check},
      {"bench",
       "Measure a program, step by step, against the device's memory bandwidth, or compare two",
       "PROGRAM [PROGRAM]",
       {program,
        {"SECOND", "Another program, measured in turn with the first and compared with it", "",
         &Raw::second, kFile}},
       rows::bench_options(),
       {{"Measure it as one CUDA graph", "baton bench p.toml --executor graph"},
        {"Compare two versions", "baton bench old.toml new.toml"},
        {"Let CI fail where it takes 5 % more than it did",
         "baton bench p.toml --baseline old.json --limit 5"},
        {"See it", "baton bench p.toml --plot p.svg"},
        {"Measure two ranks", "baton bench p.toml --devices cuda:0,cuda:1"}},
       "",
       checked_bench},
      {"tune",
       "Search for a faster way to execute a program, and keep it if it is certainly faster",
       "PROGRAM",
       {program},
       rows::tune_options(),
       {{"Tune it for the first GPU, for the sizes of the file", "baton tune p.toml"},
        {"Ship what was found", "baton tune p.toml -o p.baton"},
        {"See what it gains", "baton bench p.toml && baton bench p.toml --untuned"}},
       "",
       checked_tune},
      {"build",
       "Build a bundle: one file that runs a program without a compiler",
       "PROGRAM -o OUT.baton",
       {{"PROGRAM", "The program file", "a program file", &Raw::file, kFile}},
       {output("OUT.baton", "The file to write"),
        arch("A,B", "The architectures, as sm_90a or compute_90; default: the default device's"),
        {"--no-sources", "", "Leave out the CUDA sources", &Raw::no_sources},
        {"--weights", "", "Put in the files that buffers are read from", &Raw::weights},
        {"--set", "NAME=VALUE", "Judge the edges for this value too", &Raw::set},
        {"--sign", "KEY.pem", "Sign it with an Ed25519 key", &Raw::key, kFile},
        {"--tvm-ffi", "OUT.so", "Write it also as a library that tvm-ffi loads", &Raw::tvm_library,
         kFile}},
       {{"Ship a program for Hopper", "baton build p.toml -o p.baton --arch sm_90a"},
        {"Ship it for tvm-ffi", "baton build p.toml -o p.baton --tvm-ffi p.so"}},
       "",
       checked_build},
      {"sign",
       "Sign a bundle, so that others know who built it",
       "X.baton --key KEY.pem",
       {{"X.baton", "The bundle", "a bundle", &Raw::file, kFile}},
       {{"--key", "KEY.pem", "The Ed25519 key to sign with", &Raw::key, kFile},
        output("OUT.baton", "The file to write; default: the bundle itself")},
       {{"Make a key", "openssl genpkey -algorithm ed25519 -out key.pem"},
        {"Write its public half, for others", "openssl pkey -in key.pem -pubout -out pub.pem"},
        {"Sign a bundle", "baton sign p.baton --key key.pem"}},
       "",
       checked_sign},
      {"compile",
       "Compile CUDA source to PTX or a cubin",
       "FILE.cu",
       {{"FILE.cu", "The source", "a source", &Raw::file, kFile}},
       {output("OUT", "The file to write: PTX or a cubin, by its ending"),
        arch("sm_NN", "The architecture; default: the default device's"),
        {"--ptx", "", "Write PTX", &Raw::ptx},
        {"--cubin", "", "Write machine code", &Raw::cubin},
        entry(),
        {"--rewrite", "MODE", "Add a PDL wait to the kernels; loads, exit, top: also a trigger",
         &Raw::rewrite, words("wait loads exit top")},
        {"--depfile", "FILE", "Write what the output depends on, for make and Ninja", &Raw::depfile,
         kFile},
        {"--quiet", "", "Print only what the compiler warns of, and errors", &Raw::quiet}},
       {{"Write PTX", "baton compile k.cu -o k.ptx --arch sm_90a"},
        {"Pass options to NVRTC", "baton compile k.cu -o k.cubin -- -DBLOCK=256 -lineinfo"}},
       "OPTIONS for NVRTC, as written",
       checked_compile},
      {"inspect",
       "Show the kernels of an image, a program or a bundle",
       "FILE|PROGRAM",
       {{"FILE", "A file with images, a program file or a bundle", "an image or a program",
         &Raw::file, kFile}},
       {{"--kernel", "REGEX", "Show only the kernels whose names match", &Raw::kernel},
        trusted(),
        arch("sm_NN", "Show only the images for one architecture; compile a program for it"),
        {"--extract", "DIR", "Write its images, sources and metadata into a folder", &Raw::extract,
         kFolder}},
       {{"See the kernels in a library", "baton inspect lib.so --kernel gemm"},
        {"Take its images out", "baton inspect lib.so --arch sm_90a --extract images"}},
       "",
       checked_inspect},
      {"exec",
       "Run any CUDA program on the simulated GPU, or observe it on a GPU",
       "",
       {},
       rows::exec_options(),
       {{"Find the errors in a program's kernels", "baton exec -- ./a.out"},
        {"Run a test suite without a GPU", "baton exec -- python3 -m pytest tests"},
        {"Find unsafe PDL and faults on a GPU", "baton exec --device cuda -- ./a.out"}},
       "PROGRAM and its arguments",
       checked_exec,
       {},
       "The program's own; if that is 0 and an error was found: --error-exitcode",
       true},
      {"record",
       "Run a program and record what it launches, for baton check and baton run",
       "-o OUT.record",
       {},
       {output("OUT.record", "The folder to write"),
        {"--device", "DEVICE", "cuda, sim or sim:NAME; default: a GPU where there is one, else sim",
         &Raw::device, devices("cuda")},
        {"--contents", "", "Also record the bytes that copies read from the host, for baton run",
         &Raw::contents},
        {"--timeout", "SECONDS", "Stop a program that takes longer", &Raw::timeout},
        {"--json", "FILE", "Write what was recorded, in numbers, as JSON", &Raw::json_file, kFile}},
       {{"Know whether a program's PDL is safe",
         "baton record -o app.record -- ./app && baton check app.record"},
        {"Find the errors in its kernels without the GPU",
         "baton record --contents -o app.record -- ./app && baton run app.record"}},
       "PROGRAM and its arguments",
       checked_record,
       {},
       "The program's own"},
      {"ptxas",
       "Run ptxas, and keep the PTX inside the cubin for the simulated GPU",
       "",
       {},
       {},
       {{"Make a cubin that a GPU and baton exec take",
         "baton ptxas -- -arch=sm_90 k.ptx -o k.cubin"}},
       "ARGUMENTS of ptxas",
       checked_ptxas,
       "what ptxas prints"},
      {"toolkit",
       "Make a CUDA toolkit whose nvcc keeps PTX inside its cubins",
       "DIR",
       {{"DIR", "The folder to make", "a folder", &Raw::folder, kFolder}},
       {{"--from", "DIR", "The toolkit; default: CUDA_HOME, CUDA_PATH, nvcc's, /usr/local/cuda",
         &Raw::from, kFolder}},
       {{"Build for GPUs and for baton exec", "baton toolkit cuda && CUDA_HOME=$PWD/cuda make"}},
       "",
       checked_toolkit},
      {"explain",
       "Explain a finding, a verdict's cause, a decision or an error",
       "[CODE]",
       {{"CODE",
         "As in messages and JSON; or findings, observations, causes, decisions, errors, warnings; "
         "without it, all are listed",
         "", &Raw::word, words(codes())}},
       {},
       {{"Know what a finding means", "baton explain shared_race"}},
       "",
       checked_explain},
      {"cache",
       "Show, verify, clear or copy the compile cache",
       "stats|list|verify|clear|export DIR|FILE.zip|import DIR|FILE.zip",
       {{"ACTION", "stats, list, verify, clear, export or import", "an action", &Raw::word,
         words("stats list verify clear export import")},
        {"DIR", "The folder, or the file in .zip, to export to or to import from", "", &Raw::folder,
         kFile}},
       {},
       {{"Share a warm cache", "baton cache export /srv/baton-cache"},
        {"Ship it as one file", "baton cache export cache.zip"}},
       "",
       checked_cache},
      {"completion",
       "Print the completion script of a shell",
       "bash|zsh|fish",
       {{"SHELL", "bash, zsh or fish", "a shell", &Raw::word, words("bash zsh fish")}},
       {},
       {{"Complete in this bash", "source <(baton completion bash)"},
        {"Complete in every fish",
         "baton completion fish > ~/.config/fish/completions/baton.fish"}},
       "",
       checked_completion,
       "a script for a shell"},
      {"manual",
       "Print the manual page of Baton or of a command, for man",
       "[COMMAND]",
       {{"COMMAND", "A command; without it, Baton itself", "", &Raw::word, {}}},
       {},
       {{"Read it", "baton manual run | man -l -"}},
       "",
       checked_manual,
       "a page for man"},
      {"help",
       "Show the help of a command",
       "[COMMAND]",
       {{"COMMAND", "A command; without it, Baton itself", "", &Raw::word, {}}},
       {},
       {{"See the options of a run", "baton help run"}},
       "",
       checked_help},
      {"version", "Show the version", "", {}, {}, {}, "", checked_version}};
}

// Two commands take a command.
std::vector<CommandRow> completed(std::vector<CommandRow> table) {
  std::vector<std::string> names;
  for (const CommandRow& row : table) names.emplace_back(row.name);
  for (CommandRow& row : table) {
    for (ArgumentRow& argument : row.arguments) {
      if (argument.name == "COMMAND") argument.completion = words(names);
    }
  }
  return table;
}

}  // namespace

const std::vector<CommandRow>& command_table() {
  static const std::vector<CommandRow> table = completed(make_table());
  return table;
}

std::span<const OptionRow> common_options() {
  static const OptionRow rows[] = {{kJsonOption, "", "Print one JSON object", &Raw::json},
                                   {"-h,--help", "", "Show this help", &Raw::help},
                                   {"-V,--version", "", "Show the version", &Raw::version}};
  return rows;
}

const CommandRow* find_command(std::string_view name) {
  const auto& table = command_table();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const CommandRow& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

const CommandRow& named_command(std::string_view name) {
  const CommandRow* found = find_command(name);
  if (found == nullptr) {
    throw error(ErrorCode::kInvalidInput, "unknown command \"{}\"{}", printable(std::string(name)),
                suggestion_or(name, command_names(), "baton help lists all"));
  }
  return *found;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandRow& row : command_table()) names.emplace_back(row.name);
  return names;
}

std::vector<std::string_view> option_names(const OptionRow& option) {
  std::vector<std::string_view> names;
  for (std::string_view left = option.names; !left.empty();) {
    const std::size_t comma = std::min(left.find(','), left.size());
    names.push_back(left.substr(0, comma));
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  return names;
}

bool may_repeat(const OptionRow& option) {
  return std::holds_alternative<std::vector<std::string> Raw::*>(option.target);
}

std::vector<OptionRow> all_options(const CommandRow& command) {
  Options all = command.options;
  for (const OptionRow& row : common_options()) {
    // A command may have an option of its own by that name.
    const bool is_own = std::any_of(command.options.begin(), command.options.end(),
                                    [&](const OptionRow& own) { return own.names == row.names; });
    const bool is_lacking = row.names == kJsonOption && !command.instead_of_json.empty();
    if (!is_own && !is_lacking) all.push_back(row);
  }
  return all;
}

std::string usage(const CommandRow& command) {
  std::string text = fmt::format("baton {}", command.name);
  if (!command.synopsis.empty()) (text += ' ') += command.synopsis;
  text += " [OPTIONS]";
  if (!command.rest.empty())
    text += fmt::format(" -- {}", command.rest.substr(0, command.rest.find(' ')));
  return text;
}

}  // namespace baton::cli
