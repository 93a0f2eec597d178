#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/file/held_bytes.h"
#include "base/file/mapped_file.h"
#include "baton/program.h"
#include "bundle/index.h"

namespace baton::bundle {

// What the copies of a Bundle share. Immutable but for what is read when it is first asked for.
// Thread-safe.
struct BundleContent {
  // Throws kInvalidInput where the index is wrong.
  explicit BundleContent(std::shared_ptr<const MappedFile> mapped, std::filesystem::path beside)
      : file(std::move(mapped)), index(Index::read(*file)), directory(std::move(beside)) {}

  const std::shared_ptr<const MappedFile> file;
  const Index index;
  const std::filesystem::path directory;  // the folder of files that the bundle lacks
  // Whether a trusted key signed the index: parts are then checked by their SHA-256 digests. Set
  // before the content is shared.
  bool is_trusted = false;

  // Throws kInvalidInput for the first part whose SHA-256 digest differs.
  void verify() const;
  // The bytes of a section, unchecked until they are asked for.
  std::shared_ptr<const HeldBytes> hold(std::uint32_t section) const;
  // Those of the other sections in the section's folder, by their paths from there.
  std::map<std::string, std::shared_ptr<const HeldBytes>, std::less<>> neighbours_of(
      std::uint32_t section) const;
  // The bytes of a section, which live as long as the bundle. Throws what HeldBytes throws.
  std::string_view bytes(std::uint32_t section) const;
  // "X.baton/images/norm.sm_90a.ptx"
  std::string name_of(std::uint32_t section) const;
  const Program& program() const;

 private:
  mutable std::mutex parts_mutex_;
  mutable std::map<std::uint32_t, std::shared_ptr<const HeldBytes>> parts_;
  mutable std::mutex mutex_;
  mutable std::optional<Program> program_;  // once it is read
};

}  // namespace baton::bundle
