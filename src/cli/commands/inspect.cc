#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "baton/bundle.h"
#include "baton/device.h"
#include "baton/image.h"
#include "cli/commands/commands.h"
#include "cli/commands/inspect_bundle.h"
#include "cli/commands/inspect_entry.h"
#include "cli/commands/inspect_metadata.h"
#include "cli/commands/kernel_filter.h"
#include "cli/commands/record.h"
#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/output/or_null.h"
#include "cli/output/table.h"
#include "cli/report/kernel_modules.h"
#include "cli/report/kernel_table.h"
#include "tools/basics.h"
#include "tools/cache/cache_entry.h"
#include "tools/file/contents.h"
#include "tools/file/extraction.h"
#include "tools/file/kept_modules.h"
#include "tools/file/program_file.h"
#include "tools/process/record_folder.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// Headers bring thousands of constants that no reader looks for.
constexpr std::size_t kMostVariables = 8;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

// What holds for the image as a whole.
void add_facts(const ImageFacts& facts, Json& json) {
  json["arch"] = text_or_null(facts.arch);
  json["producer"] = text_or_null(facts.producer);
  json["toolkit"] = text_or_null(facts.toolkit);
  json["ptx_version"] = text_or_null(facts.ptx_version);
  json["abi"] = or_null(facts.abi);
  json["linked"] = or_null(facts.linked);
  json["debug"] = facts.debug ? Json(to_string(*facts.debug)) : Json();
}

Json member_json(const MemberFacts& member) {
  return {{"kind", to_string(member.kind)},
          {"arch", member.arch},
          {"packing", to_string(member.packing)},
          {"stored_bytes", member.stored_size},
          {"bytes", member.size},
          {"source", text_or_null(member.source)},
          {"options", text_or_null(member.options)}};
}

// "cubin, 54 KiB, sm_90a, CUDA 13.0, by ptxas …, line information".
std::string describe(const Image& image, const ImageFacts& facts) {
  std::string text =
      fmt::format("{}, {}", to_string(image.kind()), format_bytes(image.bytes().size()));
  const auto add = [&text](std::string_view format, const std::string& value) {
    if (!value.empty()) text += fmt::format(fmt::runtime(format), value);
  };
  add(", {}", facts.arch);
  add(", PTX {}", facts.ptx_version);
  add(", CUDA {}", facts.toolkit);
  add(", by {}", printable(facts.producer));
  if (facts.debug == DebugInfo::kLines) text += ", with line information";
  if (facts.debug == DebugInfo::kFull) text += ", with debug information";
  if (facts.linked == false) text += ", not linked";
  return text;
}

// Fills the JSON object image by image, and the text as it goes.
class Report {
 public:
  Report(const InspectCommand& command, bool has_offsets, Output& output)
      : command_(command),
        has_offsets_(has_offsets),
        output_(output),
        images_(Json::array()),
        kernels_(Json::array()),
        variables_(Json::array()) {}

  void add(const FoundImage& found) {
    const Image& image = found.image;
    Json json = {{"place", found.place},
                 {"offset", has_offsets_ ? Json(found.offset) : Json()},
                 {"kind", to_string(image.kind())},
                 {"bytes", image.bytes().size()}};
    ImageFacts facts;
    if (found.place.empty()) {
      facts = read_facts(image);
      if (!is_wanted(facts)) return;
      // Of a file that is one image, these are said of the file too.
      add_facts(facts, output_.result());
      output_.line("{}: {}", image.name(), describe(image, facts));
    } else {
      // One broken image does not hide the others.
      try {
        facts = read_facts(image);
      } catch (const Error& unreadable) {
        facts.remarks.push_back(unreadable.message());
      }
      if (!is_wanted(facts)) return;
      output_.line("\n{}: {}", printable(found.place), describe(image, facts));
    }
    add_facts(facts, json);
    Json& members = json["members"] = Json::array();
    for (const MemberFacts& member : facts.members) members.push_back(member_json(member));
    images_.push_back(std::move(json));
    show_members(facts);
    show_kernel_table(facts, output_);
    for (const KernelFacts& kernel : facts.kernels) {
      kernels_.push_back(cli::json_of(kernel));
      kernels_.back()["image"] = images_.size() - 1;
    }
    show_variables(facts);
    for (const std::string& remark : facts.remarks) note(found.place, remark);
  }

  void finish() {
    require_some(command_, !images_.empty(), {});
    for (const Remark& remark : remarks_) {
      const std::string more =
          remark.times == 1 ? "" : fmt::format(" ({} times, first there)", remark.times);
      output_.warning(remark.place.empty()
                          ? remark.text + more
                          : fmt::format("{}: {}{}", remark.place, remark.text, more));
    }
    output_.result()["images"] = std::move(images_);
    output_.result()["kernels"] = std::move(kernels_);
    output_.result()["variables"] = std::move(variables_);
  }

 private:
  // A library may have thousands of images with the same to be said of each.
  struct Remark {
    std::string place, text;
    std::size_t times = 1;
  };
  void note(const std::string& place, const std::string& text) {
    const auto [entry, is_new] = remark_of_.try_emplace(text, remarks_.size());
    if (is_new) {
      remarks_.push_back({place, text});
    } else {
      ++remarks_[entry->second].times;
    }
  }

