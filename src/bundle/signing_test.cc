#include "baton/signing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "base/file/file.h"
#include "base/test_refusal.h"
#include "baton/bundle.h"
#include "bundle/content.h"
#include "bundle/signature.h"
#include "bundle/test_support.h"
#include "bundle/verify_once.h"
#include "session/test_program.h"

namespace baton::signing_test {
namespace {

namespace fs = std::filesystem;

using bundle::SigningRow;
using bundle::TableRow;
using bundle_test::LyingBundle;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Made by openssl for these tests.
constexpr const char* kPrivate =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* kPublic =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
    "-----END PUBLIC KEY-----\n";
constexpr const char* kOtherPrivate =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIItEyTEv64LbsXpOmBgLFRBXkDI1A9K80OXh/oA4Dasc\n"
    "-----END PRIVATE KEY-----\n";

const fs::path kGolden = BATON_SOURCE_DIR "/src/bundle/testdata/v1_0.baton";

class SigningTest : public ::testing::Test {
 protected:
  SigningTest() { setenv("BATON_CACHE_DIR", (folder_.path() / "cache").c_str(), 1); }
  ~SigningTest() override { unsetenv("BATON_TRUSTED_KEYS"); }

  fs::path path(const char* name) const { return folder_.path() / name; }
  // The golden bundle, signed.
  fs::path signed_bundle() const {
    sign_bundle(kGolden, key_, path("signed.baton"));
    return path("signed.baton");
  }
  std::string signed_bytes() const { return read_file(signed_bundle()); }
  BundleChecks trusting(const PublicKey& key) const {
    return {Verify::kIndex, std::vector<PublicKey>{key}};
  }

