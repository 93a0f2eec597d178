#include "bundle/verify_once.h"

#include <chrono>

#include "base/hash/hash.h"
#include "base/log.h"
#include "compile/cache/cache.h"

namespace baton::bundle {
namespace {

namespace fs = std::filesystem;

// A file that was changed again so soon may have the same times.
constexpr std::chrono::milliseconds kSettled{100};

struct Note {
  fs::path path;
  std::string text;
};

// Where the note about the file as it is now would be.
std::optional<Note> note_of(const BundleContent& content) {
  const auto identity = content.file->identity();
  const auto cache = compiler::Cache::open_default();
  if (!identity || !cache) return std::nullopt;
  if (std::chrono::system_clock::now() - identity->changed < kSettled) return std::nullopt;
  const std::string text =
      fmt::format("{} index {}\n", identity->text, to_hex(sha256(content.index.bytes())));
  const fs::path folder = cache->directory().parent_path() / "verified";
  return Note{folder / to_hex(sha256(text)), text};
}

void keep(const Note& note) {
  std::string failure;
  auto write = compiler::CachedWrite::begin(note.path.parent_path() / "tmp", note.text, &failure);
  if (write && write->finish(note.path, &failure)) return;
  log(LogLevel::kInfo, "a bundle is verified again the next time: {}", failure);
}

}  // namespace

bool verify_once(const BundleContent& content) {
  const auto before = note_of(content);
  std::string failure;
  if (before && compiler::read_cached_file(before->path, &failure) == before->text) return false;
  content.verify();
  const auto after = note_of(content);
  if (before && after && before->path == after->path) keep(*after);
  return true;
}

}  // namespace baton::bundle
