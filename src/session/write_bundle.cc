#include <algorithm>

#include "base/log.h"
#include "baton/bindings.h"
#include "baton/bundle.h"
#include "bundle/build.h"
#include "bundle/definitions.h"
#include "bundle/verdicts.h"
#include "session/loaded_program.h"

namespace baton {
namespace {

using edges::KeptJudgement;
using SymbolValues = std::vector<std::pair<std::string, std::int64_t>>;

// Between them they take the images of every architecture that has PDL and is simulated.
constexpr const char* kJudgingDevices[] = {"sim:h200", "sim:b200"};

// A device that takes none of the bundle's images judges nothing. Values that the program does not
// take are an error if the caller named them: `run` says the same of its defaults.
void judge_on(const std::string& spec, const Bundle& bundle,
              const std::vector<SymbolValues>& wanted, std::vector<KeptJudgement>& all) {
  const Program program = bundle.program();
  std::optional<LoadedProgramState> loaded;
  try {
    const Device device = Device::open(spec);
    loaded.emplace(program, bundle::read_definitions(bundle, program, device), device,
                   LoadOptions{}, bundle::known_verdicts(bundle));
  } catch (const Error& unfit) {
    log(LogLevel::kDebug, "no verdicts from {}: {}", spec, unfit.message());
    return;
  }
  for (const SymbolValues& symbols : wanted) {
    Bindings bindings;
    bindings.symbols = symbols;
    try {
      for (KeptJudgement& kept : loaded->judge(loaded->values(bindings))) {
        if (std::ranges::find(all, kept.key, &KeptJudgement::key) == all.end()) {
          all.push_back(std::move(kept));
        }
      }
    } catch (const Error& refused) {
      if (!symbols.empty()) throw;
      log(LogLevel::kInfo, "no verdicts for the default values on {}: {}", spec, refused.message());
    }
  }
}

}  // namespace

std::vector<std::string> write_bundle(const Program& program, const std::filesystem::path& path,
                                      const BundleOptions& options) {
  if (!options.verdicts) return bundle::build_bundle(program, path, options, nullptr);
  std::vector<SymbolValues> wanted = {{}};
  wanted.insert(wanted.end(), options.verdicts_for.begin(), options.verdicts_for.end());
  return bundle::build_bundle(program, path, options, [&](const Bundle& bundle) {
    std::vector<KeptJudgement> all;
    for (const char* spec : kJudgingDevices) judge_on(spec, bundle, wanted, all);
    return all;
  });
}

}  // namespace baton
