#include "bundle/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/file/file.h"
#include "baton/bundle.h"
#include "bundle/test_support.h"
#include "session/test_program.h"

// Damaged, truncated and lying bundles, made of one that an earlier version wrote.

namespace baton::index_test {
namespace {

using bundle::ImageRow;
using bundle::KernelRow;
using bundle::ModuleRow;
using bundle::ParamRow;
using bundle::SectionRow;
using bundle::TableRow;
using bundle_test::LyingBundle;
using ::testing::HasSubstr;

const std::string& golden() {
  static const std::string bytes = read_file(BATON_SOURCE_DIR "/src/bundle/testdata/v1_0.baton");
  return bytes;
}

using Parts = std::map<std::string, std::string>;

// Everything that a loader may use, or an Error.
Parts contents_of(const std::string& bytes) {
  const Bundle opened = Bundle::from_bytes(bytes, "x.baton");
  Parts parts;
  for (const BundlePart& part : opened.parts()) {
    parts.emplace(part.name, opened.bytes(part.name));
  }
  parts.emplace("program", opened.program().name());
  return parts;
}

std::string refusal_of(const std::string& bytes) {
  try {
    contents_of(bytes);
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    return failure.what();
  }
  return "nothing was refused";
}

std::string refusal_of(const LyingBundle& lying) {
  return refusal_of(lying.bytes());
}

// What this version wrote must stay readable. Never write the file anew: add one for a new version.
TEST(GoldenBundle, OfVersion1_0IsRead) {
  const Device device = Device::open("sim:h200");
  const Bundle opened = Bundle::from_bytes(golden(), "v1_0.baton", Verify::kAll);
  EXPECT_EQ(opened.version(), "1.0");
  EXPECT_EQ(opened.program().name(), "golden");
  EXPECT_THAT(opened.architectures(), ::testing::ElementsAre("sm_90a", "compute_80"));
  EXPECT_THAT(opened.directory_differences(), ::testing::IsEmpty());
  Executable executable(LoadedProgram::load(opened, device));
  executable.run();
  EXPECT_EQ(session_test::values<float>(executable.output("y")), (std::vector<float>{3, 5, 7, 9}));
}

TEST(GoldenBundle, NamesOfParametersCameWithVersion1_3) {
  const auto names = [](const std::string& version) {
    const std::string path = BATON_SOURCE_DIR "/src/bundle/testdata/" + version + ".baton";
    const LoadedProgram loaded = LoadedProgram::load(Bundle::open(path), Device::open("sim:h200"));
    std::vector<std::string> found;
    for (const ParamFacts& param : loaded.modules()[0].kernels[0].second.params.value()) {
      found.push_back(param.name);
    }
    return found;
  };
  EXPECT_THAT(names("v1_2"), ::testing::Each(""));
  EXPECT_THAT(names("v1_3"), ::testing::ElementsAre("y", "x", "w"));
}

TEST(GoldenBundle, OfVersion1_1IsRead) {
  const Device device = Device::open("sim:h200");
  const Bundle opened =
      Bundle::open(BATON_SOURCE_DIR "/src/bundle/testdata/v1_1.baton", Verify::kAll);
  EXPECT_EQ(opened.version(), "1.1");
  EXPECT_EQ(opened.signed_by().value().id(), "deb2ded39dc26fce");
  EXPECT_EQ(opened.verdicts().size(), 2u);
  EXPECT_THAT(opened.skipped(), ::testing::IsEmpty());
  EXPECT_THAT(opened.directory_differences(), ::testing::IsEmpty());
  Executable executable(LoadedProgram::load(opened, device));
  executable.run();
  EXPECT_EQ(session_test::values<float>(executable.output("y")), (std::vector<float>{3, 5, 7, 9}));
}

TEST(DamagedBundle, EachFlippedByteIsRefusedOrHarmless) {
  const Parts expected = contents_of(golden());
  std::string bytes = golden();
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char flip : {'\x01', '\xFF'}) {
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      try {
        EXPECT_TRUE(contents_of(bytes) == expected) << "byte " << i;
        const Bundle opened = Bundle::from_bytes(bytes, "golden");
        EXPECT_THAT(opened.directory_differences(), ::testing::Not(::testing::IsEmpty()))
            << "byte " << i;
      } catch (const Error& failure) {
        ++refused;
        EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput) << failure.what();
      }
      bytes[i] = golden()[i];
    }
  }
  // The index and all sections are checked, the zip around them is not used.
  std::size_t used = bundle_test::index_of(golden()).bytes().size();
  for (const BundlePart& part : Bundle::from_bytes(golden(), "golden").parts()) used += part.size;
  EXPECT_EQ(refused, 2 * used);
}

