#include "program/reader/reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/array/npy_header.h"
#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "program/attributes.h"
#include "program/buffer_init.h"
#include "program/expression/requirement.h"
#include "program/frozen_rows.h"
#include "program/names.h"
#include "program/reader/attribute_reader.h"
#include "program/tune_parameter.h"

namespace baton {
namespace {

using Kind = DocumentNode::Kind;
namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kProgramKeys = {
    "name", "include", "require", "world", "symbols",
    "tune", "buffers", "kernels", "setup", "steps"};
constexpr std::array<std::string_view, 11> kBufferKeys = {"dtype",  "shape",  "role",    "init",
                                                          "file",   "tensor", "convert", "variable",
                                                          "frozen", "shard",  "expect"};
constexpr std::array<std::string_view, 12> kKernelKeys = {
    "source", "text",    "ptx",     "cubin",   "fatbin", "link",
    "entry",  "prelude", "include", "options", "launch", "rewrite"};
class PartReader {
 public:
  PartReader(const Document& document, const fs::path& directory, ProgramDefinition& program)
      : document_(document),
        directory_(directory),
        program_(program),
        top_(document, document.root(), "the program", kProgramKeys) {}

  std::optional<std::string> name() const { return top_.string("name"); }

  std::vector<IncludedProgram> includes() {
    std::vector<IncludedProgram> files;
    const std::vector<std::string> paths = top_.strings("include");
    for (std::size_t i = 0; i < paths.size(); ++i) {
      files.push_back({path(paths[i], top_, "include").lexically_normal(),
                       document_.place(top_.find("include")->items[i])});
    }
    return files;
  }

  void read(std::size_t replaceable) {
    if (const DocumentNode* world = top_.find("world")) program_.world = this->world(*world);
    for_each("symbols", [&](const auto& member) { add(symbol(member), replaceable); });
    if (const DocumentNode* require = top_.find("require")) {
      for (Requirement& each : read_requirements(document_, *require)) {
        program_.requirements.push_back(std::move(each));
      }
    }
    if (const DocumentNode* tune = top_.find("tune")) {
      for (TuneParameter& each : read_tune_parameters(document_, *tune)) {
        program_.tune.push_back(std::move(each));
      }
    }
    for_each("buffers", [&](const auto& member) { program_.buffers.push_back(buffer(member)); });
    for_each("kernels", [&](const auto& member) { program_.kernels.push_back(kernel(member)); });
    read_steps("setup", "setup step ", program_.setup);
    read_steps("steps", "step ", program_.steps);
  }

 private:
  template <typename Read>
  void for_each(std::string_view key, Read&& read) {
    const DocumentNode* section = top_.find(key);
    if (section == nullptr) return;
    for (const auto& member : require_table(document_, *section, key).members) read(member);
  }

  void read_steps(std::string_view key, const std::string& prefix, std::vector<ProgramStep>& out) {
    const DocumentNode* steps = top_.find(key);
    if (steps == nullptr) return;
    for (ProgramStep& step : baton::read_steps(document_, *steps, prefix)) {
      out.push_back(std::move(step));
    }
  }

  // One that an included file gives takes the value of the file that includes it.
  void add(ProgramSymbol symbol, std::size_t replaceable) {
    const auto begin = program_.symbols.begin() + static_cast<std::ptrdiff_t>(replaceable);
    const auto same = std::find_if(begin, program_.symbols.end(), [&](const ProgramSymbol& other) {
      return other.name == symbol.name;
    });
    if (same == program_.symbols.end()) {
      program_.symbols.push_back(std::move(symbol));
    } else {
      *same = std::move(symbol);
    }
  }

  ProgramSymbol symbol(const DocumentNode::Member& member) {
    if (member.value.kind != Kind::kInteger) {
      throw error_at(document_.place(member.value), ErrorCode::kInvalidInput,
                     "the symbol {} must be an integer, not {}", printable(member.key),
                     describe(member.value.kind));
    }
    return {member.key, member.value.integer, document_.place(member)};
  }

  ProgramWorld world(const DocumentNode& node) {
    static constexpr std::array<std::string_view, 2> kKeys = {"ranks", "groups"};
    const TableReader table(document_, node, "world", kKeys);
    ProgramWorld world{.where = document_.place(node)};
    if (const DocumentNode* ranks = table.find("ranks")) {
      if (ranks->kind != Kind::kInteger) table.refuse(*ranks, "ranks", "an integer");
      world.ranks = ranks->integer;
      world.where = document_.place(*ranks);
    }
    if (const DocumentNode* groups = table.find("groups")) {
      for (const auto& member : require_table(document_, *groups, "groups of world").members) {
        world.groups.push_back(group(table, member));
      }
    }
    return world;
  }

