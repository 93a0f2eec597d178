#include "metadata/tvm_binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/file/byte_reader.h"
#include "base/file/byte_writer.h"
#include "base/text/text.h"
#include "metadata/data_type.h"
#include "metadata/tvm_function.h"

namespace baton::metadata {
namespace {

constexpr std::string_view kFunctionV2 = "__tvm_function_info_v2__";
constexpr std::string_view kModuleV1 = "cuda.module.v1";

// Of function infos without a marker.
enum class Fields { kThree, kFour };

struct RawModule {
  std::string_view label;
  std::vector<TvmFunction> functions;
  std::string_view code;
  std::map<std::string, std::string> sources;
  std::string format;
};

// The type that TileLang's TVM gives a `const __grid_constant__ CUtensorMap` (kDLGridConstant of
// its pack_args.h): a handle whose code says what a tag says elsewhere.
constexpr std::uint8_t kGridConstant = 30;

void read_types(ByteReader& reader, TvmFunction& function) {
  std::vector<std::size_t> tensor_maps;
  for (std::uint64_t left = reader.count(4, "the argument types"); left > 0; --left) {
    const std::uint64_t place = reader.place();
    auto code = reader.number<std::uint8_t>("a type's code");
    const auto bits = reader.number<std::uint8_t>("a type's bits");
    const auto lanes = reader.number<std::uint16_t>("a type's lanes");
    const bool is_tensor_map = code == kGridConstant && bits == 64 && lanes == 1;
    if (is_tensor_map) {
      tensor_maps.push_back(function.types.size());
      code = static_cast<std::uint8_t>(MetadataType::Code::kHandle);
    }
    const auto type = make_type(code, bits, lanes);
    if (!type) {
      throw error(
          ErrorCode::kInvalidInput,
          "{}: at byte {} is the type code {} with {} bits and {} lanes, which is not a type "
          "of a kernel parameter",
          reader.name(), place, code, bits, lanes);
    }
    function.types.push_back(*type);
  }
  if (tensor_maps.empty()) return;
  function.extra_tags.resize(function.types.size(), kNoTag);
  for (const std::size_t index : tensor_maps) function.extra_tags[index] = kTensorMapTag;
}

// Tags that are written out join those that the types imply.
void read_extra_tags(ByteReader& reader, TvmFunction& function) {
  std::size_t index = 0;
  for (std::uint64_t left = reader.count(4, "the argument tags"); left > 0; --left, ++index) {
    const std::int64_t tag = reader.number<std::int32_t>("an argument tag");
    if (index >= function.extra_tags.size()) {
      function.extra_tags.push_back(tag);
    } else if (tag != kNoTag) {
      function.extra_tags[index] = tag;
    }
  }
}

// `count` becomes the number of fields that the function has.
TvmFunction read_function(ByteReader& reader, Fields fields, int& count) {
  TvmFunction function;
  std::string_view name = reader.counted_bytes("a function's name");
  const bool second = name == kFunctionV2;
  count = second ? 6 : fields == Fields::kFour ? 4 : 3;
  if (second) name = reader.counted_bytes("a function's name");
  function.name = name;
  read_types(reader, function);
  function.tags = reader.counted_strings("the launch-parameter tags");
  if (second || fields == Fields::kFour) {
    read_extra_tags(reader, function);
  }
  if (second) {
    function.fields = reader.counted_strings("the launch fields");
    for (std::uint64_t left = reader.count(16, "the kernel attributes"); left > 0; --left) {
      std::string key(reader.counted_bytes("a kernel attribute's name"));
      const auto value = reader.number<std::int64_t>("a kernel attribute");
      function.kernel_attributes.emplace_back(std::move(key), value);
    }
  }
  return function;
}

bool is_plausible_label(std::string_view label) {
  constexpr std::size_t kMaxLabel = 32;
  return !label.empty() && label.size() <= kMaxLabel &&
         std::all_of(label.begin(), label.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                  c == '.';
         });
}

RawModule read_module(std::string_view bytes, const std::string& name, Fields fields) {
  ByteReader reader(bytes, name);
  RawModule module;
  module.label = reader.counted_bytes("the code's label");
  const bool first = module.label == kModuleV1;
  if (first) module.label = reader.counted_bytes("the code's label");
  if (!is_plausible_label(module.label)) {
    throw error(ErrorCode::kInvalidInput, "{}: \"{}\" at its start is not a label of code", name,
                printable(module.label));
  }
  // A key, and a function of at least three fields.
  int count = fields == Fields::kFour ? 4 : 3;
  for (std::uint64_t left = reader.count(32, "the functions"); left > 0; --left) {
    const std::string_view key = reader.counted_bytes("a function's symbol");
    module.functions.push_back(read_function(reader, fields, count));
    module.functions.back().name = key;
  }
  module.code = reader.counted_bytes("the code");
  if (first) {
    for (std::uint64_t left = reader.count(16, "the sources"); left > 0; --left) {
      std::string key(reader.counted_bytes("a source's name"));
      module.sources.insert_or_assign(std::move(key), reader.counted_bytes("a source"));
    }
  }
  reader.expect_end("the module");
  module.format =
      fmt::format("TVM module{}, functions of {} fields", first ? " version 1" : "", count);
  return module;
}

RawModule read_lone_function(std::string_view bytes, const std::string& name, Fields fields) {
  ByteReader reader(bytes, name);
  RawModule module;
  int count = 0;
  module.functions.push_back(read_function(reader, fields, count));
  reader.expect_end("the function");
  module.format = fmt::format("TVM function info of {} fields", count);
  return module;
}

using Attempt = RawModule (*)(std::string_view, const std::string&, Fields);

// Newer first: four fields are three and one more. Nothing where neither uses the bytes exactly.
std::optional<RawModule> attempt(Attempt read, std::string_view bytes, const std::string& name,
                                 std::vector<std::string>& reasons) {
  for (const Fields fields : {Fields::kFour, Fields::kThree}) {
    try {
      return read(bytes, name, fields);
    } catch (const Error& unfit) {
      reasons.push_back(fmt::format("with {} fields a function: {}",
                                    fields == Fields::kFour ? 4 : 3, unfit.message()));
    }
  }
  return std::nullopt;
}

ModuleMetadata finish(RawModule raw, const std::string& name, FoundMetadata& found) {
  found.format = std::move(raw.format);
  ModuleMetadata::Parts parts;
  parts.name = name;
  parts.label = raw.label;
  parts.code = raw.code;
  parts.sources = std::move(raw.sources);
  for (TvmFunction& function : raw.functions) {
    parts.functions.push_back(decode(std::move(function), found.remarks));
  }
  return ModuleMetadata(std::move(parts));
}

[[noreturn]] void refuse(const std::string& name, const char* what,
                         const std::vector<std::string>& reasons) {
  throw error(ErrorCode::kInvalidInput, "{} is not {}: {}", name, what, fmt::join(reasons, "; "));
}

void write_strings(ByteWriter& out, const std::vector<std::string>& strings) {
  out.count(strings.size());
  for (const std::string& text : strings) out.counted_bytes(text);
}

void write_function(ByteWriter& out, const FunctionMetadata& function, TagPrefix prefix) {
  const TvmFunction raw = encode(function, prefix);
  if (!raw.fields.empty() || !raw.kernel_attributes.empty()) {
    throw error(
        ErrorCode::kInvalidInput,
        "function {}: TVM's binary form has no place for {} \"{}\"; write Baton's own form, "
        "or TVM's JSON",
        raw.name, raw.fields.empty() ? "the kernel attribute" : "the launch field",
        raw.fields.empty() ? raw.kernel_attributes.front().first : raw.fields.front());
  }
  out.counted_bytes(raw.name);
  out.count(raw.types.size());
  for (const MetadataType& type : raw.types) {
    out.number(static_cast<std::uint8_t>(type.code));
    out.number(type.bits);
    out.number(type.lanes);
  }
  write_strings(out, raw.tags);
  out.count(raw.extra_tags.size());
  for (const std::int64_t tag : raw.extra_tags) out.number(static_cast<std::int32_t>(tag));
}

}  // namespace