TEST(DamagedBundle, EachTruncationIsRefused) {
  for (std::size_t size = 0; size < golden().size(); ++size) {
    const std::string text = refusal_of(golden().substr(0, size));
    EXPECT_THAT(text, HasSubstr("truncated")) << size;
  }
  EXPECT_THAT(refusal_of(golden() + "x"), HasSubstr("damaged"));
}

TEST(DamagedBundle, AnotherFileIsNoBundle) {
  EXPECT_THAT(refusal_of("hello"), HasSubstr("is not a bundle: it has 5 bytes"));
  EXPECT_THAT(refusal_of(std::string(9000, 'x')), HasSubstr("is not a bundle"));
}

TEST(LyingIndex, OfALaterMajorVersionIsRefused) {
  EXPECT_THAT(refusal_of(LyingBundle(golden()).header([](auto& row) { row.major = 2; })),
              HasSubstr("is a bundle of version 2.0, this Baton reads version 1"));
  LyingBundle later(golden());
  later.header([](auto& row) { row.minor = 7; });
  EXPECT_EQ(contents_of(later.bytes()), contents_of(golden()));
}

TEST(LyingIndex, OfAnEarlierMajorVersionIsRefused) {
  const std::string refusal =
      refusal_of(LyingBundle(golden()).header([](auto& row) { row.major = 0; }));
  EXPECT_THAT(refusal, HasSubstr("reads version 1; build the bundle with this one"));
}

TEST(LyingIndex, SkipsUnknownOptionalPartsAndNamesRequiredOnes) {
  const auto rename_table = [](std::uint32_t flags) {
    return LyingBundle(golden()).table("remarks", [&](TableRow& row) {
      std::strcpy(row.name, "novelties");
      row.flags = flags;
    });
  };
  EXPECT_THAT(refusal_of(rename_table(bundle::kRequired)),
              HasSubstr("requires the table \"novelties\""));
  EXPECT_THAT(Bundle::from_bytes(rename_table(0).bytes(), "x").skipped(),
              ::testing::ElementsAre("the table novelties"));

  // "sources/add.cu" becomes "zources/add.cu", which still comes last.
  const auto rename_section = [](std::uint32_t flags) {
    LyingBundle lying(golden());
    const auto index = bundle_test::index_of(golden());
    const std::uint64_t last = index.sections.size() - 1;
    EXPECT_EQ(index.text(index.sections[last].name), "sources/add.cu");
    const std::uint32_t place = index.sections[last].name.offset;
    lying.row<char>("strings", place, [](char& letter) { letter = 'z'; });
    return lying.row<SectionRow>("sections", last, [&](SectionRow& row) { row.flags = flags; });
  };
  EXPECT_THAT(refusal_of(rename_section(bundle::kRequired)),
              HasSubstr("requires the section \"zources/add.cu\""));
  EXPECT_THAT(Bundle::from_bytes(rename_section(0).bytes(), "x").skipped(),
              ::testing::ElementsAre("the section zources/add.cu"));
}

