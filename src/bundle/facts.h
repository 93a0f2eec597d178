#pragma once

#include <cstdint>

#include "baton/image.h"
#include "bundle/index.h"
#include "bundle/index_writer.h"

namespace baton::bundle {

// The facts of images as rows of the index, both ways: what is written reads back equal.

void write_facts(const ImageFacts& facts, std::uint32_t section, IndexWriter& out);
// Of the image of that number.
ImageFacts read_facts(const Index& index, std::uint32_t image);
// The same without the rows of other tables, except those that say which GPUs run the image.
ImageFacts read_target(const Index& index, std::uint32_t image);

}  // namespace baton::bundle
