#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "baton/executable.h"

namespace baton::tools {

// A folder with all buffers of a program after steps of a run: one folder for each step, one .npy
// file for each buffer in it, and manifest.json. A buffer that stays as it was is a hard link to
// the file before, so that it takes room once.
class RunDump {
 public:
  // Makes the folder. `option` is what messages call it: "--dump". Throws kInvalidInput for one
  // that cannot be made, and for one that is not empty.
  RunDump(std::string_view option, std::filesystem::path folder, const Program& program);
  ~RunDump();

  void add(const CompletedStep& step);
  // The buffers after a run that failed. Returns a remark if they cannot be read.
  std::string add_failure(const Executable& executable, const Error& failure);

  // The steps so far.
  std::size_t steps() const { return steps_; }
  const std::filesystem::path& folder() const { return folder_; }

  // Writes the manifest.
  void finish();

 private:
  struct Written {
    std::filesystem::path file;
    std::uint64_t checksum = 0;
    std::uint64_t bytes = 0;
  };
  using Contents = std::function<Array(std::string_view buffer)>;

  void write_buffers(const std::filesystem::path& folder, const Contents& contents);

  const std::filesystem::path folder_;
  const Program program_;
  std::map<std::string, Written> written_;  // by buffer
  std::unique_ptr<nlohmann::ordered_json> list_;
  std::size_t steps_ = 0;
};

}  // namespace baton::tools
