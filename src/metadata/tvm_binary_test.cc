#include "metadata/tvm_binary.h"

#include <gmock/gmock.h>

#include "metadata/test_support.h"

namespace baton::metadata::tvm_binary_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kPtx = ".version 8.0\n.target sm_80\n.address_size 64\n";

const RawFunction kSaxpy = {"saxpy_k",
                            {"handle", "handle", "float32", "int32"},
                            {"blockIdx.x", "threadIdx.x"},
                            {0, 0, 0, 0},
                            {},
                            {}};
const RawFunction kBlur = {"blur_rows",
                           {"handle", "handle", "int64"},
                           {"blockIdx.x", "clusterCtaIdx.x", "threadIdx.x",
                            "tir.use_programtic_dependent_launch", "tir.use_dyn_shared_memory"},
                           {0, 1},
                           {},
                           {}};

FoundMetadata read(const std::string& bytes) {
  return read_metadata(bytes, "bytes");
}

const FunctionMetadata& only_function(const FoundMetadata& found) {
  EXPECT_EQ(found.modules.size(), 1u);
  EXPECT_EQ(found.modules.at(0).functions().size(), 1u);
  return found.modules.at(0).functions()[0];
}

TEST(TvmBinaryTest, CheckVector) {
  const std::string bytes = function_bytes(kSaxpy, 1);
  ASSERT_EQ(bytes.size(), 108u);
  const unsigned char start[] = {7,    0,    0,    0, 0,    0, 0, 0,    0x73, 0x61, 0x78, 0x70,
                                 0x79, 0x5f, 0x6b, 4, 0,    0, 0, 0,    0,    0,    0,    3,
                                 0x40, 1,    0,    3, 0x40, 1, 0, 2,    0x20, 1,    0,    0,
                                 0x20, 1,    0,    2, 0,    0, 0, 0,    0,    0,    0,    0x0a,
                                 0,    0,    0,    0, 0,    0, 0, 0x62, 0x6c, 0x6f, 0x63, 0x6b};
  EXPECT_EQ(bytes.substr(0, sizeof start),
            std::string(reinterpret_cast<const char*>(start), sizeof start));
  const FoundMetadata found = read(bytes);
  EXPECT_EQ(found.format, "TVM function info of 4 fields");
  const FunctionMetadata& function = only_function(found);
  EXPECT_EQ(function.symbol(), "saxpy_k");
  EXPECT_EQ(function.parameters().size(), 4u);
  EXPECT_EQ(function.parameters()[2].type.name(), "float32");
  EXPECT_THAT(to_strings(function.operands()), ElementsAre("grid.x", "block.x"));
  // Baton's own writer gives the same bytes.
  EXPECT_EQ(tvm_function_info(function), bytes);
}

// `bytes` with the code of its n-th handle replaced.
std::string with_type_code(std::string bytes, int n, char code) {
  const std::string handle("\x03\x40\x01\x00", 4);
  std::size_t at = bytes.find(handle);
  for (; n > 0; --n) at = bytes.find(handle, at + 1);
  bytes.at(at) = code;
  return bytes;
}

// TileLang's TVM has a type of its own for a tensor map (kDLGridConstant, 30), and no tag.
TEST(TvmBinaryTest, GridConstantsAreTensorMaps) {
  RawFunction gemm = {"gemm", {"handle", "int32", "handle", "handle"}, {"blockIdx.x"}, {}, {}, {}};
  for (const int generation : {0, 1, 2}) {
    const std::string bytes =
        with_type_code(with_type_code(function_bytes(gemm, generation), 2, 30), 0, 30);
    const FunctionMetadata function = only_function(read(bytes));
    ASSERT_EQ(function.parameters().size(), 4u);
    const bool maps[] = {true, false, false, true};
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(function.parameters()[i].tensor_map, maps[i]) << generation << ": " << i;
      EXPECT_EQ(function.parameters()[i].type.name(), i == 1 ? "int32" : "handle");
    }
    // Baton's own writer has the tag for it.
    EXPECT_EQ(only_function(read(tvm_function_info(function))), function);
  }
  // Tags next to such types join them; a tag of no meaning stays an error.
  gemm.extra = {0, 0, 1, 0};
  const FunctionMetadata joined =
      only_function(read(with_type_code(function_bytes(gemm, 1), 0, 30)));
  EXPECT_TRUE(joined.parameters()[0].tensor_map);
  EXPECT_TRUE(joined.parameters()[2].tensor_map);
  EXPECT_FALSE(joined.parameters()[3].tensor_map);
}