  void show_members(const ImageFacts& facts) {
    if (facts.members.empty()) return;
    using enum Table::Align;
    Table table({{"member"},
                 {"for"},
                 {"packing"},
                 {"stored", kRight},
                 {"bytes", kRight},
                 {"source"},
                 {"options"}});
    for (const MemberFacts& member : facts.members) {
      table.add({std::string(to_string(member.kind)), member.arch,
                 std::string(to_string(member.packing)), format_bytes(member.stored_size),
                 format_bytes(member.size), printable(member.source), printable(member.options)});
    }
    output_.line("");
    output_.text(table.format(output_.terminal()));
  }

  void show_variables(const ImageFacts& facts) {
    Table table({{"variable"}, {"bytes", Table::Align::kRight}, {"space"}});
    for (const VariableFacts& variable : facts.variables) {
      const char* space = variable.constant ? "constant" : "global";
      variables_.push_back({{"name", variable.name},
                            {"size", variable.size},
                            {"space", space},
                            {"image", images_.size() - 1}});
      if (table.rows() == kMostVariables) continue;
      table.add({shortened(variable.name), std::to_string(variable.size), space});
    }
    if (facts.variables.empty()) return;
    output_.line("");
    output_.text(table.format(output_.terminal()));
    if (facts.variables.size() > table.rows()) {
      output_.line("  and {} more: --json lists all", facts.variables.size() - table.rows());
    }
  }

  // Whether the user wants to see the image, of whose kernels only the wanted ones stay.
  bool is_wanted(ImageFacts& facts) const {
    const std::string& arch = command_.arch;
    const bool suits = arch.empty() || facts.arch == arch ||
                       std::any_of(facts.members.begin(), facts.members.end(),
                                   [&](const MemberFacts& member) { return member.arch == arch; });
    std::erase_if(facts.kernels,
                  [&](const KernelFacts& kernel) { return !cli::is_wanted(command_, kernel); });
    return suits && (!command_.kernel || !facts.kernels.empty());
  }

  const InspectCommand& command_;
  bool has_offsets_;
  Output& output_;
  Json images_;
  Json kernels_;
  Json variables_;
  std::vector<Remark> remarks_;                             // in the order in which they were met
  std::unordered_map<std::string, std::size_t> remark_of_;  // by text
};

// A program by what its kernels are made from; nothing is loaded.
void inspect_program(const InspectCommand& command, Output& output) {
  Json& json = output.result();
  json["file"] = command.image.string();
  json["kind"] = "program";
  const Program program = Program::from_file(command.image);
  output.files().reads(program);
  json["program"] = program.name();
  output.line("{}: program {}, {} kernel{}", command.image.string(), printable(program.name()),
              program.kernels().size(), program.kernels().size() == 1 ? "" : "s");
  for (const std::string& warning : program.warnings()) output.warning(warning);
  const std::string arch = command.arch.empty() ? Device::open().compile_arch() : command.arch;
  json["arch"] = arch;
  output.progress("compile");
  auto modules = tools::describe_modules(program, arch);
  keep_wanted(command, modules);
  require_some(command, !modules.empty(), {});
  show_modules(modules, output);
  if (!command.extract) return;
  std::vector<std::string> remarks;
  const auto written =
      tools::keep_modules(program, modules, "--extract", *command.extract, output.files(), remarks);
  for (const std::string& remark : remarks) output.warning(remark);
  json["extracted"] = written;
  output.line("\nwrote {} files to {}", written.size(), command.extract->string());
}

}  // namespace

void inspect(const InspectCommand& command, Output& output) {
  if (tools::is_record(command.image)) return inspect_record(command, output);
  if (tools::is_cache_entry(command.image)) return inspect_entry(command, output);
  if (Bundle::is_bundle(command.image)) return inspect_bundle(command, output);
  tools::require_no_source(command.image);
  tools::require_bundle(command.image, command.trusted);
  if (command.image.extension() == ".toml") return inspect_program(command, output);
  const std::string name = command.image.string();
  const tools::Contents contents = tools::read_contents(command.image);
  const FoundImages& found = contents.images;
  std::uint64_t bytes = 0;
  for (const FoundImage& each : found.images) bytes += each.image.bytes().size();
  const bool is_image = found.container.empty();
  Json& json = output.result();
  json["file"] = name;
  json["kind"] = is_image ? to_string(found.images.at(0).image.kind()) : found.container;
  json["bytes"] = bytes;
  if (found.images.empty() && !contents.metadata) {
    throw error(ErrorCode::kInvalidInput, "{} ({}) embeds no kernel image", name, found.container);
  }
  if (!is_image) {
    add_facts({}, json);
    output.line("{}: {}, {} image{}, {}", name, found.container, found.images.size(),
                found.images.size() == 1 ? "" : "s", format_bytes(bytes));
  }
  for (const std::string& remark : found.remarks) output.warning(remark);
  if (contents.metadata) show_metadata(*contents.metadata, output);
  Report report(command, contents.has_offsets, output);
  for (const FoundImage& each : found.images) report.add(each);
  report.finish();
  if (!command.extract) return;
  std::vector<std::string> remarks;
  const auto written =
      tools::extract_images(contents, command.image, *command.extract, output.files(), remarks);
  for (const std::string& remark : remarks) output.warning(remark);
  json["extracted"] = written;
  output.line("\nwrote {} files to {}", written.size(), command.extract->string());
}

}  // namespace baton::cli
