#include "image/cubin_facts.h"

#include "base/error.h"

namespace baton::image {

ImageFacts read_cubin_facts(const Image& image) {
  throw error(ErrorCode::kUnsupported, "{} is a cubin, whose facts cannot be read yet",
              image.name());
}

}  // namespace baton::image
