#include "program/writer/writer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text/text.h"
#include "program/buffer_init.h"
#include "program/expression/requirement.h"
#include "program/frozen_rows.h"
#include "program/names.h"
#include "program/steps/step_kind.h"
#include "program/tune_parameter.h"
#include "program/writer/argument_writer.h"
#include "program/writer/toml_table.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

TomlTable table_of(const ProgramStep& step) {
  TomlTable table;
  std::visit([&](const auto& action) { write_step(action, table); }, step.action);
  return table;
}

std::string toml_shards(const std::vector<BufferShard>& shards) {
  std::vector<std::string> tables;
  for (const BufferShard& shard : shards) {
    TomlTable table;
    table.add("axis", std::to_string(shard.axis));
    table.add_text("group", shard.group);
    tables.push_back(table.as_value());
  }
  if (tables.size() == 1) return tables[0];
  return fmt::format("[{}]", fmt::join(tables, ", "));
}

class ProgramWriter {
 public:
  ProgramWriter(const Program& program, const MemoryKernelName& in_memory)
      : program_(program), in_memory_(in_memory) {}

  std::string write() {
    TomlTable top;
    top.add("name", toml_string(program_.name()));
    if (!program_.requirements().empty()) {
      top.add("require", toml_requirements(program_.requirements()));
    }
    out_ = top.as_lines();
    if (program_.world()) write_world(*program_.world());
    write_symbols();
    if (!program_.tune_parameters().empty()) {
      out_ += "\n[tune]\n" + toml_tune_parameters(program_.tune_parameters());
    }
    for (const ProgramBuffer& buffer : program_.buffers()) {
      section(fmt::format("buffers.{}", buffer.name), buffer_table(buffer));
    }
    for (const ProgramKernel& kernel : program_.kernels()) {
      section(fmt::format("kernels.{}", toml_string(kernel.name)), kernel_table(kernel));
    }
    for (const ProgramStep& step : program_.setup()) put_step("setup", step);
    for (const ProgramStep& step : program_.steps()) put_step("steps", step);
    return std::move(out_);
  }

 private:
  void section(const std::string& name, const TomlTable& table) {
    out_ += fmt::format("\n[{}]\n{}", name, table.as_lines());
  }

  void put_step(std::string_view key, const ProgramStep& step) {
    out_ += fmt::format("\n[[{}]]\n{}", key, table_of(step).as_lines());
  }

  void write_world(const ProgramWorld& world) {
    TomlTable table;
    if (world.ranks) table.add("ranks", std::to_string(*world.ranks));
    section("world", table);
    if (world.groups.empty()) return;
    TomlTable groups;
    for (const WorldGroup& group : world.groups)
      groups.add(group.name, toml_expression(group.size));
    section("world.groups", groups);
  }

  void write_symbols() {
    TomlTable table;
    for (const ProgramSymbol& symbol : program_.symbols()) {
      if (!symbol.of_world) table.add(symbol.name, std::to_string(symbol.value));
    }
    if (!table.empty()) section("symbols", table);
  }

  // From the program's folder, as the reader takes it.
  std::string path(const fs::path& file) const {
    if (program_.directory().empty() || file.is_absolute()) return file.string();
    const fs::path inside = file.lexically_relative(program_.directory());
    if (!inside.empty() && *inside.begin() != "..") return inside.string();
    return fs::absolute(file).string();
  }

  std::vector<std::string> paths(const std::vector<fs::path>& files) const {
    std::vector<std::string> texts;
    for (const fs::path& file : files) texts.push_back(path(file));
    return texts;
  }

  TomlTable buffer_table(const ProgramBuffer& buffer) const {
    TomlTable table;
    table.add("dtype", toml_string(to_string(buffer.dtype)));
    table.add("shape", toml_expressions(buffer.shape));
    table.add("role", toml_string(to_string(buffer.role)));
    if (buffer.init == BufferInit::kFile) {
      table.add("file", toml_string(path(buffer.file)));
    } else {
      write_init(buffer, table);
    }
    table.add_text("tensor", buffer.tensor);
    if (buffer.convert) table.add("convert", "true");
    if (buffer.variable) {
      table.add("variable", toml_string(buffer.variable->kernel + '.' + buffer.variable->name));
    }
    if (buffer.frozen) table.add("frozen", toml_frozen_rows(*buffer.frozen));
    if (!buffer.shards.empty()) table.add("shard", toml_shards(buffer.shards));
    if (!buffer.expect.empty()) table.add("expect", toml_string(path(buffer.expect)));
    return table;
  }

  TomlTable kernel_table(const ProgramKernel& kernel) const {
    TomlTable table;
    add_origin(kernel, table);
    table.add_text("entry", kernel.entry);
    table.add_text("prelude", kernel.prelude);
    table.add_if("include", paths(kernel.include));
    table.add_if("options", kernel.options);
    if (kernel.rewrite) table.add("rewrite", toml_string(to_string(*kernel.rewrite)));
    TomlTable launch;
    write_attributes(kernel.launch, launch);
    if (!launch.empty()) table.add("launch", launch.as_value());
    return table;
  }

  void add_origin(const ProgramKernel& kernel, TomlTable& table) const {
    const std::string_view key = to_string(kernel.origin);
    switch (kernel.origin) {
      case KernelOrigin::kSource:
      case KernelOrigin::kPtx:
      case KernelOrigin::kCubin:
      case KernelOrigin::kFatbin:
        return table.add(key, toml_string(path(kernel.file)));
      case KernelOrigin::kText:
        return table.add(key, toml_string(kernel.text));
      case KernelOrigin::kLink:
        return table.add(key, toml_strings(paths(kernel.link)));
      case KernelOrigin::kImage:
      case KernelOrigin::kCompiled:
        const auto [stands_for, file] = in_memory_(kernel);
        return table.add(stands_for, toml_string(file));
    }
  }

  const Program& program_;
  const MemoryKernelName& in_memory_;
  std::string out_;
};

}  // namespace

std::string toml_steps(const std::vector<ProgramStep>& steps) {
  std::string out = "[\n";
  for (const ProgramStep& step : steps) out += "  " + table_of(step).as_value() + ",\n";
  return out + "]";
}

std::string write_program(const Program& program, const MemoryKernelName& in_memory) {
  return ProgramWriter(program, in_memory).write();
}

std::string Program::to_toml() const {
  return write_program(
      *this, [](const ProgramKernel& kernel) -> std::pair<std::string, std::string> {
        throw error_at(
            kernel.where, ErrorCode::kInvalidInput,
            "kernel {} is in memory ({}), which a program file cannot name; write it to a "
            "file, or build a bundle, which holds it",
            printable(kernel.name), to_string(kernel.origin));
      });
}

}  // namespace baton
