#include "base/array/safetensors_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text/json.h"
#include "base/text/suggest.h"
#include "base/text/text.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMap = "weight_map";

// A downloaded index may name no file elsewhere.
bool stays_in_folder(const fs::path& shard) {
  return shard.is_relative() && shard.has_filename() &&
         std::ranges::none_of(shard, [](const fs::path& part) { return part == ".."; });
}

std::string in_quotes(std::string_view text) {
  return '"' + printable(text) + '"';
}

}  // namespace

bool is_safetensors_index(const fs::path& path) {
  return path.extension() == ".json";
}

fs::path safetensors_file(const fs::path& path) {
  std::error_code failed;
  const fs::path index = path.string() + ".index.json";
  return !fs::exists(path, failed) && fs::exists(index, failed) ? index : path;
}

SafetensorsIndex parse_safetensors_index(std::string_view json, const std::string& name) {
  const Json parsed = parse_json(json, name);
  const Json* const map = find_member(require_object(parsed, name), kMap);
  if (map == nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "{} is not an index of .safetensors files: it has no \"{}\"", name, kMap);
  }
  const std::string where = fmt::format("{}: {}", name, kMap);
  SafetensorsIndex index;
  for (const auto& [tensor, shard] : require_object(*map, where).items()) {
    const std::string& file = require_string(shard, where + '.' + printable(tensor));
    if (!stays_in_folder(file)) {
      throw error(ErrorCode::kInvalidInput,
                  "{}: the tensor {} is in {}, and a shard lies in the folder of its index", name,
                  in_quotes(tensor), in_quotes(file));
    }
    index.emplace(tensor, file);
  }
  if (index.empty()) {
    throw error(ErrorCode::kInvalidInput, "{} has no tensors", where);
  }
  return index;
}

std::vector<std::string> shards_of(const SafetensorsIndex& index) {
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : index) shards.insert(shard);
  return {shards.begin(), shards.end()};
}

SafetensorsModel::SafetensorsModel(const fs::path& given) {
  const fs::path path = safetensors_file(given);
  name_ = path.string();
  if (!is_safetensors_index(path)) {
    read({}, [&](const std::string&) { return SafetensorsFile(path); });
    return;
  }
  read(parse_safetensors_index(read_file(path, kMaxSafetensorsHeader), name_),
       [&](const std::string& shard) { return SafetensorsFile(path.parent_path() / shard); });
}

SafetensorsModel::SafetensorsModel(const std::shared_ptr<const HeldBytes>& held,
                                   const HeldShard& shard)
    : name_(held->name()) {
  if (!is_safetensors_index(name_)) {
    read({}, [&](const std::string&) { return SafetensorsFile(held); });
    return;
  }
  // A mapped file can become shorter while its bytes are looked at.
  std::string json(held->size(), '\0');
  held->read(0, json.size(), json.data());
  read(parse_safetensors_index(json, name_), [&](const std::string& name) {
    const std::shared_ptr<const HeldBytes> part = shard(name);
    if (part != nullptr) return SafetensorsFile(part);
    throw error(ErrorCode::kNotFound, "{} is not there", in_quotes(name));
  });
}

// Without an index the one file has all tensors.
void SafetensorsModel::read(const SafetensorsIndex& index, const Open& open) {
  if (index.empty()) {
    files_.push_back(std::make_unique<const SafetensorsFile>(open({})));
    for (const auto& [name, tensor] : files_[0]->tensors()) {
      tensors_.emplace(name, Place{files_[0].get(), &tensor});
    }
    return;
  }
  std::map<std::string, std::string, std::less<>> found;  // the shard of each tensor so far
  for (const std::string& shard : shards_of(index)) {
    try {
      files_.push_back(std::make_unique<const SafetensorsFile>(open(shard)));
    } catch (Error& failure) {
      if (failure.code() == ErrorCode::kNotFound) {
        throw error(ErrorCode::kNotFound, "{}; {} names it as a shard: put it there",
                    failure.message(), name_);
      }
      failure.note(name_ + " names it as a shard");
      throw;
    }
    for (const auto& [name, tensor] : files_.back()->tensors()) {
      const auto listed = index.find(name);
      if (listed == index.end()) continue;
      const auto [other, is_new] = found.emplace(name, shard);
      if (!is_new) {
        throw error(ErrorCode::kInvalidInput,
                    "the tensor {} is in two shards of {}, {} and {}; a model has each tensor once",
                    in_quotes(name), name_, in_quotes(other->second), in_quotes(shard));
      }
      if (listed->second == shard) tensors_.emplace(name, Place{files_.back().get(), &tensor});
    }
  }
  for (const auto& [name, shard] : index) {
    if (tensors_.contains(name)) continue;
    const auto other = found.find(name);
    throw error(ErrorCode::kInvalidInput,
                "{} says that the tensor {} is in {}, which does not have it{}", name_,
                in_quotes(name), in_quotes(shard),
                other == found.end() ? "" : "; " + in_quotes(other->second) + " has it");
  }
}

SafetensorsModel::Place SafetensorsModel::tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& [other, place] : tensors_) known.push_back(other);
  throw error(ErrorCode::kNotFound, "{} has no tensor \"{}\"{}", name_, printable(name),
              suggestion(name, known));
}

}  // namespace baton
