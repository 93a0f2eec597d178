#include "baton/tvm_library.h"

#include <array>

#include "base/file/byte_writer.h"
#include "base/file/file.h"
#include "base/file/mapped_file.h"
#include "baton/bundle.h"
#include "bundle/data_library.h"

namespace baton {
namespace {

// The symbol that tvm-ffi looks for, and the kind of module for which Baton's adapter has a loader.
constexpr std::string_view kSymbol = "__tvm_ffi__library_bin";
constexpr std::string_view kKind = "baton";

// tvm-ffi's binary in front of the bundle's bytes: its size, the tree of imports (for each module
// the end of its children in a list, which is empty here), and for each module its kind and its
// bytes.
std::string binary_head(std::uint64_t bundle_size) {
  ByteWriter body;
  body.count(2);
  body.number<std::uint64_t>(0);
  body.number<std::uint64_t>(0);
  body.count(0);
  body.counted_bytes(kKind);
  body.count(bundle_size);
  ByteWriter head;
  head.count(body.view().size() + bundle_size);
  head.bytes(body.view());
  return head.take();
}

}  // namespace

void write_tvm_library(const std::filesystem::path& bundle, const std::filesystem::path& library) {
  // Whoever loads it asks for a key; whoever writes it need not.
  Bundle::open(bundle, {Verify::kAll, std::vector<PublicKey>()});
  const auto file = MappedFile::open(bundle);
  const std::string binary = binary_head(file->bytes().size());
  const auto elf = bundle::DataLibrary::make(kSymbol, binary.size() + file->bytes().size());
  const std::array<std::string_view, 4> parts{elf.head, binary, file->bytes(), elf.tail};
  write_file_atomically(library, parts);
}

}  // namespace baton
