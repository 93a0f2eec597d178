#include "base/array/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <ostream>

#include "base/array/float_convert.h"
#include "base/array/npy_header.h"
#include "base/file/file.h"
#include "baton/error.h"

namespace baton::npy_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The files that testdata/make_npy.py wrote with NumPy; each holds 0, 1, 2, ... in C order.
std::string numpy_file(const std::string& name) {
  return read_file(std::string(BATON_SOURCE_DIR "/src/base/testdata/npy/") + name + ".npy");
}

double element(const Array& array, std::size_t index) {
  const std::size_t size = size_of(array.dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, array.bytes.data() + index * size, size);
  return is_float(array.dtype) ? decode_float(array.dtype, bits) : static_cast<double>(bits);
}

void expect_counted(const Array& array, const std::vector<std::int64_t>& shape) {
  EXPECT_EQ(array.shape, shape);
  const std::int64_t count =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  ASSERT_EQ(array.elements(), count);
  ASSERT_EQ(array.bytes.size(), count * size_of(array.dtype));
  for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(element(array, i), static_cast<double>(i));
}

// A file of format 1.0 with this text as its header.
std::string with_header(const std::string& text, const std::string& data = "") {
  std::string file = "\x93NUMPY";
  file += '\1';
  file += '\0';
  file += static_cast<char>(text.size() & 0xFF);
  file += static_cast<char>(text.size() >> 8);
  return file + text + data;
}

void expect_refused(const std::string& bytes, const std::string& reason) {
  try {
    parse_npy(bytes, "x.npy");
    ADD_FAILURE() << "accepted, but expected: " << reason;
  } catch (const Error& refused) {
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(refused.what(), HasSubstr("x.npy: "));
    EXPECT_THAT(refused.what(), HasSubstr(reason));
  }
}

struct Stored {
  const char* code;
  DType dtype;
};

void PrintTo(const Stored& stored, std::ostream* out) {
  *out << stored.code;
}

class NpyTypes : public ::testing::TestWithParam<Stored> {};

TEST_P(NpyTypes, ReadsEitherByteOrderAndEitherOrderOfAxes) {
  for (const char* layout : {"little_", "big_", "fortran_"}) {
    SCOPED_TRACE(layout);
    const Array array = parse_npy(numpy_file(std::string(layout) + GetParam().code), "x.npy");
    EXPECT_EQ(array.dtype, GetParam().dtype);
    expect_counted(array, {2, 3});
  }
}

INSTANTIATE_TEST_SUITE_P(All, NpyTypes,
                         ::testing::Values(Stored{"f2", DType::kF16}, Stored{"f4", DType::kF32},
                                           Stored{"f8", DType::kF64}, Stored{"i1", DType::kI8},
                                           Stored{"i2", DType::kI16}, Stored{"i4", DType::kI32},
                                           Stored{"i8", DType::kI64}, Stored{"u1", DType::kU8},
                                           Stored{"u2", DType::kU16}, Stored{"u4", DType::kU32},
                                           Stored{"u8", DType::kU64}),
                         [](const auto& tested) { return tested.param.code; });

TEST(Npy, Reorders4DimensionsOfBigEndianData) {
  expect_counted(parse_npy(numpy_file("big_fortran_4d"), "x.npy"), {2, 3, 4, 5});
}

TEST(Npy, ReadsBool) {
  const Array array = parse_npy(numpy_file("bool"), DType::kBool, "x.npy");
  EXPECT_EQ(array.dtype, DType::kBool);
  EXPECT_EQ(array.bytes, std::string("\0\1\0\1\0\1", 6));
}

TEST(Npy, ReadsScalarsAndEmptyArrays) {
  const Array scalar = parse_npy(numpy_file("scalar"), "x.npy");
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(element(scalar, 0), 7.0);
  expect_counted(parse_npy(numpy_file("vector"), "x.npy"), {5});
  expect_counted(parse_npy(numpy_file("empty"), "x.npy"), {0, 3});
  expect_counted(parse_npy(numpy_file("empty_fortran"), "x.npy"), {3, 0, 2});
  EXPECT_EQ(parse_npy(numpy_file("ones_32d"), "x.npy").shape, std::vector<std::int64_t>(32, 1));
}

TEST(Npy, ReadsLaterFormats) {
  expect_counted(parse_npy(numpy_file("version_2"), "x.npy"), {2, 3});
  expect_counted(parse_npy(numpy_file("version_3"), "x.npy"), {2, 3});
}

