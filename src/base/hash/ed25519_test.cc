#include "base/hash/ed25519.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/test_refusal.h"

namespace baton::ed25519_test {
namespace {

using ::testing::HasSubstr;

// Test 2 of RFC 8032, 7.1: one byte of message.
constexpr const char* kPrivate =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* kPublic =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
    "-----END PUBLIC KEY-----\n";
constexpr const char* kPublicHex =
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
constexpr const char* kSignatureHex =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
constexpr std::string_view kMessage("\x72", 1);

// A public key of X25519, whose DER differs in one byte.
constexpr const char* kOtherAlgorithm =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VuAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
    "-----END PUBLIC KEY-----\n";

TEST(Ed25519, SignsAsTheStandardSays) {
  const Ed25519Key key = ed25519_private_key(kPrivate, "k.pem");
  EXPECT_EQ(to_hex(ed25519_public_half(key)), kPublicHex);
  EXPECT_EQ(to_hex(ed25519_public_key(kPublic, "p.pem")), kPublicHex);
  EXPECT_EQ(to_hex(ed25519_sign(key, kMessage)), kSignatureHex);
}

TEST(Ed25519, AcceptsTheSignatureOfThisKeyAndMessageAlone) {
  const Ed25519Key key = ed25519_private_key(kPrivate, "k.pem");
  const Ed25519Key half = ed25519_public_half(key);
  const Ed25519Signature signature = ed25519_sign(key, kMessage);
  EXPECT_TRUE(ed25519_is_signed(half, kMessage, signature));
  EXPECT_FALSE(ed25519_is_signed(half, "", signature));
  EXPECT_FALSE(ed25519_is_signed(half, "rr", signature));
  for (std::size_t i = 0; i < signature.size(); ++i) {
    Ed25519Signature other = signature;
    other[i] ^= 1;
    EXPECT_FALSE(ed25519_is_signed(half, kMessage, other)) << i;
  }
  for (std::size_t i = 0; i < half.size(); ++i) {
    Ed25519Key other = half;
    other[i] ^= 1;
    EXPECT_FALSE(ed25519_is_signed(other, kMessage, signature)) << i;
  }
}

TEST(Ed25519, SignsLongMessagesAndNone) {
  const Ed25519Key key = ed25519_private_key(kPrivate, "k.pem");
  for (const std::string& message : {std::string(), std::string(100'000, 'x')}) {
    EXPECT_TRUE(ed25519_is_signed(ed25519_public_half(key), message, ed25519_sign(key, message)));
  }
}

TEST(Ed25519, RefusesOtherKeysByName) {
  EXPECT_THAT(refusal_of([] { ed25519_public_key(kPrivate, "k.pem"); }),
              HasSubstr("k.pem holds no public key in PEM"));
  EXPECT_THAT(refusal_of([] { ed25519_private_key(kPublic, "p.pem"); }),
              HasSubstr("p.pem holds no private key in PEM"));
  EXPECT_THAT(refusal_of([] { ed25519_public_key("", "empty.pem"); }), HasSubstr("empty.pem"));
  EXPECT_THAT(refusal_of([] { ed25519_public_key(kOtherAlgorithm, "x.pem"); }),
              HasSubstr("x.pem holds a key of another algorithm, Ed25519 is needed"));
}

TEST(Ed25519, ADerIsWhatOpensslWrites) {
  const std::string der = ed25519_der(ed25519_public_key(kPublic, "p.pem"));
  ASSERT_EQ(der.size(), 44u);
  EXPECT_EQ(static_cast<unsigned char>(der[0]), 0x30);
  EXPECT_EQ(to_hex({reinterpret_cast<const std::uint8_t*>(der.data()) + 12, 32}), kPublicHex);
}

}  // namespace
}  // namespace baton::ed25519_test