  const SigningKey key_ = SigningKey::from_pem(kPrivate);
  const SigningKey other_ = SigningKey::from_pem(kOtherPrivate);
  TemporaryDirectory folder_;
};

std::map<std::string, std::string> parts_of(const Bundle& bundle) {
  std::map<std::string, std::string> parts;
  for (const BundlePart& part : bundle.parts()) parts.emplace(part.name, bundle.bytes(part.name));
  return parts;
}

TEST_F(SigningTest, AKeyIdIsThatOfOpenssl) {
  // openssl pkey -pubin -in PUB.pem -outform DER | sha256sum
  EXPECT_EQ(PublicKey::from_pem(kPublic).id(), "deb2ded39dc26fce");
  EXPECT_EQ(key_.public_key(), PublicKey::from_pem(kPublic));
  EXPECT_NE(other_.public_key(), key_.public_key());
}

TEST_F(SigningTest, ASignedBundleHasTheSameContents) {
  const Bundle before = Bundle::open(kGolden);
  const Bundle after = Bundle::open(signed_bundle(), trusting(key_.public_key()));
  EXPECT_EQ(parts_of(after), parts_of(before));
  EXPECT_EQ(after.signed_by(), key_.public_key());
  EXPECT_EQ(before.signed_by(), std::nullopt);
  EXPECT_THAT(after.directory_differences(), IsEmpty());
  EXPECT_THAT(after.skipped(), IsEmpty());
  after.verify();
  Executable executable(LoadedProgram::load(after, Device::open("sim:h200")));
  executable.run();
  EXPECT_EQ(session_test::values<float>(executable.output("y")), (std::vector<float>{3, 5, 7, 9}));
}

TEST_F(SigningTest, OlderReadersSkipTheSignature) {
  LyingBundle(signed_bytes()).table("signing", [](TableRow& row) { EXPECT_EQ(row.flags, 0u); });
}

TEST_F(SigningTest, SigningAgainReplacesTheSignature) {
  const fs::path file = signed_bundle();
  const std::string first = read_file(file);
  sign_bundle(file, key_, file);
  EXPECT_EQ(read_file(file), first);
  sign_bundle(file, other_, file);
  EXPECT_EQ(Bundle::open(file).signed_by(), other_.public_key());
  EXPECT_EQ(parts_of(Bundle::open(file)), parts_of(Bundle::open(kGolden)));
}

TEST_F(SigningTest, KeepsTablesThatItDoesNotKnow) {
  LyingBundle later(read_file(kGolden));
  later.table("remarks", [](TableRow& row) {
    std::strcpy(row.name, "novelties");
    row.flags = 0;
  });
  later.header([](auto& row) { row.minor = 7; });
  write_file_atomically(path("later.baton"), later.bytes());
  sign_bundle(path("later.baton"), key_, path("later.baton"));
  const Bundle opened = Bundle::open(path("later.baton"), trusting(key_.public_key()));
  EXPECT_THAT(opened.skipped(), ::testing::ElementsAre("the table novelties"));
  EXPECT_EQ(opened.version(), "1.7");
}

TEST_F(SigningTest, RefusesWhatIsUnsignedOrSignedByAnother) {
  const BundleChecks checks = trusting(key_.public_key());
  EXPECT_THAT(refusal_of([&] { Bundle::open(kGolden, checks); }),
              AllOf(HasSubstr("v1_0.baton is not signed"), HasSubstr("baton sign")));
  sign_bundle(kGolden, other_, path("other.baton"));
  EXPECT_THAT(refusal_of([&] { Bundle::open(path("other.baton"), checks); }),
              AllOf(HasSubstr("signed with the key " + other_.public_key().id()),
                    HasSubstr("trusted is " + key_.public_key().id())));
  const BundleChecks both{Verify::kAll, std::vector{key_.public_key(), other_.public_key()}};
  EXPECT_EQ(Bundle::open(path("other.baton"), both).signed_by(), other_.public_key());
  EXPECT_EQ(Bundle::open(signed_bundle(), both).signed_by(), key_.public_key());
}

// The signature covers the index, which covers the parts. What lies between is not used.
TEST_F(SigningTest, EachFlippedByteIsRefusedOrHarmless) {
  const std::string whole = signed_bytes();
  const BundleChecks checks = trusting(key_.public_key());
  const auto expected = parts_of(Bundle::from_bytes(whole, "x", checks));
  std::size_t refused = 0;
  std::string bytes = whole;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    try {
      EXPECT_TRUE(parts_of(Bundle::from_bytes(bytes, "x", checks)) == expected) << "byte " << i;
    } catch (const Error& failure) {
      ++refused;
      EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput) << failure.what();
    }
    bytes[i] = whole[i];
  }
  std::size_t used = bundle_test::index_of(whole).bytes().size() + bundle::kSignatureBytes;
  for (const auto& [name, part] : expected) used += part.size();
  EXPECT_EQ(refused, used);
}

TEST_F(SigningTest, AnIndexThatLiesUnderItsOldSignatureIsForged) {
  LyingBundle lying(signed_bytes());
  lying.row<bundle::KernelRow>("kernels", 0, [](auto& row) { row.registers = 3; });
  EXPECT_EQ(Bundle::from_bytes(lying.bytes(), "x").skipped().size(), 0u);
  for (const auto& open : std::vector<std::function<void()>>{
           [&] { Bundle::from_bytes(lying.bytes(), "x", trusting(key_.public_key())); },
           [&] { Bundle::from_bytes(lying.bytes(), "x").signed_by(); }}) {
    EXPECT_THAT(refusal_of(open), HasSubstr("x is damaged or forged"));
  }
  // With the row of another key.
  LyingBundle claimed(signed_bytes());
  claimed.row<SigningRow>("signing", 0, [&](SigningRow& row) {
    std::ranges::copy(other_.public_key().bytes(), row.key);
  });
  EXPECT_THAT(
      refusal_of([&] { Bundle::from_bytes(claimed.bytes(), "x", trusting(other_.public_key())); }),
      HasSubstr("forged"));
}