TEST(Npy, ReadsRawElementsAsTheDTypeThatIsWanted) {
  for (const char* file : {"raw_v2", "little_u2", "big_u2", "fortran_u2"}) {
    SCOPED_TRACE(file);
    const Array array = parse_npy(numpy_file(file), DType::kBF16, "x.npy");
    EXPECT_EQ(array.dtype, DType::kBF16);
    EXPECT_EQ(array.bytes, std::string("\0\0\1\0\2\0\3\0\4\0\5\0", 12));
  }
  for (const char* file : {"raw_v1", "little_u1", "fortran_u1"}) {
    for (const DType dtype : {DType::kF8E4M3, DType::kF8E5M2}) {
      SCOPED_TRACE(file);
      EXPECT_EQ(parse_npy(numpy_file(file), dtype, "x.npy").bytes, std::string("\0\1\2\3\4\5", 6));
    }
  }
  expect_refused(numpy_file("raw_v2"), "raw elements (|V2), which name no dtype");
}

TEST(Npy, RefusesAnotherDTypeThanWanted) {
  const auto message = [](const char* file, DType wanted) -> std::string {
    try {
      parse_npy(numpy_file(file), wanted, "x.npy");
    } catch (const Error& refused) {
      return refused.message();
    }
    return "accepted";
  };
  EXPECT_EQ(message("big_f8", DType::kF32),
            "x.npy: the array holds >f8, but f32 is wanted; store it as <f4");
  EXPECT_EQ(message("little_i2", DType::kBF16),
            "x.npy: the array holds <i2, but bf16 is wanted; store it as <u2 or |V2");
  EXPECT_EQ(message("raw_v1", DType::kU8),
            "x.npy: the array holds |V1, but u8 is wanted; store it as |u1");
  EXPECT_EQ(message("little_f2", DType::kBF16),
            "x.npy: the array holds <f2, but bf16 is wanted; store it as <u2 or |V2");
  EXPECT_EQ(message("little_i4", DType::kU32),
            "x.npy: the array holds <i4, but u32 is wanted; store it as <u4");
  EXPECT_EQ(message("little_u1", DType::kBool),
            "x.npy: the array holds |u1, but bool is wanted; store it as |b1");
}

TEST(Npy, RefusesTypesThatAreNoNumbersOfOurs) {
  expect_refused(numpy_file("structured"), "structured type");
  expect_refused(numpy_file("object"), "Python objects");
  expect_refused(numpy_file("complex"), "names the type '<c8'");
  expect_refused(numpy_file("text"), "names the type '<U3'");
  expect_refused(numpy_file("datetime"), "names the type '<M8[D]'");
}

TEST(Npy, RefusesAFileCutAnywhere) {
  for (const char* name : {"little_f4", "version_2", "version_3", "scalar"}) {
    const std::string whole = numpy_file(name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      try {
        parse_npy(std::string_view(whole).substr(0, size), "x.npy");
        ADD_FAILURE() << name << " accepted with " << size << " of " << whole.size() << " bytes";
      } catch (const Error& refused) {
        EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
      }
    }
  }
}

TEST(Npy, RefusesTrailingBytes) {
  expect_refused(numpy_file("little_f4") + '\0', "needs 24 bytes of data, but 25 follow");
  expect_refused(numpy_file("empty") + '\0', "needs 0 bytes of data, but 1 follow");
}

TEST(Npy, RefusesOtherFiles) {
  expect_refused("", "no .npy file");
  expect_refused("\x93NUMPZ\1", "no .npy file: it starts with \"\\x93NUMPZ\"");
  expect_refused("PK\3\4 a whole .npz", "no .npy file");
  expect_refused(std::string("\x93NUMPY\4\0\0\0", 10), "format 4.0 is unknown");
  expect_refused(std::string("\x93NUMPY\1\1\0\0", 10), "format 1.1 is unknown");
  expect_refused(std::string("\x93NUMPY\0\0\0\0", 10), "format 0.0 is unknown");
  expect_refused(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14),
                 "said to be 4294967295 bytes long, but only 2 follow");
}

TEST(Npy, RefusesShapesThatNoMemoryHolds) {
  const auto shaped = [](const std::string& shape) {
    return with_header("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + "}");
  };
  expect_refused(shaped("(4611686018427387904, 2)"), "larger than any memory");
  // 2^61 elements of 8 bytes are 2^64 bytes, which wraps around to none.
  expect_refused(shaped("(2305843009213693952,)"), "larger than any memory");
  expect_refused(shaped("(4294967296, 4294967296, 4294967296)"), "larger than any memory");
  expect_refused(shaped("(0, 4294967296, 4294967296)"), "larger than any memory");
  expect_refused(shaped("(99999999999999999999,)"), "a dimension beyond 64 bits");
  expect_refused(shaped("(1099511627776,)"), "needs 8796093022208 bytes of data, but 0 follow");
  expect_refused(shaped("(-1,)"), "negative dimension -1");
  expect_refused(shaped("(-9223372036854775808,)"), "negative dimension");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  expect_refused(shaped(many + ")"), "more than 64 dimensions");
}

