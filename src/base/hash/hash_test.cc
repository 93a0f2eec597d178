#include "base/hash/hash.h"

#include <gtest/gtest.h>

#include "baton/error.h"

namespace baton::hash_test {
namespace {

// FIPS 180-4's own examples, and the digest of no bytes.
TEST(Sha256Test, MatchesThePublishedDigests) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256Test, PartsAreOneText) {
  EXPECT_EQ(Sha256().update("a").update("").update("bc").finish(), sha256("abc"));
}

TEST(Sha256Test, FieldsAreKeptApart) {
  const auto of = [](std::string_view a, std::string_view b) {
    return Sha256().update_field(a).update_field(b).finish();
  };
  EXPECT_EQ(of("ab", "c"), of("ab", "c"));
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_NE(of("", "abc"), of("abc", ""));
  // The length as 8 little-endian bytes, so that a key means the same on every machine.
  EXPECT_EQ(Sha256().update_field("abc").finish(),
            sha256(std::string_view("\3\0\0\0\0\0\0\0abc", 11)));
}

TEST(Sha256Test, FinishEndsTheDigest) {
  Sha256 digest;
  digest.update("abc").finish();
  EXPECT_THROW(digest.update("d"), Error);
  EXPECT_THROW(digest.finish(), Error);
}

TEST(HashTest, HexIsLowerCaseWithLeadingZeros) {
  const std::uint8_t bytes[] = {0x00, 0x0A, 0xF0, 0xFF};
  EXPECT_EQ(to_hex(bytes), "000af0ff");
  EXPECT_EQ(to_hex({}), "");
}

// The value of no input is in xxHash's own test vectors (seed 0).
TEST(HashTest, Xxh3) {
  EXPECT_EQ(xxh3(""), 0x2D06800538D394C2u);
  EXPECT_NE(xxh3("a"), xxh3("b"));
  EXPECT_EQ(xxh3("abc"), xxh3(std::string("abc")));
}

// The check value of the catalogue of CRC algorithms (CRC-32/ISO-HDLC), and every length of a tail.
TEST(HashTest, Crc32) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926u);
  EXPECT_EQ(crc32(""), 0u);
  EXPECT_EQ(crc32("The quick brown fox jumps over the lazy dog"), 0x414FA339u);
}

}  // namespace
}  // namespace baton::hash_test
