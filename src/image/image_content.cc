#include "image/image_content.h"

#include <utility>

#include "base/error.h"
#include "image/container/sniff.h"

namespace baton::image {

Image ImageContent::with_facts(std::shared_ptr<const HeldBytes> held, ImageFacts facts) {
  auto content = std::make_shared<ImageContent>();
  const ImageKind kind = facts.kind;
  content->held = std::move(held);
  content->facts = std::make_shared<const ImageFacts>(std::move(facts));
  return Image(kind, std::move(content), {});
}

void ImageContent::keep_facts(const Image& image, ImageFacts facts) {
  image.content_->facts = std::make_shared<const ImageFacts>(std::move(facts));
}

const std::shared_ptr<const ImageFacts>& ImageContent::facts_of(const Image& image) {
  return image.content_->facts;
}

std::string_view ImageContent::held_bytes(ImageKind kind) {
  std::string_view bytes = held->get();
  check(bytes, kind);
  if (kind == ImageKind::kPtx) bytes.remove_suffix(1);
  return bytes;
}

void ImageContent::check(std::string_view bytes, ImageKind kind) {
  if (checked_.load(std::memory_order_acquire)) return;
  // Whoever takes PTX reads up to its NUL.
  if (kind == ImageKind::kPtx && !bytes.ends_with('\0')) {
    throw error(ErrorCode::kInvalidInput, "{} is PTX without the NUL that ends it", held->name());
  }
  if (const ImageKind found = sniff(bytes, held->name()); found != kind) {
    throw error(ErrorCode::kInvalidInput, "{} is said to be {} and is {}", held->name(),
                to_string(kind), to_string(found));
  }
  checked_.store(true, std::memory_order_release);
}

std::shared_ptr<const ptx::ParsedModule> ImageContent::ptx_of(const Image& image) {
  if (image.kind() != ImageKind::kPtx) {
    throw error(ErrorCode::kInternal, "{} is an image of kind {}, not PTX", image.name(),
                to_string(image.kind()));
  }
  ImageContent& content = *image.content_;
  // Not std::call_once: under ThreadSanitizer it does not return after a callable that throws.
  std::lock_guard lock(content.mutex_);
  if (content.module_ == nullptr) {
    content.module_ = ptx::ParsedModule::parse(std::string(image.bytes()), image.name());
  }
  return content.module_;
}

}  // namespace baton::image