ModuleMetadata read_tvm_module(std::string_view bytes, const std::string& name,
                               FoundMetadata& found) {
  std::vector<std::string> reasons;
  auto raw = attempt(read_module, bytes, name, reasons);
  if (!raw) refuse(name, "a TVM module", reasons);
  return finish(std::move(*raw), name, found);
}

ModuleMetadata read_tvm_binary(std::string_view bytes, const std::string& name,
                               FoundMetadata& found) {
  std::vector<std::string> reasons;
  auto raw = attempt(read_module, bytes, name, reasons);
  if (!raw) raw = attempt(read_lone_function, bytes, name, reasons);
  if (!raw) refuse(name, "metadata of a known format", reasons);
  return finish(std::move(*raw), name, found);
}

}  // namespace baton::metadata

namespace baton {

std::string tvm_function_info(const FunctionMetadata& function, TagPrefix prefix) {
  ByteWriter out;
  metadata::write_function(out, function, prefix);
  return out.take();
}

std::string tvm_module(const ModuleMetadata& module, TagPrefix prefix) {
  const auto source = module.sources().find("cuda");
  std::string_view code;
  std::string label = module.label();
  if (module.image()) {
    code = module.image()->bytes();
    if (label.empty()) label = to_string(module.image()->kind());
  } else if (source != module.sources().end()) {
    code = source->second;
    if (label.empty()) label = "cuda";
  }
  if (!metadata::is_plausible_label(label)) {
    throw error(ErrorCode::kInvalidInput,
                "{}: a TVM module needs code and a label for it, this has {}", module.name(),
                label.empty() ? "none" : "the label " + label);
  }
  // What the code itself is not.
  std::map<std::string, std::string> beside = module.sources();
  if (!module.image()) beside.erase("cuda");
  ByteWriter out;
  if (!beside.empty()) out.counted_bytes(metadata::kModuleV1);
  out.counted_bytes(label);
  out.count(module.functions().size());
  for (const FunctionMetadata& function : module.functions()) {
    out.counted_bytes(function.symbol());
    metadata::write_function(out, function, prefix);
  }
  out.counted_bytes(code);
  if (beside.empty()) return out.take();
  out.count(beside.size());
  for (const auto& [language, text] : beside) {
    out.counted_bytes(language);
    out.counted_bytes(text);
  }
  return out.take();
}

}  // namespace baton