TEST(Npy, RefusesHeadersThatAreNoSuchDictionary) {
  const auto header = [](const std::string& text) { return with_header(text, "12345678"); };
  EXPECT_EQ(parse_npy(header(R"({"shape":(2L,),"descr":"<f4","fortran_order":False})"), "x").shape,
            std::vector<std::int64_t>{2});
  EXPECT_EQ(
      parse_npy(header("{ 'descr' : 'i8' , 'fortran_order' : True , 'shape' : ( ) , } \n"), "x")
          .dtype,
      DType::kI64);
  expect_refused(header(""), "its end where '{' belongs");
  expect_refused(header("[]"), "\"[]\" where '{' belongs");
  expect_refused(header("{}"), "lacks the key 'descr'");
  expect_refused(header("{'descr': '<f8', 'shape': ()}"), "lacks the key 'fortran_order'");
  expect_refused(header("{'descr': '<f8', 'fortran_order': False}"), "lacks the key 'shape'");
  expect_refused(header("{'descr': '<f8', 'descr': '<f8'}"), "the key 'descr' twice");
  expect_refused(header("{'desc\x1b': '<f8'}"), "the unknown key 'desc\\x1b'");
  expect_refused(header("{1: 2}"), "where a key belongs");
  expect_refused(header("{'descr' '<f8'}"), "where ':' belongs");
  expect_refused(header("{'descr': '<f8"), "no end of");
  expect_refused(header("{'descr': 8}"), "where a type belongs");
  expect_refused(header("{'descr': ''}"), "names the type ''");
  expect_refused(header("{'descr': '<f'}"), "names the type '<f'");
  expect_refused(header("{'descr': '<f3'}"), "names the type '<f3'");
  expect_refused(header("{'descr': '<f4294967300'}"), "names the type");
  expect_refused(header("{'descr': '<f99999999999999999999'}"), "names the type");
  expect_refused(header("{'descr': '<f4 '}"), "names the type");
  expect_refused(header("{'fortran_order': 0}"), "where True or False belongs");
  expect_refused(header("{'shape': (2}"), "where ',' belongs");
  expect_refused(header("{'shape': (2)}"), "where ',' belongs");
  expect_refused(header("{'shape': 2}"), "where '(' belongs");
  expect_refused(header("{'shape': (,)}"), "where a dimension belongs");
  expect_refused(header("{'shape': (1, 2.5)}"), "where ')' belongs");
  expect_refused(header("{'descr': '<f8', 'fortran_order': False, 'shape': ()"),
                 "its end where '}' belongs");
  expect_refused(header("{'descr': '<f8', 'fortran_order': False, 'shape': ()} 1"),
                 "goes on after its end: \" 1\"");
}

TEST(Npy, WritesWhatItReads) {
  for (const char* name : {"little_f2", "big_i8", "fortran_u4", "bool", "scalar", "empty_fortran",
                           "ones_32d", "big_fortran_4d"}) {
    SCOPED_TRACE(name);
    const Array array = parse_npy(numpy_file(name), name);
    const Array again = parse_npy(format_npy(array), array.dtype, name);
    EXPECT_EQ(again.shape, array.shape);
    EXPECT_EQ(again.bytes, array.bytes);
  }
}

TEST(Npy, WritesTheFormatAsNumpyDoes) {
  const std::string written = format_npy({DType::kF32, {2, 3}, std::string(24, '\0')});
  const NpyHeader header = parse_npy_header(written, "x.npy");
  EXPECT_EQ(header.data_offset % 64, 0u);
  EXPECT_EQ(written[header.data_offset - 1], '\n');
  EXPECT_EQ(header.type(), "<f4");
  EXPECT_THAT(header.shape, ElementsAre(2, 3));
  // The same text that NumPy wrote for this type and shape, up to the padding.
  const std::string numpy = numpy_file("little_f4");
  const std::size_t end = numpy.find('}') + 1;
  EXPECT_EQ(written.substr(10, end - 10), numpy.substr(10, end - 10));
}

TEST(Npy, StoresRawTypesAsUnsignedIntegers) {
  EXPECT_EQ(parse_npy(format_npy({DType::kBF16, {1}, "ab"}), "x").dtype, DType::kU16);
  EXPECT_EQ(parse_npy(format_npy({DType::kF8E4M3, {1}, "a"}), "x").dtype, DType::kU8);
  EXPECT_EQ(parse_npy(format_npy({DType::kF8E5M2, {1}, "a"}), "x").dtype, DType::kU8);
}

TEST(Npy, RefusesToStoreAnArrayThatContradictsItself) {
  EXPECT_THROW(format_npy({DType::kF32, {2}, "1234"}), Error);
}

TEST(Npy, WritesAndReadsFiles) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "x.npy";
  write_npy(path, {DType::kI16, {3}, "abcdef"});
  const Array array = read_npy(path, DType::kI16);
  EXPECT_THAT(array.shape, ElementsAre(3));
  EXPECT_EQ(array.bytes, "abcdef");
  try {
    read_npy(path, DType::kI32);
    ADD_FAILURE() << "accepted";
  } catch (const Error& refused) {
    EXPECT_THAT(refused.what(), HasSubstr(path.string()));
  }
}

}  // namespace
}  // namespace baton::npy_test
