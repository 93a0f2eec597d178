#include "tools/process/record_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.h"
#include "base/file/file.h"
#include "base/hash/hash.h"
#include "base/text/json.h"
#include "record/format.h"

namespace baton::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "baton-record";

// Names in a message; a record may have many parts that are damaged in the same way.
constexpr std::size_t kMostDamage = 4;

void read_manifest(RecordContents& record) {
  const fs::path path = record.path / record::kManifest;
  const std::string name = path.string();
  const baton::Json manifest = parse_json(read_file(path), name);
  const baton::Json& object = require_object(manifest, name);
  const baton::Json* const format = find_member(object, "format");
  const baton::Json* const version = find_member(object, "version");
  if (format == nullptr || *format != kFormat || version == nullptr) {
    throw error(ErrorCode::kInvalidInput, "{} is not a record: {} does not say \"format\": \"{}\"",
                record.path.string(), name, kFormat);
  }
  const std::int64_t number = require_integer(*version, name + ": version");
  if (number < record::kOldestVersion || number > record::kVersion) {
    throw error(ErrorCode::kInvalidInput,
                "{} has version {} of the record format, this Baton reads versions {} to {}; "
                "record again, or use the Baton version that recorded it",
                record.path.string(), number, record::kOldestVersion, record::kVersion);
  }
  record.command = string_list(object, "command", name);
  if (const baton::Json* const device = find_member(object, "device")) {
    record.device = require_string(*device, name + ": device");
  }
}

// The files of a folder whose names end so, by name.
std::vector<fs::path> files_of(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure); !failure && at != fs::directory_iterator();
       at.increment(failure)) {
    if (at->path().extension() == ending) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

// A process leaves its contents and its images beside its events. Without the events they are what
// a record lost, and it is not the record of a program without launches.
void note_missing_events(RecordContents& record, const std::vector<fs::path>& events) {
  const std::size_t known = record.damage.size();
  for (const fs::path& contents : files_of(record.path, record::kContentsEnding)) {
    fs::path file = contents;
    file.replace_extension(record::kEventsEnding);
    if (std::ranges::find(events, file) != events.end()) continue;
    record.damage.push_back(
        fmt::format("{} is missing, {} is there", file.string(), contents.filename().string()));
  }
  if (record.damage.size() == known && events.empty() && !record.images.empty()) {
    record.damage.push_back(fmt::format("{} has images of kernels and no file of events ({})",
                                        record.path.string(), record::kEventsEnding));
  }
}

}  // namespace

bool is_record(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path / record::kManifest, failure);
}

void create_record(const fs::path& path, const std::vector<std::string>& command,
                   const std::string& device) {
  std::error_code failure;
  if (fs::exists(fs::symlink_status(path, failure))) {
    throw error(ErrorCode::kInvalidInput, "{} is there already; name another folder, or remove it",
                path.string());
  }
  fs::create_directories(path / record::kImages, failure);
  if (failure) {
    throw error(ErrorCode::kInvalidInput, "the folder {} cannot be made: {}", path.string(),
                failure.message());
  }
  const baton::Json manifest = {
      {"format", kFormat}, {"version", record::kVersion}, {"command", command}, {"device", device}};
  write_file_atomically(path / record::kManifest,
                        manifest.dump(2, ' ', false, baton::Json::error_handler_t::replace) + "\n");
}

std::optional<std::string> RecordContents::image(const std::array<std::uint8_t, 32>& digest) const {
  const fs::path file = path / record::kImages / to_hex(digest);
  std::error_code failure;
  if (!fs::is_regular_file(file, failure)) return std::nullopt;
  std::string bytes = read_file(file);
  if (sha256(bytes) != digest) {
    throw error(ErrorCode::kDamaged, "the image {} is damaged: its bytes are others",
                file.string());
  }
  return bytes;
}

std::optional<std::string> RecordContents::contents(const record::ProcessRecord& process,
                                                    const record::ContentsNote& note) const {
  fs::path file = process.file;
  file.replace_extension(record::kContentsEnding);
  std::error_code failure;
  const std::uint64_t size = fs::file_size(file, failure);
  if (failure || note.offset > size || note.bytes > size - note.offset) return std::nullopt;
  std::string bytes(note.bytes, '\0');
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(note.offset));
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return std::nullopt;
  return bytes;
}

RecordContents read_record(const fs::path& path) {
  RecordContents record;
  record.path = path;
  read_manifest(record);
  const std::vector<fs::path> files = files_of(path, record::kEventsEnding);
  for (const fs::path& file : files) {
    try {
      record.processes.push_back(record::read_events(read_file(file), file.string()));
      const std::string& damage = record.processes.back().damage;
      if (!damage.empty()) record.damage.push_back(damage);
    } catch (const Error& unreadable) {
      record.damage.push_back(unreadable.message());
    }
  }
  std::error_code failure;
  for (fs::directory_iterator at(path / record::kImages, failure);
       !failure && at != fs::directory_iterator(); at.increment(failure)) {
    std::error_code unreadable;
    const std::string name = at->path().filename().string();
    // A part of an image is left where a process was killed while it wrote.
    if (at->path().extension() == ".part") continue;
    record.images.push_back({name, at->file_size(unreadable)});
  }
  std::ranges::sort(record.images, {}, &RecordImage::digest);
  note_missing_events(record, files);
  return record;
}

record::RecordJudgement judge_process(const RecordContents& record,
                                      const record::ProcessRecord& process) {
  return record::judge(process, [&](const auto& digest) { return record.image(digest); });
}

replay::ReplayResult replay_process(const RecordContents& record,
                                    const record::ProcessRecord& process, const Device& device,
                                    const replay::ReplayOptions& options) {
  const replay::RecordFiles files = {
      [&](const auto& digest) { return record.image(digest); },
      [&](const record::ContentsNote& note) { return record.contents(process, note); }};
  return replay::replay(device, process, files, options);
}

void require_whole(const RecordContents& record) {
  if (record.damage.empty()) return;
  const std::size_t shown = std::min(record.damage.size(), kMostDamage);
  throw error(ErrorCode::kDamaged, "{}{}; what could be read is above",
              fmt::join(record.damage.begin(),
                        record.damage.begin() + static_cast<std::ptrdiff_t>(shown), "; "),
              shown < record.damage.size()
                  ? fmt::format("; and {} more", record.damage.size() - shown)
                  : "");
}

}  // namespace baton::tools
