#include "cli/commands/inspect_bundle.h"

#include <nlohmann/json.hpp>

#include "baton/bundle.h"
#include "cli/commands/kernel_filter.h"
#include "cli/output/counted.h"
#include "cli/output/table.h"
#include "cli/report/kernel_modules.h"
#include "tools/basics.h"
#include "tools/file/bundle_extraction.h"
#include "tools/file/kept_modules.h"
#include "tools/file/program_file.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// As many digits of a digest as people compare.
constexpr std::size_t kShownDigits = 16;

void show_parts(const Bundle& bundle, Output& output) {
  using enum Table::Align;
  Table table({{"part"}, {"at", kRight}, {"bytes", kRight}, {"SHA-256"}});
  Json& list = output.result()["parts"] = Json::array();
  for (const BundlePart& part : bundle.parts()) {
    table.add({printable(part.name), std::to_string(part.offset), std::to_string(part.size),
               part.sha256.substr(0, kShownDigits)});
    list.push_back({{"name", part.name},
                    {"offset", part.offset},
                    {"bytes", part.size},
                    {"sha256", part.sha256}});
  }
  output.text(fmt::format("\n{}", table.format(output.terminal())));
}

// " on sm_90a, sm_100a".
std::string on_architectures(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) (text += text.empty() ? " on " : ", ") += printable(name);
  return text;
}

// "verdicts for N=4096 on sm_90a: 3 of 4 edges proven".
void show_verdicts(const Bundle& bundle, Output& output) {
  Json& list = output.result()["verdicts"] = Json::array();
  for (const BundleVerdicts& verdicts : bundle.verdicts()) {
    Json edges = Json::array();
    std::size_t proven = 0;
    for (const EdgeReport& edge : verdicts.edges) {
      if (edge.verdict == EdgeVerdict::kProven) ++proven;
      edges.push_back({{"from", edge.from},
                       {"to", edge.to},
                       {"verdict", to_string(edge.verdict)},
                       {"cause", to_string(edge.cause)},
                       {"reason", edge.reason}});
    }
    Json images = Json::array();
    for (const BundleVerdicts::Proof& proof : verdicts.proofs) {
      images.push_back({{"kernel", proof.kernel}, {"there", proof.is_there}});
      images.back()["sha256"] = proof.ptx_sha256.empty() ? Json() : Json(proof.ptx_sha256);
      if (proof.is_there) continue;
      output.warning(
          fmt::format("verdicts were made from another image of the kernel {}, and are "
                      "not used",
                      printable(proof.kernel)));
    }
    list.push_back({{"symbols", verdicts.symbols},
                    {"architectures", verdicts.architectures},
                    {"setup", verdicts.of_setup},
                    {"edges", std::move(edges)},
                    {"images", std::move(images)}});
    output.line("verdicts{}{}{}{}: {} of {} proven", verdicts.symbols.empty() ? "" : " for ",
                printable(verdicts.symbols), on_architectures(verdicts.architectures),
                verdicts.of_setup ? " (setup)" : "", proven,
                counted(verdicts.edges.size(), "edge"));
  }
}

void show_signer(const Bundle& bundle, Output& output) {
  Json& json = output.result()["signed_by"] = nullptr;
  try {
    const std::optional<PublicKey> signer = bundle.signed_by();
    if (!signer) return output.line("not signed");
    json = signer->id();
    output.line("signed with the key {}", signer->id());
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kNotFound) throw;
    output.warning(fmt::format("the signature is not checked: {}", failure.message()));
  }
}

}  // namespace

void inspect_bundle(const InspectCommand& command, Output& output) {
  Json& json = output.result();
  json["file"] = command.image.string();
  json["kind"] = "bundle";
  const Bundle bundle =
      Bundle::open(command.image, tools::checks_of(command.trusted, Verify::kAll));
  const Program& program = bundle.program();
  auto modules = tools::describe_modules(bundle, command.arch);
  keep_wanted(command, modules);
  require_some(command, !modules.empty(), bundle.architectures());
  json["version"] = bundle.version();
  json["program"] = program.name();
  json["architectures"] = bundle.architectures();
  json["skipped"] = bundle.skipped();
  output.line("{}: bundle {} of the program {}, {}{}", command.image.string(), bundle.version(),
              printable(program.name()), counted(program.kernels().size(), "kernel"),
              tools::for_architectures(bundle));
  for (const std::string& part : bundle.skipped()) {
    output.warning(fmt::format("{} is of a later version and is skipped", part));
  }
  show_signer(bundle, output);
  show_verdicts(bundle, output);
  const std::vector<std::string> differences = bundle.directory_differences();
  json["directory_differences"] = differences;
  for (const std::string& difference : differences) output.warning(difference);
  show_parts(bundle, output);
  show_modules(modules, output);
  if (!command.extract) return;
  std::vector<std::string> remarks;
  const tools::ExtractedBundle extracted =
      tools::extract_bundle(bundle, *command.extract, output.files(), remarks);
  for (const std::string& remark : remarks) output.warning(remark);
  json["extracted"] = extracted.written;
  output.line("\nwrote {} files to {}", extracted.written.size(), command.extract->string());
  if (extracted.is_whole) output.line("next: baton run {}", extracted.program.string());
}

}  // namespace baton::cli
