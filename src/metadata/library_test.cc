#include "metadata/library.h"

#include <gmock/gmock.h>

#include <cstring>

#include "image/container/elf.h"
#include "metadata/test_support.h"

namespace baton::metadata::library_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

FoundMetadata read_golden(const std::string& file) {
  return read_metadata(std::filesystem::path(golden(file)));
}

// Written by apache-tvm 0.27.0: a module of source text in an exported library.
TEST(LibraryTest, ReadsAnExportedModuleOfSource) {
  const FoundMetadata found = read_golden("tvm_0_27_source.so");
  EXPECT_EQ(found.format, "shared library");
  EXPECT_THAT(found.remarks, IsEmpty());
  ASSERT_THAT(found.modules, SizeIs(1));
  const ModuleMetadata& module = found.modules[0];
  EXPECT_EQ(module.label(), "cuda");
  EXPECT_FALSE(module.image());
  EXPECT_THAT(module.sources().at("cuda"), HasSubstr("scale_kernel("));
  EXPECT_THAT(to_strings(module.function("scale_kernel").operands()),
              ElementsAre("grid.x", "block.x"));
}

// The same with PTX: flags, clusters, a tensor map.
TEST(LibraryTest, ReadsAnExportedModuleOfPtx) {
  const FoundMetadata found = read_golden("tvm_0_27_ptx.so");
  ASSERT_THAT(found.modules, SizeIs(1));
  const ModuleMetadata& module = found.modules[0];
  ASSERT_TRUE(module.image());
  EXPECT_EQ(module.image()->kind(), ImageKind::kPtx);
  // What its sidecar says is the same, and so is what the image says.
  const ModuleMetadata sidecar = read_golden("tvm_0_27.tvm_meta.json").modules.at(0);
  EXPECT_TRUE(std::ranges::equal(module.functions(), sidecar.functions()));
  const ImageFacts facts = read_facts(*module.image());
  for (const FunctionMetadata& function : module.functions()) {
    const KernelFacts* kernel = facts.kernel(function.symbol());
    ASSERT_NE(kernel, nullptr) << function.symbol();
    ASSERT_EQ(kernel->params->size(), function.parameters().size());
    for (std::size_t i = 0; i < function.parameters().size(); ++i) {
      const auto& parameter = function.parameters()[i];
      EXPECT_EQ((*kernel->params)[i].size, parameter.tensor_map ? 128 : parameter.type.size());
    }
  }
}

// Written by the embedding tool of apache-tvm-ffi 0.1.15.
TEST(LibraryTest, ReadsEmbeddedCubins) {
  const FoundMetadata found = read_golden("tvm_ffi_cubin.o");
  EXPECT_EQ(found.format, "object file");
  ASSERT_THAT(found.modules, SizeIs(1));
  EXPECT_THAT(found.modules[0].name(), HasSubstr("(demo)"));
  EXPECT_EQ(found.modules[0].image()->kind(), ImageKind::kCubin);
  EXPECT_THAT(read_facts(*found.modules[0].image()).kernels, SizeIs(3));
}

// In an object file a symbol's place is its section's, which a damaged file need not have.
TEST(LibraryTest, SymbolsOfNoSectionNameNothing) {
  constexpr std::size_t kEntry = 24, kSectionOfEntry = 6;
  std::string bytes = read_file(golden("tvm_ffi_cubin.o"));
  const image::ElfFile file(bytes, "tvm_ffi_cubin.o", "library");
  const image::ElfSection* symbols = file.section(".symtab", image::ElfFile::kSymbolTable);
  ASSERT_NE(symbols, nullptr);
  for (const std::uint16_t index : {std::uint16_t{0}, std::uint16_t{0x7fff}}) {
    std::string damaged = bytes;
    for (std::size_t at = 0; at + kEntry <= symbols->size; at += kEntry) {
      std::memcpy(damaged.data() + symbols->offset + at + kSectionOfEntry, &index, sizeof index);
    }
    const Error failure = failure_of([&] { read_metadata(damaged, "damaged.o"); });
    EXPECT_EQ(failure.code(), ErrorCode::kNotFound) << index;
  }
}

TEST(LibraryTest, FindsNothingInLibrariesWithoutMetadata) {
  try {
    read_metadata(std::filesystem::path(BATON_SOURCE_DIR "/src/image/testdata/host_shared.so"));
    FAIL() << "metadata was found";
  } catch (const Error& missing) {
    EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
    EXPECT_THAT(missing.message(), HasSubstr("__tvm_ffi__library_bin"));
  }
}

TEST(LibraryTest, EveryTruncationIsRefusedOrReadsTheSame) {
  const std::string whole = read_file(golden("tvm_0_27_source.so"));
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    EXPECT_THROW(read_metadata(whole.substr(0, size), "cut.so"), Error) << size;
  }
}

// The payload of the data symbol, by hand.
std::string library_bytes(const std::vector<std::uint64_t>& rows,
                          const std::vector<std::uint64_t>& children,
                          const std::vector<std::pair<std::string, std::string>>& modules) {
  ByteWriter body;
  body.count(rows.size());
  for (const auto row : rows) body.number(row);
  body.count(children.size());
  for (const auto child : children) body.number(child);
  for (const auto& [kind, payload] : modules) {
    body.counted_bytes(kind);
    if (kind != "_lib") body.counted_bytes(payload);
  }
  ByteWriter out;
  out.counted_bytes(body.view());
  return out.take();
}

TEST(LibraryTest, WalksTheImportTree) {
  const std::string cuda = module_bytes({}, 1, "cuda", "int x;");
  FoundMetadata found;
  read_library_bytes(
      library_bytes({0, 2, 2, 2}, {1, 2}, {{"_lib", ""}, {"rocm", "?"}, {"cuda", cuda}}), "lib",
      found);
  EXPECT_THAT(found.modules, SizeIs(1));
  EXPECT_THAT(found.remarks, ElementsAre(HasSubstr("\"rocm\"")));

  const auto refuse = [](const std::string& bytes) {
    return refusal_of([&] {
      FoundMetadata none;
      read_library_bytes(bytes, "lib", none);
    });
  };
  EXPECT_THAT(refuse(library_bytes({0, 1}, {1}, {{"_lib", ""}})), HasSubstr("module 1"));
  EXPECT_THAT(refuse(library_bytes({0, 2}, {0}, {{"_lib", ""}})), HasSubstr("rows end at 2"));
  EXPECT_THAT(refuse(library_bytes({0, 1, 0}, {}, {})), HasSubstr("begins at 0"));
  EXPECT_THAT(refuse(library_bytes({1, 1}, {0}, {})), HasSubstr("begins at 1"));
  EXPECT_THAT(refuse(library_bytes({0, 0, 0}, {}, {{"_lib", ""}})), HasSubstr("is truncated"));
  EXPECT_THAT(refuse(library_bytes({0, 0}, {}, {{"_lib", ""}, {"_lib", ""}})),
              HasSubstr("left over"));
  EXPECT_THAT(refuse(std::string(8, '\xff')), HasSubstr("is truncated"));
}

}  // namespace
}  // namespace baton::metadata::library_test
