#include "compile/link/linker_options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace baton::compiler {
namespace {

// An option of NVRTC that nvJitLink has too, with a value.
struct SharedOption {
  std::string_view nvrtc;
  std::string_view nvjitlink;
  bool is_switch;  // true and false, which nvJitLink writes 1 and 0
};
constexpr std::array<SharedOption, 12> kShared = {{{"-maxrregcount", "-maxrregcount", false},
                                                   {"--maxrregcount", "-maxrregcount", false},
                                                   {"-Xptxas", "-Xptxas", false},
                                                   {"--ptxas-options", "-Xptxas", false},
                                                   {"-ftz", "-ftz", true},
                                                   {"--ftz", "-ftz", true},
                                                   {"-prec-div", "-prec-div", true},
                                                   {"--prec-div", "-prec-div", true},
                                                   {"-prec-sqrt", "-prec-sqrt", true},
                                                   {"--prec-sqrt", "-prec-sqrt", true},
                                                   {"-fmad", "-fma", true},
                                                   {"--fmad", "-fma", true}}};

void add_once(std::vector<std::string>& list, std::string option) {
  if (std::ranges::count(list, option) == 0) list.push_back(std::move(option));
}

// The value after "=", or the next of the options.
std::optional<std::string> value_of(const SharedOption& shared,
                                    const std::vector<std::string>& options, std::size_t& i) {
  const std::string_view option = options[i];
  if (!option.starts_with(shared.nvrtc)) return std::nullopt;
  const std::string_view rest = option.substr(shared.nvrtc.size());
  if (rest.starts_with("=") || rest.starts_with(" ")) return std::string(rest.substr(1));
  if (!rest.empty() || i + 1 == options.size()) return std::nullopt;
  return options[++i];
}

}  // namespace

void LinkerOptions::add(const std::vector<std::string>& compile_options) {
  for (std::size_t i = 0; i < compile_options.size(); ++i) {
    const std::string& option = compile_options[i];
    if (option == "-G" || option == "--device-debug") add_once(assembler, "-g");
    if (option == "-use_fast_math" || option == "--use_fast_math") {
      for (const char* fast : {"-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1"}) {
        add_once(codegen, fast);
      }
    }
    for (const SharedOption& shared : kShared) {
      const auto value = value_of(shared, compile_options, i);
      if (!value) continue;
      const std::string linkers =
          shared.is_switch ? (*value == "true" || *value == "1" ? "1" : "0") : *value;
      add_once(shared.is_switch ? codegen : assembler,
               std::string(shared.nvjitlink) + "=" + linkers);
      break;
    }
  }
}

}  // namespace baton::compiler