TEST(TvmBinaryTest, ATypeThatIsNotKnownIsNamed) {
  const RawFunction one = {"k", {"handle"}, {"blockIdx.x"}, {}, {}, {}};
  EXPECT_THAT(refusal_of([&] { read(with_type_code(function_bytes(one, 1), 0, 31)); }),
              HasSubstr("the type code 31 with 64 bits and 1 lanes"));
  std::string narrow = with_type_code(function_bytes(one, 1), 0, 30);
  narrow.at(narrow.find("\x1e\x40") + 1) = 0x20;
  EXPECT_THAT(refusal_of([&] { read(narrow); }), HasSubstr("the type code 30 with 32 bits"));
  // A whole library says so too, in the one sentence that is shown.
  FoundMetadata found;
  const std::string module = with_type_code(module_bytes({one}, 1, "cuda", "int x;"), 0, 31);
  EXPECT_THAT(
      failure_of([&] { read_tvm_module(module, "gemm.so (module 1)", found); }).message(),
      AllOf(HasSubstr("gemm.so (module 1) is not a TVM module"), HasSubstr("the type code 31")));
}

TEST(TvmBinaryTest, ThreeFieldsAreToldApartByTheBytesAlone) {
  const FoundMetadata lone = read(function_bytes(kBlur, 0));
  EXPECT_EQ(lone.format, "TVM function info of 3 fields");
  EXPECT_FALSE(only_function(lone).parameters()[1].tensor_map);
  const FoundMetadata found = read(module_bytes({kSaxpy, kBlur}, 0, "ptx", kPtx));
  EXPECT_EQ(found.format, "TVM module, functions of 3 fields");
  ASSERT_EQ(found.modules.at(0).functions().size(), 2u);
  EXPECT_TRUE(found.modules[0].function("blur_rows").pdl());
}

TEST(TvmBinaryTest, FourFieldsMayHaveFewerArgumentTags) {
  const FoundMetadata found = read(module_bytes({kBlur}, 1, "cubin", kPtx));
  EXPECT_EQ(found.format, "TVM module, functions of 4 fields");
  const FunctionMetadata& function = only_function(found);
  EXPECT_TRUE(function.parameters()[1].tensor_map);
  EXPECT_FALSE(function.parameters()[2].tensor_map);
  // The label says cubin, the bytes say PTX.
  EXPECT_EQ(found.modules[0].label(), "cubin");
  EXPECT_EQ(found.modules[0].image()->kind(), ImageKind::kPtx);
}

TEST(TvmBinaryTest, SixFieldsHaveFieldsAndAttributes) {
  RawFunction native = {"gemm",
                        {"handle", "uint8"},
                        {},
                        {1, 0},
                        {"grid.x", "block.x", "stream", "cooperative"},
                        {{"max_registers_per_thread", 64}, {"new_one", -1}}};
  const FoundMetadata found = read(function_bytes(native, 2));
  const FunctionMetadata& function = only_function(found);
  EXPECT_EQ(function.symbol(), "gemm");
  EXPECT_THAT(to_strings(function.operands()),
              ElementsAre("grid.x", "block.x", "stream", "cooperative"));
  EXPECT_EQ(function.rules(), OperandRules::kStrict);
  EXPECT_TRUE(function.cooperative());
  EXPECT_EQ(function.kernel_attributes().at("max_registers_per_thread"), 64);
  EXPECT_THAT(found.remarks, ElementsAre(HasSubstr("new_one")));

  native.tags = {"blockIdx.x"};
  EXPECT_THAT(refusal_of([&] { read(function_bytes(native, 2)); }),
              HasSubstr("both launch fields and launch-parameter tags"));
  native.tags = {};
  native.fields = {"grid.x", "grid.x"};
  EXPECT_THAT(refusal_of([&] { read(function_bytes(native, 2)); }), HasSubstr("twice"));
  native.fields = {"grid.x", "cluser.x"};
  EXPECT_THAT(refusal_of([&] { read(function_bytes(native, 2)); }),
              HasSubstr("did you mean \"cluster.x\"?"));
}

TEST(TvmBinaryTest, VersionOneKeepsSources) {
  ByteWriter out;
  out.counted_bytes("cuda.module.v1");
  out.bytes(module_bytes({kSaxpy}, 2, "fatbin", kPtx));
  out.count(2);
  out.counted_bytes("cuda");
  out.counted_bytes("__global__ void saxpy_k();");
  out.counted_bytes("cuda.compile_log");
  out.counted_bytes("");
  const std::string bytes = out.take();
  const FoundMetadata found = read(bytes);
  EXPECT_EQ(found.format, "TVM module version 1, functions of 6 fields");
  EXPECT_EQ(found.modules.at(0).sources().at("cuda"), "__global__ void saxpy_k();");
  EXPECT_EQ(found.modules[0].image()->kind(), ImageKind::kPtx);
}

