#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/hash/hash.h"
#include "baton/bundle.h"
#include "bundle/definitions.h"
#include "bundle/rows.h"
#include "bundle/zip.h"

namespace {

using baton::bundle::HeaderRow;
using baton::bundle::kPage;

void require(bool holds) {
  if (!holds) std::abort();
}

// Everything that a bundle holds, as loading and inspecting ask for it.
void use(const baton::Bundle& bundle) {
  bundle.architectures();
  bundle.directory_differences();
  bundle.verdicts();
  for (const baton::BundlePart& part : bundle.parts()) {
    try {
      require(bundle.bytes(part.name).size() == part.size);
    } catch (const baton::Error& damaged) {
      require(damaged.code() == baton::ErrorCode::kInvalidInput);
    }
  }
  const auto definitions =
      baton::bundle::read_definitions(bundle, bundle.program(), std::string_view("sm_90a"));
  for (const auto& definition : definitions) {
    require(!definition.kernels.empty());
    const baton::Image& image = definition.image ? *definition.image : definition.compiled->ptx;
    read_facts(image);
    require(image.bytes().data()[image.bytes().size()] == '\0' ||
            image.kind() != baton::ImageKind::kPtx);
  }
}

void check_signature(const baton::Bundle& bundle) {
  try {
    bundle.signed_by();
  } catch (const baton::Error& refused) {
    require(refused.code() == baton::ErrorCode::kInvalidInput);
  }
}

// The bytes where a key is required whose other half nobody here has: nothing is signed with it.
void refuse_unsigned(const std::string& file) {
  static const baton::BundleChecks checks{baton::Verify::kIndex,
                                          std::vector{baton::PublicKey::from_bytes({1, 2, 3})}};
  try {
    baton::Bundle::from_bytes(file, "input", checks);
  } catch (const baton::Error&) {
    return;
  }
  std::abort();
}

// A file with these bytes behind its first page, and with a header that is right: no search would
// find a checksum.
std::string with_checksum(std::string_view data) {
  std::string file = std::string(kPage, '\0');
  file += data;
  if (data.size() < sizeof(HeaderRow)) return file;
  HeaderRow header;
  std::memcpy(&header, data.data(), sizeof header);
  std::ranges::copy(baton::bundle::kIndexMagic, header.magic);
  header.major = baton::bundle::kMajor;
  header.file_size = file.size();
  header.index_size = std::min<std::uint64_t>(header.index_size, data.size());
  std::memcpy(file.data() + kPage, &header, sizeof header);
  if (header.index_size < sizeof header) return file;
  constexpr std::size_t kBegin = offsetof(HeaderRow, major);
  header.xxh3 =
      baton::xxh3(std::string_view(file).substr(kPage + kBegin, header.index_size - kBegin));
  std::memcpy(file.data() + kPage, &header, sizeof header);
  return file;
}

}  // namespace

// Any bytes as a bundle whole, as what follows its first page, and as a zip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string& file : {bytes, with_checksum(bytes)}) {
    try {
      const auto bundle = baton::Bundle::from_bytes(file, "input");
      refuse_unsigned(file);
      check_signature(bundle);
      use(bundle);
    } catch (const baton::Error& refused) {
      require(refused.code() == baton::ErrorCode::kInvalidInput ||
              refused.code() == baton::ErrorCode::kNotFound);
    }
  }
  try {
    baton::bundle::read_zip_directory(bytes, "input");
  } catch (const baton::Error& refused) {
    require(refused.code() == baton::ErrorCode::kInvalidInput);
  }
  return 0;
}
