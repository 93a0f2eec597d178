#include "image/image_content.h"

#include "base/error.h"

namespace baton::image {

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