TEST_F(SigningTest, RefusesSignaturesOfUnknownKindsAndPlaces) {
  const auto changed = [&](auto&& change) {
    return LyingBundle(signed_bytes()).row<SigningRow>("signing", 0, change).bytes();
  };
  const std::string later = changed([](SigningRow& row) { row.algorithm = 2; });
  EXPECT_EQ(parts_of(Bundle::from_bytes(later, "x")), parts_of(Bundle::open(kGolden)));
  EXPECT_THAT(refusal_of([&] { Bundle::from_bytes(later, "x", trusting(key_.public_key())); }),
              HasSubstr("a signature of algorithm 2"));
  const std::uint64_t size = signed_bytes().size();
  for (const std::uint64_t offset : {std::uint64_t{0}, size - 63, size, ~std::uint64_t{0}}) {
    const std::string bytes = changed([&](SigningRow& row) { row.offset = offset; });
    EXPECT_THAT(refusal_of([&] { Bundle::from_bytes(bytes, "x"); }), HasSubstr("the signature"));
  }
  const std::string twice = LyingBundle(signed_bytes())
                                .table("signing",
                                       [](TableRow& row) {
                                         row.rows = 2;
                                         row.row_size = sizeof(SigningRow) / 2;
                                       })
                                .bytes();
  EXPECT_THAT(refusal_of([&] { Bundle::from_bytes(twice, "x"); }), HasSubstr("signing"));
}

TEST_F(SigningTest, TheEnvironmentNamesTrustedKeys) {
  write_file_atomically(path("pub.pem"), kPublic);
  setenv("BATON_TRUSTED_KEYS", (":" + path("pub.pem").string() + ":").c_str(), 1);
  EXPECT_EQ(Bundle::open(signed_bundle()).signed_by(), key_.public_key());
  EXPECT_THAT(refusal_of([] { Bundle::open(kGolden); }), HasSubstr("is not signed"));
  // Code that says which keys it wants decides itself.
  Bundle::open(kGolden, BundleChecks{Verify::kIndex, std::vector<PublicKey>()});
  setenv("BATON_TRUSTED_KEYS", "::", 1);
  EXPECT_THAT(refusal_of([] { Bundle::open(kGolden); }), HasSubstr("names no file"));
  setenv("BATON_TRUSTED_KEYS", "/nonexistent/pub.pem", 1);
  EXPECT_THROW(Bundle::open(kGolden), Error);
}

TEST_F(SigningTest, BuildsSignedBundles) {
  Program program = Bundle::open(kGolden).program();
  write_file_atomically(path("p.toml"),
                        "name = \"empty\"\n[buffers.y]\ndtype = \"f32\"\nshape = [4]\nrole = "
                        "\"output\"\n[[steps]]\nfill = { buffer = \"y\", value = 1 }\n");
  write_bundle(Program::from_file(path("p.toml")), path("p.baton"),
               {.architectures = {"sm_90a"}, .key = key_});
  EXPECT_EQ(Bundle::open(path("p.baton"), trusting(key_.public_key())).program().name(), "empty");
}

TEST_F(SigningTest, ADamagedPartIsRefusedByItsDigest) {
  std::string bytes = signed_bytes();
  const Bundle whole = Bundle::from_bytes(bytes, "x");
  const BundlePart part = whole.parts().back();
  bytes[part.offset] ^= 1;
  const Bundle damaged = Bundle::from_bytes(bytes, "x", trusting(key_.public_key()));
  EXPECT_THAT(refusal_of([&] { damaged.bytes(part.name); }), HasSubstr(part.sha256));
}

TEST_F(SigningTest, VerifiesAFileOnce) {
  const fs::path file = signed_bundle();
  const Bundle bundle = Bundle::open(file);
  // A file that has just changed is not noted yet.
  while (bundle::verify_once(*bundle.content())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Bundle::open(file, Verify::kOnce);

  std::string bytes = read_file(file);
  bytes[bundle.parts().back().offset] ^= 1;
  write_file_atomically(file, bytes);
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(refusal_of([&] { Bundle::open(file, Verify::kOnce); }), HasSubstr("damaged"));
  }
  EXPECT_THAT(refusal_of([&] { Bundle::from_bytes(bytes, "memory", Verify::kOnce); }),
              HasSubstr("damaged"));
}

}  // namespace
}  // namespace baton::signing_test
