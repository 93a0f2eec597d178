#include "baton/bundle.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/text/text.h"
#include "bundle/check.h"
#include "bundle/content.h"
#include "bundle/program_part.h"
#include "bundle/signature.h"
#include "bundle/verdicts.h"
#include "bundle/verify_once.h"
#include "bundle/zip.h"
#include "bundle/zip_differences.h"

namespace baton {
namespace bundle {

std::string BundleContent::name_of(std::uint32_t section) const {
  const std::string_view own = index.text(index.sections[section].name);
  std::string name;
  name.reserve(file->name().size() + 1 + own.size());
  return name.append(file->name()).append(1, '/').append(own);
}

std::shared_ptr<const HeldBytes> BundleContent::hold(std::uint32_t section) const {
  const SectionRow row = index.sections[section];
  // A copy of weights would take as much memory as they do.
  const bool is_file = index.text(row.name).starts_with(kFileFolder);
  HeldBytes::Sum sum = row.xxh3;
  if (is_trusted) std::ranges::copy(row.sha256, sum.emplace<Sha256Digest>().begin());
  return std::make_shared<const HeldBytes>(
      file, file->bytes().substr(row.offset, row.size), sum, name_of(section),
      is_file ? HeldBytes::Keep::kMapped : HeldBytes::Keep::kCopied);
}

std::string_view BundleContent::bytes(std::uint32_t section) const {
  const std::lock_guard lock(parts_mutex_);
  std::shared_ptr<const HeldBytes>& part = parts_[section];
  if (part == nullptr) part = hold(section);
  return part->get();
}

void BundleContent::verify() const {
  file->require_whole();
  for (std::uint64_t number = 0; number < index.sections.size(); ++number) {
    const SectionRow row = index.sections[number];
    const std::string_view part = file->bytes().substr(row.offset, row.size);
    Sha256 sum;
    file->for_each_piece(part, [&](std::string_view piece) { sum.update(piece); });
    const Sha256Digest found = sum.finish();
    if (std::ranges::equal(found, row.sha256)) continue;
    throw error(ErrorCode::kInvalidInput,
                "{} is damaged: its digest is {}, its bytes have {}; copy or build {} again",
                name_of(static_cast<std::uint32_t>(number)), to_hex(row.sha256), to_hex(found),
                file->name());
  }
  verify_record(*this);
}

// The other files in the folder of a section, and below it.
std::map<std::string, std::shared_ptr<const HeldBytes>, std::less<>> BundleContent::neighbours_of(
    std::uint32_t section) const {
  const std::string_view name = index.text(index.sections[section].name);
  const std::string_view folder = name.substr(0, name.rfind('/') + 1);
  std::map<std::string, std::shared_ptr<const HeldBytes>, std::less<>> neighbours;
  for (std::uint64_t number = 0; number < index.sections.size(); ++number) {
    const std::string_view other = index.text(index.sections[number].name);
    if (number == section || !other.starts_with(folder)) continue;
    neighbours.emplace(other.substr(folder.size()), hold(static_cast<std::uint32_t>(number)));
  }
  return neighbours;
}

namespace {

void run_checks(BundleContent& content, const BundleChecks& checks) {
  const std::vector<PublicKey> keys = checks.keys ? *checks.keys : trusted_keys();
  if (!keys.empty()) {
    content.file->require_whole();
    require_signature(content.index, content.file->bytes(), keys, content.file->name());
    content.is_trusted = true;
  }
  switch (checks.verify) {
    case Verify::kIndex:
      return;
    case Verify::kOnce:
      verify_once(content);
      return;
    case Verify::kAll:
      return content.verify();
  }
}

}  // namespace
}  // namespace bundle

using bundle::BundleContent;
using bundle::SectionRow;

Bundle::Bundle(std::shared_ptr<const BundleContent> content) : content_(std::move(content)) {}

Bundle Bundle::open(const std::filesystem::path& path, const BundleChecks& checks) {
  auto content = std::make_shared<BundleContent>(MappedFile::open(path), path.parent_path());
  bundle::run_checks(*content, checks);
  return Bundle(std::move(content));
}

Bundle Bundle::open(const std::filesystem::path& path, Verify verify) {
  return open(path, BundleChecks{verify, std::nullopt});
}

Bundle Bundle::from_bytes(std::string bytes, std::string name, const BundleChecks& checks) {
  auto content = std::make_shared<BundleContent>(
      MappedFile::from_bytes(std::move(bytes), std::move(name)), std::filesystem::path());
  bundle::run_checks(*content, checks);
  return Bundle(std::move(content));
}

Bundle Bundle::from_bytes(std::string bytes, std::string name, Verify verify) {
  return from_bytes(std::move(bytes), std::move(name), BundleChecks{verify, std::nullopt});
}

bool Bundle::is_bundle(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return false;
  try {
    return bundle::is_bundle(MappedFile::open(path)->bytes());
  } catch (const Error&) {
    return false;  // whoever reads it says why it cannot be read
  }
}

const std::string& Bundle::name() const {
  return content_->file->name();
}

std::string Bundle::version() const {
  return fmt::format("{}.{}", content_->index.major(), content_->index.minor());
}

const Program& Bundle::program() const {
  return content_->program();
}

std::vector<std::string> Bundle::architectures() const {
  const bundle::Index& index = content_->index;
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (std::uint64_t number = 0; number < index.builds.size(); ++number) {
    const std::string_view arch = index.text(index.builds[number].arch);
    if (!arch.empty() && seen.insert(arch).second) names.emplace_back(arch);
  }
  return names;
}

std::vector<BundlePart> Bundle::parts() const {
  const bundle::Index& index = content_->index;
  std::vector<BundlePart> parts;
  for (std::uint64_t number = 0; number < index.sections.size(); ++number) {
    const SectionRow row = index.sections[number];
    parts.push_back({index.text(row.name), row.offset, row.size, to_hex(row.sha256)});
  }
  return parts;
}

std::string_view Bundle::bytes(std::string_view part) const {
  const std::uint32_t section = content_->index.section(part);
  if (section == bundle::kNone) {
    throw error(ErrorCode::kNotFound, "{} has no part \"{}\"", name(), printable(part));
  }
  return content_->bytes(section);
}

void Bundle::verify() const {
  content_->verify();
}

namespace {

// Of the builds from source whose PTX is among the proofs, in their order.
std::vector<std::string> architectures_of(const bundle::Index& index,
                                          const std::vector<edges::KeptJudgement::Proof>& proofs) {
  std::vector<std::string> names;
  for (std::uint64_t number = 0; number < index.modules.size(); ++number) {
    const bundle::ModuleRow module = index.modules[number];
    if (module.is_source == 0) continue;
    for (std::uint32_t i = 0; i < module.builds.count; ++i) {
      const bundle::BuildRow build = index.builds[module.builds.first + i];
      if (build.ptx == bundle::kNone) continue;
      const bundle::SectionRow section = index.sections[index.images[build.ptx].section];
      const bool is_proof = std::ranges::any_of(
          proofs, [&](const auto& proof) { return std::ranges::equal(section.sha256, proof.ptx); });
      const std::string_view name = index.text(build.arch);
      if (is_proof && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace

std::vector<BundleVerdicts> Bundle::verdicts() const {
  const bundle::Index& index = content_->index;
  std::vector<BundleVerdicts> all;
  for (edges::KeptJudgement& kept : bundle::read_judgements(index)) {
    BundleVerdicts& verdicts = all.emplace_back();
    verdicts.symbols = std::move(kept.symbols);
    verdicts.architectures = architectures_of(index, kept.proofs);
    verdicts.of_setup = kept.of_setup;
    verdicts.edges = std::move(kept.judgement.edges);
    for (edges::KeptJudgement::Proof& proof : kept.proofs) {
      const bool is_code = proof.ptx == Sha256Digest{};
      bool is_there = is_code;
      for (std::uint64_t i = 0; i < index.sections.size() && !is_there; ++i) {
        const bundle::SectionRow row = index.sections[i];
        is_there = std::ranges::equal(row.sha256, proof.ptx);
      }
      verdicts.proofs.push_back(
          {std::move(proof.kernel), is_code ? "" : to_hex(proof.ptx), is_there});
    }
  }
  return all;
}

std::optional<PublicKey> Bundle::signed_by() const {
  if (content_->index.signing.size() == 0) return std::nullopt;
  content_->file->require_whole();
  return bundle::check_signature(content_->index, content_->file->bytes(), name());
}

const std::vector<std::string>& Bundle::skipped() const {
  return content_->index.skipped();
}

std::vector<std::string> Bundle::directory_differences() const {
  content_->file->require_whole();
  std::vector<bundle::ZipEntry> wanted = {
      {std::string(bundle::kIndexEntry), bundle::kPage, content_->index.bytes().size()}};
  for (const BundlePart& part : parts()) {
    wanted.push_back({std::string(part.name), part.offset, part.size});
  }
  if (content_->index.signing.size() != 0) {
    const bundle::SigningRow row = content_->index.signing[0];
    wanted.push_back({std::string(bundle::kSignatureEntry), row.offset, row.size});
  }
  return bundle::zip_differences(content_->file->bytes(), name(), std::move(wanted));
}

}  // namespace baton