TEST(LyingIndex, HasEverySectionInItsPlace) {
  const auto section = [](std::uint64_t number, auto change) {
    return refusal_of(LyingBundle(golden()).row<SectionRow>("sections", number, change));
  };
  EXPECT_THAT(section(1, [](SectionRow& row) { row.offset += 8; }),
              HasSubstr("not at a multiple of 4096"));
  EXPECT_THAT(section(1, [](SectionRow& row) { row.offset -= 4096; }),
              HasSubstr("does not lie between"));
  EXPECT_THAT(section(0, [](SectionRow& row) { row.offset = 0; }),
              HasSubstr("does not lie between"));
  EXPECT_THAT(section(0, [](SectionRow& row) { row.size = 4097 * 2; }),
              HasSubstr("does not lie between"));
  EXPECT_THAT(section(2, [](SectionRow& row) { row.size = ~std::uint64_t{0}; }),
              HasSubstr("does not lie between"));
  EXPECT_THAT(section(2, [](SectionRow& row) { row.offset = ~std::uint64_t{4095}; }),
              HasSubstr("does not lie between"));
  EXPECT_THAT(section(1, [](SectionRow& row) { row.name.size = 0; }),
              HasSubstr("cannot name a section"));
  EXPECT_THAT(section(1, [](SectionRow& row) { row.name.offset = 0x7FFFFFFF; }),
              HasSubstr("a text of"));
}

TEST(LyingIndex, HasNoNamesThatLeadElsewhere) {
  const auto index = bundle_test::index_of(golden());
  const std::uint32_t place = index.sections[0].name.offset;  // "files/w.npy"
  const auto renamed = [&](std::string_view name) {
    LyingBundle lying(golden());
    for (std::size_t i = 0; i < name.size(); ++i) {
      lying.row<char>("strings", place + i, [&](char& letter) { letter = name[i]; });
    }
    return refusal_of(lying);
  };
  using namespace std::string_view_literals;
  for (const std::string_view name :
       {"../../w.npy"sv, "/iles/w.npy"sv, "files//.npy"sv, "files/../.."sv, "files/w\0npy"sv}) {
    EXPECT_THAT(renamed(name), HasSubstr("cannot name a section")) << name;
  }
}

TEST(LyingIndex, HasEveryTableInItsPlace) {
  const auto table = [](const char* name, auto change) {
    return refusal_of(LyingBundle(golden()).table(name, change));
  };
  EXPECT_THAT(table("images", [](TableRow& row) { row.rows = ~std::uint64_t{0}; }),
              HasSubstr("does not lie between"));
  EXPECT_THAT(table("images", [](TableRow& row) { row.offset += 4; }),
              HasSubstr("does not lie between"));
  EXPECT_THAT(table("images", [](TableRow& row) { row.offset = 0; }),
              HasSubstr("does not lie between"));
  EXPECT_THAT(table("images", [](TableRow& row) { row.row_size = 8; }),
              HasSubstr("rows of 8 bytes"));
  EXPECT_THAT(table("images", [](TableRow& row) { std::strcpy(row.name, "uses"); }),
              HasSubstr("twice"));
  EXPECT_THAT(table("program", [](TableRow& row) { row.rows = 0; }), HasSubstr("0 rows"));
  EXPECT_THAT(refusal_of(LyingBundle(golden()).header([](auto& row) { row.tables = 1u << 31; })),
              HasSubstr("claims 2147483648 tables"));
}

