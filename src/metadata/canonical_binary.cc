#include "metadata/canonical_binary.h"

#include <algorithm>

#include "base/error.h"
#include "base/file/byte_reader.h"
#include "base/file/byte_writer.h"
#include "base/hash/hash.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "metadata/canonical.h"
#include "metadata/remarks.h"

namespace baton::metadata {
namespace {

// Begins with a byte that no text has and ends with one that line-end conversion destroys.
constexpr std::string_view kMagic =
    "\x93"
    "BATONM\n";
constexpr std::uint32_t kRequired = 1;  // of a section's flags

constexpr std::string_view kFunctions = "functions";
constexpr std::string_view kCode = "code";
constexpr std::string_view kSources = "sources";
constexpr std::string_view kSections[] = {kFunctions, kCode, kSources};

void write_strings(ByteWriter& out, std::span<const std::string_view> strings) {
  out.count(strings.size());
  for (const std::string_view text : strings) out.counted_bytes(text);
}

void write_function(ByteWriter& out, const FunctionMetadata& function) {
  out.counted_bytes(function.symbol());
  out.count(function.parameters().size());
  for (const auto& parameter : function.parameters()) out.counted_bytes(parameter_text(parameter));
  write_strings(out, function.operands());
  write_strings(out, function.flags());
  out.counted_bytes(to_string(function.rules()));
  out.count(function.kernel_attributes().size());
  for (const auto& [name, value] : function.kernel_attributes()) {
    out.counted_bytes(name);
    out.number(value);
  }
}

FunctionMetadata read_function(ByteReader& reader) {
  FunctionMetadata::Parts parts;
  parts.symbol = reader.counted_bytes("a symbol");
  const std::string where = fmt::format("{}: function {}", reader.name(), printable(parts.symbol));
  for (const std::string& text : reader.counted_strings("a parameter")) {
    parts.parameters.push_back(
        parse_parameter(text, fmt::format("{}, parameter {}", where, parts.parameters.size() + 1)));
  }
  parts.operands = reader.counted_strings("a launch value");
  parts.flags = reader.counted_strings("a flag");
  parts.rules = parse_rules(reader.counted_bytes("the rules"), where + ", rules");
  for (std::uint64_t left = reader.count(16, "the kernel attributes"); left > 0; --left) {
    std::string name(reader.counted_bytes("a kernel attribute's name"));
    const auto value = reader.number<std::int64_t>("a kernel attribute");
    if (!parts.kernel_attributes.try_emplace(std::move(name), value).second) {
      throw error(ErrorCode::kInvalidInput, "{}: a kernel attribute is given twice", where);
    }
  }
  return FunctionMetadata(std::move(parts));
}

void read_section(std::string_view section, ByteReader reader, ModuleMetadata::Parts& parts) {
  if (section == kFunctions) {
    // Six counts at the least.
    for (std::uint64_t left = reader.count(48, "the functions"); left > 0; --left) {
      parts.functions.push_back(read_function(reader));
    }
  } else if (section == kCode) {
    parts.label = reader.counted_bytes("the code's label");
    parts.code = reader.counted_bytes("the code");
  } else {
    for (std::uint64_t left = reader.count(16, "the sources"); left > 0; --left) {
      std::string language(reader.counted_bytes("a source's name"));
      parts.sources.insert_or_assign(std::move(language), reader.counted_bytes("a source"));
    }
  }
  reader.expect_end("the section");
}

void write_section(ByteWriter& out, std::string_view name, std::uint32_t flags,
                   std::string_view body) {
  out.counted_bytes(name);
  out.number(flags);
  out.counted_bytes(body);
}

}  // namespace

bool is_canonical_binary(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

ModuleMetadata read_canonical_binary(std::string_view bytes, const std::string& name,
                                     std::vector<std::string>& remarks) {
  ByteReader reader(bytes, name);
  reader.bytes(kMagic.size(), "the magic number");
  check_version(reader.number<std::uint32_t>("the version"), name);
  const auto checksum = reader.number<std::uint64_t>("the checksum");
  const auto sum = xxh3(bytes.substr(reader.place()));
  if (checksum != sum) {
    throw error(ErrorCode::kDamaged,
                "{} is damaged: its checksum is {:016x}, its bytes have {:016x}; write it again",
                name, checksum, sum);
  }
  ModuleMetadata::Parts parts;
  parts.name = name;
  std::vector<std::string_view> seen;
  while (reader.remaining() > 0) {
    const std::string_view section = reader.counted_bytes("a section's name");
    const auto flags = reader.number<std::uint32_t>("a section's flags");
    const std::string_view body = reader.counted_bytes("a section");
    if (std::find(std::begin(kSections), std::end(kSections), section) == std::end(kSections)) {
      if ((flags & kRequired) != 0) {
        throw error(ErrorCode::kInvalidInput,
                    "{} requires the section \"{}\", which this Baton does not know{}", name,
                    printable(section), suggestion(section, kSections));
      }
      remark(remarks,
             fmt::format("{}: the unknown section \"{}\" is ignored", name, printable(section)));
      continue;
    }
    if (std::find(seen.begin(), seen.end(), section) != seen.end()) {
      throw error(ErrorCode::kInvalidInput, "{}: the section \"{}\" occurs twice", name, section);
    }
    seen.push_back(section);
    read_section(section, ByteReader(body, name, reader.place() - body.size()), parts);
  }
  return ModuleMetadata(std::move(parts));
}

}  // namespace baton::metadata

namespace baton {

std::string metadata_binary(const ModuleMetadata& module) {
  using namespace metadata;
  ByteWriter functions;
  functions.count(module.functions().size());
  for (const FunctionMetadata& function : module.functions()) write_function(functions, function);

  ByteWriter sections;
  write_section(sections, kFunctions, kRequired, functions.view());
  if (module.image() || !module.label().empty()) {
    ByteWriter code;
    code.counted_bytes(module.label());
    code.counted_bytes(module.image() ? module.image()->bytes() : std::string_view());
    write_section(sections, kCode, kRequired, code.view());
  }
  if (!module.sources().empty()) {
    ByteWriter sources;
    sources.count(module.sources().size());
    for (const auto& [language, text] : module.sources()) {
      sources.counted_bytes(language);
      sources.counted_bytes(text);
    }
    write_section(sections, kSources, 0, sources.view());
  }

  ByteWriter out;
  out.bytes(kMagic);
  out.number(static_cast<std::uint32_t>(kCanonicalVersion));
  out.number(xxh3(sections.view()));
  out.bytes(sections.view());
  return out.take();
}

}  // namespace baton
