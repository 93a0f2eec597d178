#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/array/safetensors.h"

namespace baton {

// A model in several .safetensors files, its shards: an index, "model.safetensors.index.json" as
// the transformers library writes it, names the shard of each tensor.

// Whether the name is that of an index: it ends in ".json".
bool is_safetensors_index(const std::filesystem::path& path);
// The file that is read for a name: where the file is missing, the index "NAME.index.json" beside
// it, if that is there.
std::filesystem::path safetensors_file(const std::filesystem::path& path);

// The shard of each tensor, by the tensor's name. Throws kInvalidInput naming `name`: text that is
// not JSON, a tensor that is listed twice, a missing map, and a shard outside of the index's
// folder.
using SafetensorsIndex = std::map<std::string, std::string, std::less<>>;
SafetensorsIndex parse_safetensors_index(std::string_view json, const std::string& name);
// The shards, each once, in the order of their names.
std::vector<std::string> shards_of(const SafetensorsIndex& index);

// The tensors of one .safetensors file, or of the shards of an index. Several threads may read it.
class SafetensorsModel {
 public:
  // Reads the headers of all files of `safetensors_file(path)`. Throws kNotFound for a missing
  // file, and kInvalidInput for a wrong one; for a tensor that its shard lacks, and for one that
  // another shard has too.
  explicit SafetensorsModel(const std::filesystem::path& path);
  // The same for parts of another file. `shard` returns the part of a name; null where there is
  // none.
  using HeldShard = std::function<std::shared_ptr<const HeldBytes>(const std::string& name)>;
  SafetensorsModel(const std::shared_ptr<const HeldBytes>& held, const HeldShard& shard);

  // A tensor, and the file to read it from. Both are the model's.
  struct Place {
    const SafetensorsFile* file = nullptr;
    const SafeTensor* tensor = nullptr;
  };
  // Throws kNotFound with the nearest name.
  Place tensor(std::string_view name) const;

 private:
  using Open = std::function<SafetensorsFile(const std::string& shard)>;
  void read(const SafetensorsIndex& index, const Open& open);

  std::string name_;
  std::vector<std::unique_ptr<const SafetensorsFile>> files_;
  std::map<std::string, Place, std::less<>> tensors_;
};

}  // namespace baton
