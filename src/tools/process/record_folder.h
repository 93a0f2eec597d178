#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/events.h"
#include "record/judge.h"
#include "replay/replay.h"

namespace baton::tools {

// A record: the folder that `baton record` writes (docs/record-format.md).

// Whether it is the folder of a record.
bool is_record(const std::filesystem::path& path);

// Makes the folder, with its manifest. Throws kInvalidInput where something is there, and where it
// cannot be made.
void create_record(const std::filesystem::path& path, const std::vector<std::string>& command,
                   const std::string& device);

// One image of a record.
struct RecordImage {
  std::string digest;  // the name of its file: SHA-256
  std::uint64_t bytes = 0;
};

struct RecordContents {
  std::filesystem::path path;
  std::vector<std::string> command;
  std::string device;
  std::vector<record::ProcessRecord> processes;  // by their numbers
  std::vector<RecordImage> images;               // by digest
  std::vector<std::string> damage;               // what could not be read, and why

  // The bytes of an image; nothing where they are not there.
  std::optional<std::string> image(const std::array<std::uint8_t, 32>& digest) const;
  // The contents of a copy of a process; nothing if the record lacks them.
  std::optional<std::string> contents(const record::ProcessRecord& process,
                                      const record::ContentsNote& note) const;
};

// Reads what can be read. Throws kNotFound or kInvalidInput for what is not a record, and for
// another version.
RecordContents read_record(const std::filesystem::path& path);

// Judges the edges of one of its processes.
record::RecordJudgement judge_process(const RecordContents& record,
                                      const record::ProcessRecord& process);

// Replays one of its processes.
replay::ReplayResult replay_process(const RecordContents& record,
                                    const record::ProcessRecord& process, const Device& device,
                                    const replay::ReplayOptions& options);

// Throws kDamaged if a part of the record could not be read.
void require_whole(const RecordContents& record);

}  // namespace baton::tools