TEST(TvmBinaryTest, CodeThatIsTextIsTheSource) {
  const FoundMetadata found =
      read(module_bytes({kSaxpy}, 1, "cuda", "__global__ void saxpy_k() {}"));
  EXPECT_FALSE(found.modules.at(0).image());
  EXPECT_EQ(found.modules[0].sources().at("cuda"), "__global__ void saxpy_k() {}");
  EXPECT_THAT(refusal_of([] { read(module_bytes({kSaxpy}, 1, "cubin", "\x01\x02\x03")); }),
              HasSubstr("not text either"));
}

TEST(TvmBinaryTest, EveryTruncationIsRefused) {
  for (const int generation : {0, 1, 2}) {
    const std::string whole = module_bytes({kSaxpy, kBlur}, generation, "ptx", kPtx);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THROW(read(whole.substr(0, size)), Error) << generation << ", " << size;
    }
    EXPECT_THROW(read(whole + '\0'), Error);
  }
}

TEST(TvmBinaryTest, CountsAreNotBelieved) {
  // Each of the eight-byte counts made absurd, in turn.
  const std::string whole = module_bytes({kSaxpy}, 1, "ptx", kPtx);
  for (std::size_t at = 0; at + 8 <= whole.size(); ++at) {
    for (const char byte : {'\x7f', '\xff'}) {
      std::string hostile = whole;
      hostile.replace(at, 8, std::string(8, byte));
      try {
        read(hostile);  // bytes of the code or a name may be anything
      } catch (const Error& refused) {
        EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput) << refused.what();
      }
    }
  }
}

TEST(TvmBinaryTest, RefusesUnknownTagsOfArgumentsAndOfLaunches) {
  RawFunction odd = kSaxpy;
  odd.extra = {2};
  EXPECT_THAT(refusal_of([&] { read(function_bytes(odd, 1)); }),
              HasSubstr("argument 0 has the tag 2"));
  odd.extra = {0, 0, 0, 0, 0};
  EXPECT_THAT(refusal_of([&] { read(function_bytes(odd, 1)); }),
              HasSubstr("5 argument tags for 4 arguments"));
  odd.extra = {};
  odd.tags = {"blockIdx.w"};
  EXPECT_THAT(refusal_of([&] { read(function_bytes(odd, 1)); }), HasSubstr("did you mean"));
  EXPECT_THAT(refusal_of([&] {
                read(module_bytes({kSaxpy, kSaxpy}, 1, "ptx", kPtx));
              }),
              HasSubstr("described twice"));
}

TEST(TvmBinaryTest, WritesWholeModules) {
  const std::string old = module_bytes({kBlur, kSaxpy}, 1, "ptx", kPtx);
  RawFunction padded = kBlur;
  padded.extra = {0, 1, 0};
  EXPECT_EQ(tvm_module(read(old).modules.at(0), TagPrefix::kTir),
            module_bytes({padded, kSaxpy}, 1, "ptx", kPtx));

  ModuleMetadata::Parts parts{
      .name = "m", .code = std::string(kPtx), .sources = {{"cuda", "int x;"}}};
  parts.functions.push_back(FunctionMetadata({.symbol = "k", .rules = OperandRules::kTags}));
  const FoundMetadata found = read(tvm_module(ModuleMetadata(parts)));
  EXPECT_EQ(found.format, "TVM module version 1, functions of 4 fields");
  EXPECT_EQ(found.modules.at(0).sources().at("cuda"), "int x;");
}

TEST(TvmBinaryTest, RefusesToWriteWhatFourFieldsCannotSay) {
  FunctionMetadata::Parts parts{.symbol = "k", .kernel_attributes = {{"required_block_x", 4}}};
  EXPECT_THAT(refusal_of([&] { tvm_function_info(FunctionMetadata(parts)); }),
              HasSubstr("\"required_block_x\""));
  parts = {.symbol = "k", .operands = {"grid.x"}};
  EXPECT_THAT(refusal_of([&] { tvm_function_info(FunctionMetadata(parts)); }),
              HasSubstr("\"grid.x\""));
  EXPECT_THAT(refusal_of([] { tvm_module(ModuleMetadata({.name = "m"})); }),
              HasSubstr("needs code"));
}

}  // namespace
}  // namespace baton::metadata::tvm_binary_test
