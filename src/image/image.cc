#include "baton/image.h"

#include <utility>

#include "base/error.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/text/text.h"
#include "image/container/fatbin_facts.h"
#include "image/container/sniff.h"
#include "image/cubin/cubin_facts.h"
#include "image/image_content.h"
#include "image/ptx/ptx_facts.h"

namespace baton {
namespace {

// Larger files are not images: it bounds what a hostile path can make us read.
constexpr std::uint64_t kMaxImageBytes = std::uint64_t{2} << 30;

// PTX ends at its first NUL: compilers count one, and drivers stop there.
std::string_view ptx_text(std::string_view bytes, std::string_view name) {
  const std::size_t end = bytes.find('\0');
  if (end == std::string_view::npos) return bytes;
  if (bytes.find_first_not_of(std::string_view("\0 \t\r\n", 5), end) != std::string_view::npos) {
    log(LogLevel::kWarning, "{}: {} after the NUL that ends the PTX text were left out", name,
        format_bytes(bytes.size() - end - 1));
  }
  return bytes.substr(0, end);
}

}  // namespace

std::string_view to_string(ImageKind kind) noexcept {
  switch (kind) {
    case ImageKind::kPtx:
      return "ptx";
    case ImageKind::kCubin:
      return "cubin";
    case ImageKind::kFatbin:
      return "fatbin";
  }
  return "image";
}

std::string_view to_string(MemberFacts::Kind kind) noexcept {
  constexpr std::string_view kNames[] = {"PTX", "cubin", "LTO-IR"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(MemberFacts::Packing packing) noexcept {
  constexpr std::string_view kNames[] = {"stored", "LZ4", "zstd"};
  return kNames[static_cast<std::size_t>(packing)];
}

std::string_view to_string(DebugInfo info) noexcept {
  constexpr std::string_view kNames[] = {"none", "lines", "full"};
  return kNames[static_cast<std::size_t>(info)];
}

Image Image::from_file(const std::filesystem::path& path) {
  return from_bytes(read_file(path, kMaxImageBytes), path.string());
}

Image::Image(std::string_view bytes, std::string name) : kind_(image::sniff(bytes, name)) {
  bytes_ = kind_ == ImageKind::kPtx ? ptx_text(bytes, name) : bytes;
  content_ = std::make_shared<image::ImageContent>();
  content_->name = std::move(name);
}

Image::Image(ImageKind kind, std::shared_ptr<image::ImageContent> content, std::string_view bytes)
    : kind_(kind), content_(std::move(content)), bytes_(bytes) {}

std::string_view Image::bytes() const {
  return content_->held == nullptr ? bytes_ : content_->held_bytes(kind_);
}

const std::string& Image::name() const {
  return content_->held == nullptr ? content_->name : content_->held->name();
}

Image Image::from_bytes(std::string_view bytes, std::string name) {
  Image image(bytes, std::move(name));
  image.content_->owned = image.bytes_;
  image.bytes_ = image.content_->owned;
  return image;
}

Image Image::from_static(std::string_view bytes, std::string name) {
  Image image(bytes, std::move(name));
  if (image.bytes_.data()[image.bytes_.size()] != '\0') {
    throw error(
        ErrorCode::kInvalidInput,
        "{}: no NUL follows the image's {} bytes, which are not copied; append one, or take "
        "an image that copies them",
        image.name(), image.bytes_.size());
  }
  return image;
}

const KernelFacts* ImageFacts::kernel(std::string_view symbol) const {
  for (const KernelFacts& candidate : kernels) {
    if (candidate.name == symbol) return &candidate;
  }
  return nullptr;
}

std::shared_ptr<const ImageFacts> image::shared_facts(const Image& image) {
  if (const auto& known = ImageContent::facts_of(image)) return known;
  return std::make_shared<const ImageFacts>(read_facts(image));
}

ImageFacts read_facts(const Image& image) {
  if (const auto& known = image::ImageContent::facts_of(image)) return *known;
  switch (image.kind()) {
    case ImageKind::kPtx:
      return image::read_ptx_facts(image);
    case ImageKind::kCubin:
      return image::read_cubin_facts(image);
    case ImageKind::kFatbin:
      return image::read_fatbin_facts(image);
  }
  throw error(ErrorCode::kInternal, "an image of kind {}", static_cast<int>(image.kind()));
}

}  // namespace baton