TEST(LyingIndex, HasReferencesThatLeadWhereTheyShould) {
  const auto module = [](auto change) {
    return refusal_of(LyingBundle(golden()).row<ModuleRow>("modules", 0, change));
  };
  EXPECT_THAT(module([](ModuleRow& row) { row.builds.count += 1; }), HasSubstr("a range of"));
  EXPECT_THAT(module([](ModuleRow& row) { row.builds.first += 1; }), HasSubstr("a range of"));
  EXPECT_THAT(module([](ModuleRow& row) { row.uses.count = 0; }), HasSubstr("no kernel"));
  EXPECT_THAT(module([](ModuleRow& row) { row.source = 1000; }), HasSubstr("a section is 1000"));
  const auto image = [](auto change) {
    return refusal_of(LyingBundle(golden()).row<ImageRow>("images", 0, change));
  };
  EXPECT_THAT(image([](ImageRow& row) { row.kind = 3; }), HasSubstr("the kind is 3"));
  EXPECT_THAT(image([](ImageRow& row) { row.kind = 1; }), HasSubstr("is not PTX"));
  EXPECT_THAT(image([](ImageRow& row) { row.section = 1000; }), HasSubstr("a section is 1000"));
  EXPECT_THAT(image([](ImageRow& row) { row.linked = 2; }), HasSubstr("a truth value is 2"));
  EXPECT_THAT(refusal_of(LyingBundle(golden()).row<KernelRow>(
                  "kernels", 0, [](KernelRow& row) { row.registers = -2; })),
              HasSubstr("a number is -2"));
  EXPECT_THAT(refusal_of(LyingBundle(golden()).row<ParamRow>(
                  "params", 0, [](ParamRow& row) { row.dtype = 99; })),
              HasSubstr("the dtype is 99"));
}

std::string refused_load(const LyingBundle& lying) {
  try {
    Executable executable(LoadedProgram::load(Bundle::from_bytes(lying.bytes(), "x.baton"),
                                              Device::open("sim:h200")));
    executable.run();
  } catch (const Error& failure) {
    EXPECT_EQ(exit_status(failure.code()), 2) << failure.what();
    return failure.what();
  }
  return "nothing was refused";
}

// An index that is whole and wrong about its contents.
TEST(LyingIndex, IsFoundOutByTheImageItself) {
  const auto index = bundle_test::index_of(golden());
  // PTX whose section ends before its NUL.
  const ImageRow ptx = index.images[0];
  EXPECT_EQ(index.text(index.sections[ptx.section].name), "images/add.sm_90a.ptx");
  const SectionRow row = index.sections[ptx.section];
  const std::string_view shorter = std::string_view(golden()).substr(row.offset, row.size - 1);
  LyingBundle without_nul(golden());
  without_nul.row<SectionRow>("sections", ptx.section, [&](SectionRow& section) {
    section.size -= 1;
    section.xxh3 = xxh3(shorter);
  });
  EXPECT_THAT(refused_load(without_nul), HasSubstr("without the NUL that ends it"));
  // An image that is something else.
  LyingBundle other(golden());
  other.row<ImageRow>("images", 0,
                      [&](ImageRow& image) { image.section = index.section("program.toml"); });
  EXPECT_NE(refused_load(other), "nothing was refused");
  // Kernels with other parameters than the image's.
  for (const std::uint32_t size : {4u, 16u, 4096u}) {
    LyingBundle params(golden());
    for (std::uint64_t i = 0; i < index.params.size(); ++i) {
      params.row<ParamRow>("params", i, [&](ParamRow& param) { param.size = size; });
    }
    EXPECT_NE(refused_load(params), "nothing was refused") << size;
  }
  // One parameter fewer, which the next kernel has more.
  LyingBundle fewer(golden());
  fewer.row<KernelRow>("kernels", 0, [](KernelRow& kernel) { kernel.params.count -= 1; });
  fewer.row<KernelRow>("kernels", 1, [](KernelRow& kernel) {
    kernel.params.first -= 1;
    kernel.params.count += 1;
  });
  EXPECT_NE(refused_load(fewer), "nothing was refused");
  // Parameters that are not known.
  LyingBundle unknown(golden());
  for (std::uint64_t i = 0; i < index.kernels.size(); ++i) {
    unknown.row<KernelRow>("kernels", i, [](KernelRow& kernel) { kernel.has_params = 0; });
  }
  EXPECT_NE(refused_load(unknown), "nothing was refused");
}

}  // namespace
}  // namespace baton::index_test