  WorldGroup group(const TableReader& world, const DocumentNode::Member& member) {
    if (member.value.kind == Kind::kTable) {
      throw error_at(
          document_.place(member), ErrorCode::kInvalidInput,
          "the group {} of world is a table, and groups do not nest; write its number of "
          "ranks: {} = 2",
          printable(member.key), printable(member.key));
    }
    return {member.key, world.expression_of(member.value, "the group " + printable(member.key)),
            document_.place(member)};
  }

  std::vector<BufferShard> shards(const TableReader& buffer) {
    const DocumentNode* node = buffer.find("shard");
    if (node == nullptr) return {};
    if (node->kind != Kind::kArray) return {shard(*node, buffer)};
    std::vector<BufferShard> shards;
    for (const DocumentNode& item : node->items) shards.push_back(shard(item, buffer));
    return shards;
  }

  BufferShard shard(const DocumentNode& node, const TableReader& buffer) {
    static constexpr std::array<std::string_view, 2> kKeys = {"axis", "group"};
    const TableReader table(document_, node, "shard of " + buffer.what(), kKeys);
    const DocumentNode& axis = table.require("axis");
    if (axis.kind != Kind::kInteger) table.refuse(axis, "axis", "a number of at least 0");
    if (axis.integer < 0) {
      throw error_at(document_.place(axis), ErrorCode::kInvalidInput,
                     "axis of {} is {}, it must be at least 0", table.what(), axis.integer);
    }
    return {static_cast<std::size_t>(axis.integer), table.string("group").value_or(""),
            document_.place(axis)};
  }

  ProgramBuffer buffer(const DocumentNode::Member& member) {
    const TableReader table(document_, member.value, "buffer " + printable(member.key),
                            kBufferKeys);
    ProgramBuffer buffer{.name = member.key, .where = document_.place(member)};
    refuse_other_dtype_name(table, table.required_string("dtype"));
    buffer.dtype = static_cast<DType>(*table.choice("dtype", dtype_names()));
    table.require("shape");
    buffer.shape = table.expressions("shape", 0, kMaxNpyDimensions);
    if (const auto role = table.choice("role", kRoleNames)) {
      buffer.role = static_cast<BufferRole>(*role);
    }
    read_init(table, buffer);
    if (const auto file = table.string("file")) {
      if (buffer.init != BufferInit::kNone) {
        throw error_at(document_.place(*table.find("file")), ErrorCode::kInvalidInput,
                       "{} has both init = \"{}\" and file = \"{}\"; keep one of them",
                       table.what(), to_string(buffer.init), printable(*file));
      }
      buffer.init = BufferInit::kFile;
      buffer.file = path(*file, table, "file");
    }
    buffer.tensor = table.string("tensor").value_or("");
    if (buffer.tensor.empty() && table.find("tensor") != nullptr) {
      throw error_at(
          document_.place(*table.find("tensor")), ErrorCode::kInvalidInput,
          "{} has tensor = \"\"; name a tensor of its .safetensors file, or leave the key "
          "out for a .npy file",
          table.what());
    }
    buffer.convert = table.boolean("convert").value_or(false);
    if (const auto variable = table.string("variable")) {
      const std::size_t dot = variable->find('.');
      if (dot == 0 || dot == std::string::npos || dot + 1 == variable->size()) {
        throw error_at(document_.place(*table.find("variable")), ErrorCode::kInvalidInput,
                       "{} has variable = \"{}\"; write \"kernel.variable\"", table.what(),
                       printable(*variable));
      }
      buffer.variable = {variable->substr(0, dot), variable->substr(dot + 1)};
    }
    buffer.frozen = read_frozen_rows(table);
    buffer.shards = shards(table);
    if (const auto expect = table.string("expect")) {
      buffer.expect = path(*expect, table, "expect");
    }
    return buffer;
  }

