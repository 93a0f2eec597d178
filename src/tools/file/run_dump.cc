#include "tools/file/run_dump.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/array/npy.h"
#include "base/error.h"
#include "base/file/file.h"
#include "base/hash/hash.h"
#include "program/buffer_roles.h"

namespace baton::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// "0003-topk-layer=2".
std::string folder_name(const CompletedStep& step) {
  std::string name = fmt::format("{:04}-{}", step.number, step.label);
  for (const auto& [index, value] : step.indexes) name += fmt::format("-{}={}", index, value);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '=' || c == '.';
    if (!plain) c = '_';
  }
  return name;
}

}  // namespace

RunDump::RunDump(std::string_view option, fs::path folder, const Program& program)
    : folder_(std::move(folder)), program_(program), list_(std::make_unique<Json>(Json::array())) {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  const bool is_empty = !failure && fs::is_empty(folder_, failure);
  if (failure) {
    throw error(ErrorCode::kInvalidInput, "{} {}: {}", option, folder_.string(), failure.message());
  }
  if (!is_empty) {
    throw error(ErrorCode::kInvalidInput, "{} {}: the folder is not empty; name a new one", option,
                folder_.string());
  }
}

RunDump::~RunDump() = default;

void RunDump::write_buffers(const fs::path& folder, const Contents& contents) {
  fs::create_directories(folder);
  for (const ProgramBuffer& buffer : program_.buffers()) {
    const fs::path target = folder / (buffer.name + ".npy");
    Written& last = written_[buffer.name];
    const auto link = [&] {
      std::error_code failure;
      fs::create_hard_link(last.file, target, failure);
      return !failure;
    };
    // No step writes a weight.
    if (facts_of(buffer.role).is_constant && !last.file.empty() && link()) continue;
    const Array array = contents(buffer.name);
    const std::uint64_t checksum = xxh3(array.bytes);
    const bool is_same =
        !last.file.empty() && last.checksum == checksum && last.bytes == array.bytes.size();
    if (is_same && link()) continue;
    write_npy(target, array);
    last = {target, checksum, array.bytes.size()};
  }
}

void RunDump::add(const CompletedStep& step) {
  const std::string name = folder_name(step);
  write_buffers(folder_ / name, step.contents);
  Json indexes = Json::object();
  for (const auto& [index, value] : step.indexes) indexes[index] = value;
  list_->push_back({{"number", step.number},
                    {"label", step.label},
                    {"indexes", std::move(indexes)},
                    {"where", step.where.to_string()},
                    {"launch", step.launch ? Json(*step.launch) : Json(nullptr)},
                    {"skipped", step.skipped},
                    {"folder", name}});
  ++steps_;
}

std::string RunDump::add_failure(const Executable& executable, const Error& failure) {
  try {
    // Ends the error state of a simulated GPU. A GPU stays in it, and its memory is lost.
    if (failure.driver_result() != 0) executable.device().recover();
    write_buffers(folder_ / "failed",
                  [&](std::string_view buffer) { return executable.contents(buffer); });
  } catch (const Error& lost) {
    return fmt::format("the buffers after the failure cannot be read: {}", lost.message());
  }
  list_->push_back({{"folder", "failed"}, {"error", failure.message()}});
  return {};
}

void RunDump::finish() {
  const Json manifest = {{"version", 1},
                         {"program", program_.name()},
                         {"file", program_.file().string()},
                         {"steps", *list_}};
  // Names and paths may hold bytes that are not UTF-8; JSON cannot.
  write_file_atomically(folder_ / "manifest.json",
                        manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace baton::tools
