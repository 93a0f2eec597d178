#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file/byte_writer.h"
#include "base/file/file.h"
#include "baton/metadata.h"

namespace baton::metadata {

inline std::string golden(const std::string& file) {
  return std::string(BATON_SOURCE_DIR "/tests/golden/metadata/") + file;
}

// The error that `function` throws.
inline Error failure_of(const std::function<void()>& function) {
  try {
    function();
  } catch (Error& failure) {
    return failure;
  }
  ADD_FAILURE() << "nothing failed";
  return Error(ErrorCode::kInternal, "");
}

inline std::string refusal_of(const std::function<void()>& function) {
  const Error failure = failure_of(function);
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput) << failure.what();
  return failure.what();
}

inline std::vector<std::string> to_strings(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

// TVM's binary forms, written field by field as their description says: what the readers are
// checked against, apart from Baton's own writer.
struct RawFunction {
  std::string name;
  std::vector<std::string> types;
  std::vector<std::string> tags;
  std::vector<int> extra;
  std::vector<std::string> fields;
  std::vector<std::pair<std::string, std::int64_t>> attributes;
};

inline void put_strings(ByteWriter& out, const std::vector<std::string>& strings) {
  out.count(strings.size());
  for (const std::string& text : strings) out.counted_bytes(text);
}

// `generation` is 0, 1 or 2.
inline void put_function(ByteWriter& out, const RawFunction& function, int generation) {
  if (generation == 2) out.counted_bytes("__tvm_function_info_v2__");
  out.counted_bytes(function.name);
  out.count(function.types.size());
  for (const std::string& name : function.types) {
    const MetadataType type = *MetadataType::parse(name);
    out.number(static_cast<std::uint8_t>(type.code));
    out.number(type.bits);
    out.number(type.lanes);
  }
  put_strings(out, function.tags);
  if (generation == 0) return;
  out.count(function.extra.size());
  for (const int tag : function.extra) out.number(std::int32_t{tag});
  if (generation == 1) return;
  put_strings(out, function.fields);
  out.count(function.attributes.size());
  for (const auto& [name, value] : function.attributes) {
    out.counted_bytes(name);
    out.number(value);
  }
}

inline std::string function_bytes(const RawFunction& function, int generation) {
  ByteWriter out;
  put_function(out, function, generation);
  return out.take();
}

inline std::string module_bytes(const std::vector<RawFunction>& functions, int generation,
                                std::string_view label, std::string_view code) {
  ByteWriter out;
  out.counted_bytes(label);
  out.count(functions.size());
  for (const RawFunction& function : functions) {
    out.counted_bytes(function.name);
    put_function(out, function, generation);
  }
  out.counted_bytes(code);
  return out.take();
}

}  // namespace baton::metadata
