#include "analysis/record_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/hash/hash.h"

namespace baton::record {
namespace {

constexpr std::size_t kShown = 3;         // programs
constexpr std::size_t kShownText = 2000;  // bytes of a section

std::string digest_of(const std::string& text) {
  return fmt::format("{:08x}", static_cast<std::uint32_t>(xxh3(text)));
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

void dump(const std::string& program, const std::vector<Section>& sections) {
  std::string file = program;
  std::ranges::replace(file, '/', '.');
  std::ofstream out(std::filesystem::path(std::getenv("BATON_RECORD_DUMP")) / file);
  for (const Section& section : sections) out << "== " << section.name << '\n' << section.text;
}

}  // namespace

RecordFile::RecordFile(std::string name)
    : name_(std::move(name)),
      path_(BATON_SOURCE_DIR "/tests/golden/analysis/" + name_ + ".txt"),
      old_(is_set("UPDATE") ? std::vector<std::string>() : lines_of(path_)) {}

void RecordFile::add(const std::string& program, const std::vector<Section>& sections) {
  if (is_set("BATON_RECORD_DUMP")) dump(program, sections);
  std::string line = program;
  for (const Section& section : sections) {
    line += fmt::format(" {}={}", section.name, digest_of(section.text));
  }
  const std::size_t at = new_.size();
  new_.push_back(line);
  if (is_set("UPDATE")) return;
  const std::string before = at < old_.size() ? old_[at] : "no line";
  if (line == before) return;
  if (++differing_ > kShown) return;
  difference_ += fmt::format("{}\n  recorded: {}\n  now: {}\n", program, before, line);
  for (const Section& section : sections) {
    const std::string digest = fmt::format(" {}={}", section.name, digest_of(section.text));
    if (before.find(digest) != std::string::npos) continue;
    difference_ += fmt::format("== {}\n{}\n", section.name, section.text.substr(0, kShownText));
  }
}

std::string RecordFile::end() {
  if (is_set("UPDATE")) {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    std::ofstream file(path_);
    for (const std::string& line : new_) file << line << '\n';
    return file.good() ? "" : "cannot write " + path_;
  }
  if (differing_ == 0 && new_.size() == old_.size()) return "";
  return fmt::format(
      "{} of {} programs differ from tests/golden/analysis/{}.txt, which has {}. Compare the texts "
      "of both versions (BATON_RECORD_DUMP=FOLDER). If the change is intended, renew the record: "
      "UPDATE=1 baton_analysis_record\n{}",
      differing_, new_.size(), name_, old_.size(), difference_);
}

}  // namespace baton::record
