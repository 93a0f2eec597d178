#include "program/reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/npy_header.h"
#include "base/suggest.h"
#include "base/text.h"
#include "program/attribute_reader.h"
#include "program/attributes.h"
#include "program/names.h"

namespace baton {
namespace {

using Kind = DocumentNode::Kind;
namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kProgramKeys = {"name",    "symbols", "buffers",
                                                          "kernels", "setup",   "steps"};
constexpr std::array<std::string_view, 7> kBufferKeys = {"dtype", "shape",  "role",    "init",
                                                         "file",  "tensor", "variable"};
constexpr std::array<std::string_view, 12> kKernelKeys = {
    "source", "text",    "ptx",     "cubin",   "fatbin", "link",
    "entry",  "prelude", "include", "options", "launch", "rewrite"};
// "none" is what leaving `init` out means, and a file has a key of its own.
constexpr std::span<const std::string_view> kInitChoices(kInitNames.data() + 1, 4);

class ProgramReader {
 public:
  ProgramReader(const Document& document, fs::path directory)
      : document_(document),
        directory_(std::move(directory)),
        top_(document, document.root(), "the program", kProgramKeys) {}

  ProgramDefinition read(std::string default_name) {
    ProgramDefinition program;
    program.directory = directory_;
    program.name = top_.string("name").value_or(std::move(default_name));
    for_each("symbols", [&](const auto& member) { program.symbols.push_back(symbol(member)); });
    for_each("buffers", [&](const auto& member) { program.buffers.push_back(buffer(member)); });
    for_each("kernels", [&](const auto& member) { program.kernels.push_back(kernel(member)); });
    if (const DocumentNode* setup = top_.find("setup")) {
      program.setup = read_steps(document_, *setup, "setup step ");
    }
    program.steps = read_steps(document_, top_.require("steps"), "step ");
    return program;
  }

 private:
  template <typename Read>
  void for_each(std::string_view key, Read&& read) {
    const DocumentNode* section = top_.find(key);
    if (section == nullptr) return;
    for (const auto& member : require_table(document_, *section, key).members) read(member);
  }

  ProgramSymbol symbol(const DocumentNode::Member& member) {
    if (member.value.kind != Kind::kInteger) {
      throw error_at(document_.place(member.value), ErrorCode::kInvalidInput,
                     "the symbol {} must be an integer, not {}", printable(member.key),
                     describe(member.value.kind));
    }
    return {member.key, member.value.integer, document_.place(member)};
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
    if (const auto init = table.choice("init", kInitChoices)) {
      buffer.init = static_cast<BufferInit>(*init + 1);
    }
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
    if (const auto variable = table.string("variable")) {
      const std::size_t dot = variable->find('.');
      if (dot == 0 || dot == std::string::npos || dot + 1 == variable->size()) {
        throw error_at(document_.place(*table.find("variable")), ErrorCode::kInvalidInput,
                       "{} has variable = \"{}\"; write \"kernel.variable\"", table.what(),
                       printable(*variable));
      }
      buffer.variable = {variable->substr(0, dot), variable->substr(dot + 1)};
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

  // Relative paths start from the program's folder.
  fs::path path(const std::string& text, const TableReader& table, std::string_view key) {
    if (text.empty() || text.find('\0') != std::string::npos) {
      throw error_at(document_.place(*table.find(key)), ErrorCode::kInvalidInput,
                     "{} of {} is not a path: \"{}\"", key, table.what(), printable(text));
    }
    return directory_ / text;
  }

  const Document& document_;
  fs::path directory_;
  TableReader top_;
};

// Errors that know no place are the file's.
Program read_program(std::string_view text, std::string name, fs::path directory,
                     std::string default_name, const fs::path& file) {
  const Document document(text, std::move(name));
  ProgramDefinition definition =
      ProgramReader(document, std::move(directory)).read(std::move(default_name));
  definition.file = file;
  definition.text = text;
  try {
    return Program(std::move(definition));
  } catch (Error& failure) {
    failure.at({document.name()});
    throw;
  }
}

}  // namespace

Program Program::from_file(const fs::path& path) {
  return read_program(read_file(path, Document::kMaxBytes), path.string(), path.parent_path(),
                      path.stem().string(), path);
}

Program Program::from_text(std::string_view toml, std::string name, const fs::path& directory) {
  return read_program(toml, name, directory, name, {});
}

}  // namespace baton