  // The name that another library gives a dtype is not near Baton's.
  void refuse_other_dtype_name(const TableReader& table, std::string_view given) {
    const auto other = std::find_if(kOtherDTypeNames.begin(), kOtherDTypeNames.end(),
                                    [&](const auto& names) { return names.first == given; });
    if (other == kOtherDTypeNames.end()) return;
    throw error_at(document_.place(*table.find("dtype")), ErrorCode::kInvalidInput,
                   "unknown dtype \"{}\" of {}; did you mean \"{}\"?", given, table.what(),
                   other->second);
  }

  ProgramKernel kernel(const DocumentNode::Member& member) {
    const TableReader table(document_, member.value, "kernel " + printable(member.key),
                            kKernelKeys);
    ProgramKernel kernel{.name = member.key, .where = document_.place(member)};
    read_origin(table, kernel);
    kernel.entry = table.string("entry").value_or("");
    kernel.prelude = table.string("prelude").value_or("");
    // Quoted includes of a text resolve from the program's folder, and first from its own.
    if (kernel.origin == KernelOrigin::kText && directory_ != program_.directory) {
      kernel.include.push_back(directory_.empty() ? fs::path(".") : directory_);
    }
    for (const std::string& folder : table.strings("include")) {
      kernel.include.push_back(path(folder, table, "include"));
    }
    kernel.options = table.strings("options");
    if (const DocumentNode* launch = table.find("launch")) {
      kernel.launch = launch_defaults(*launch, "launch of " + table.what());
    }
    if (const auto mode = table.choice("rewrite", kRewriteNames)) {
      kernel.rewrite = static_cast<RewriteMode>(*mode);
    }
    return kernel;
  }

  void read_origin(const TableReader& table, ProgramKernel& kernel) {
    std::string_view chosen;
    for (std::size_t i = 0; i < kOriginKeys; ++i) {
      const std::string_view key = kOriginNames[i];
      if (table.find(key) == nullptr) continue;
      if (!chosen.empty()) {
        throw error_at(document_.place(*table.find(key)), ErrorCode::kInvalidInput,
                       "{} has both {} and {}; keep one of them", table.what(), chosen, key);
      }
      chosen = key;
      kernel.origin = static_cast<KernelOrigin>(i);
      if (kernel.origin == KernelOrigin::kText) {
        kernel.text = table.required_string(key);
      } else if (kernel.origin == KernelOrigin::kLink) {
        for (const std::string& file : table.strings(key)) {
          kernel.link.push_back(path(file, table, key));
        }
        if (kernel.link.empty()) {
          throw error_at(document_.place(*table.find(key)), ErrorCode::kInvalidInput,
                         "{} has link = []; name the sources and images to link", table.what());
        }
      } else {
        kernel.file = path(table.required_string(key), table, key);
      }
    }
    if (chosen.empty()) {
      throw error_at(table.place(), ErrorCode::kInvalidInput,
                     "{} lacks its code: one of source, text, ptx, cubin, fatbin and link",
                     table.what());
    }
  }

  ProgramAttributes launch_defaults(const DocumentNode& node, std::string what) {
    const auto known = attribute_keys();
    for (const char* key : {"grid", "block", "args"}) {
      if (const DocumentNode* misplaced = node.member(key)) {
        throw error_at(document_.place(*misplaced), ErrorCode::kInvalidInput,
                       "{} is in the {}: it belongs in the steps, only attributes have defaults",
                       key, what);
      }
    }
    return read_attributes(TableReader(document_, node, std::move(what), known));
  }

  // Relative paths start from the file's folder.
  fs::path path(const std::string& text, const TableReader& table, std::string_view key) {
    if (text.empty() || text.find('\0') != std::string::npos) {
      throw error_at(document_.place(*table.find(key)), ErrorCode::kInvalidInput,
                     "{} of {} is not a path: \"{}\"", key, table.what(), printable(text));
    }
    return directory_ / text;
  }

  const Document& document_;
  const fs::path& directory_;
  ProgramDefinition& program_;
  TableReader top_;
};

}  // namespace

std::optional<std::string> read_name(const Document& document) {
  ProgramDefinition none;
  return PartReader(document, {}, none).name();
}

std::vector<IncludedProgram> read_includes(const Document& document, const fs::path& directory) {
  ProgramDefinition none;
  return PartReader(document, directory, none).includes();
}

void read_parts(const Document& document, const fs::path& directory, std::size_t replaceable,
                ProgramDefinition& program) {
  PartReader(document, directory, program).read(replaceable);
}

}  // namespace baton
