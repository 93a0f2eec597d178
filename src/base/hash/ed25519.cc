#include "base/hash/ed25519.h"

// hash.cc, in the same unit, calls what this keeps from being deprecated.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/system/dynamic_library.h"
#include "base/system/environment.h"

namespace baton {
namespace {

// All that is used of libcrypto's shared library. 1.1.1 has these functions too.
#define BATON_CRYPTO_FUNCTIONS(BATON_FUNCTION) \
  BATON_FUNCTION(BIO_new_mem_buf)              \
  BATON_FUNCTION(BIO_free)                     \
  BATON_FUNCTION(PEM_read_bio_PUBKEY)          \
  BATON_FUNCTION(PEM_read_bio_PrivateKey)      \
  BATON_FUNCTION(i2d_PUBKEY)                   \
  BATON_FUNCTION(EVP_PKEY_free)                \
  BATON_FUNCTION(EVP_PKEY_new_raw_public_key)  \
  BATON_FUNCTION(EVP_PKEY_new_raw_private_key) \
  BATON_FUNCTION(EVP_PKEY_get_raw_public_key)  \
  BATON_FUNCTION(EVP_PKEY_get_raw_private_key) \
  BATON_FUNCTION(EVP_MD_CTX_new)               \
  BATON_FUNCTION(EVP_MD_CTX_free)              \
  BATON_FUNCTION(EVP_DigestSignInit)           \
  BATON_FUNCTION(EVP_DigestSign)               \
  BATON_FUNCTION(EVP_DigestVerifyInit)         \
  BATON_FUNCTION(EVP_DigestVerify)             \
  BATON_FUNCTION(ERR_set_mark)                 \
  BATON_FUNCTION(ERR_pop_to_mark)

struct Crypto {
#define BATON_FUNCTION(name) decltype(&::name) name = nullptr;
  BATON_CRYPTO_FUNCTIONS(BATON_FUNCTION)
#undef BATON_FUNCTION
};

constexpr const char* kGetLibcrypto =
    "install OpenSSL 3, or name its libcrypto.so.3 by BATON_LIBCRYPTO";

const Crypto* open_crypto() {
  std::vector<std::string> names = {"libcrypto.so.3", "libcrypto.so.1.1"};
  if (const auto chosen = read_environment("BATON_LIBCRYPTO")) names = {*chosen};
  std::string why;
  auto library = DynamicLibrary::open(names, &why);
  if (!library) {
    throw error(ErrorCode::kNotFound, "signatures need libcrypto, which does not load: {}; {}", why,
                kGetLibcrypto);
  }
  auto table = std::make_unique<Crypto>();
#define BATON_FUNCTION(function)                                                          \
  table->function = reinterpret_cast<decltype(&::function)>(library->symbol(#function));  \
  if (table->function == nullptr) {                                                       \
    throw error(ErrorCode::kNotFound, "{} has no function {}, which signatures need; {}", \
                library->name(), #function, kGetLibcrypto);                               \
  }
  BATON_CRYPTO_FUNCTIONS(BATON_FUNCTION)
#undef BATON_FUNCTION
  library->leak();  // it registers functions that run at the end of the process
  return table.release();
}

const Crypto& crypto() {
  static const Crypto& table = *open_crypto();
  return table;
}

// What libcrypto notes in the thread's list of errors during a call leaves that list with it: the
// caller may use the same libcrypto.
class ErrorMark {
 public:
  ErrorMark() { crypto().ERR_set_mark(); }
  ~ErrorMark() { crypto().ERR_pop_to_mark(); }
  ErrorMark(const ErrorMark&) = delete;
  ErrorMark& operator=(const ErrorMark&) = delete;
};

template <typename T, typename Free>
std::unique_ptr<T, Free> owned(T* object, Free free) {
  if (object == nullptr) throw Error(ErrorCode::kOutOfMemory, "libcrypto has no memory left");
  return {object, free};
}

using KeyHolder = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;

// RFC 8410: the algorithm, and a bit string of 32 bytes.
constexpr std::string_view kDerPrefix("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);

// libcrypto would ask for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

using ReadKey = EVP_PKEY* (*)(BIO*, EVP_PKEY**, pem_password_cb*, void*);

KeyHolder read_key(ReadKey read, std::string_view pem, const std::string& name, const char* half,
                   const char* advice) {
  const Crypto& table = crypto();
  const auto bytes =
      owned(table.BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), table.BIO_free);
  KeyHolder key(read(bytes.get(), nullptr, no_passphrase, nullptr), table.EVP_PKEY_free);
  if (key == nullptr) {
    throw error(ErrorCode::kInvalidInput, "{} holds no {} key in PEM without a passphrase; {}",
                name, half, advice);
  }
  // The DER of a key of another algorithm is longer, or begins in another way.
  std::string der(kDerPrefix.size() + sizeof(Ed25519Key), '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  const bool is_ours = table.i2d_PUBKEY(key.get(), nullptr) == static_cast<int>(der.size()) &&
                       table.i2d_PUBKEY(key.get(), &out) == static_cast<int>(der.size()) &&
                       std::string_view(der).starts_with(kDerPrefix);
  if (!is_ours) {
    throw error(ErrorCode::kInvalidInput,
                "{} holds a key of another algorithm, Ed25519 is needed; \"openssl genpkey "
                "-algorithm ed25519 -out KEY.pem\" makes one",
                name);
  }
  return key;
}

using GetRawKey = int (*)(const EVP_PKEY*, unsigned char*, std::size_t*);

Ed25519Key raw_key(GetRawKey get, const KeyHolder& key) {
  Ed25519Key raw{};
  std::size_t size = raw.size();
  if (get(key.get(), raw.data(), &size) != 1 || size != raw.size()) {
    throw Error(ErrorCode::kInternal, "libcrypto does not give the bytes of an Ed25519 key");
  }
  return raw;
}

KeyHolder private_key_of(const Ed25519Key& raw) {
  return owned(
      crypto().EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, raw.data(), raw.size()),
      crypto().EVP_PKEY_free);
}

const unsigned char* data_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

Ed25519Key ed25519_public_key(std::string_view pem, const std::string& name) {
  const ErrorMark mark;
  return raw_key(crypto().EVP_PKEY_get_raw_public_key,
                 read_key(crypto().PEM_read_bio_PUBKEY, pem, name, "public",
                          "\"openssl pkey -in KEY.pem -pubout -out PUB.pem\" writes one"));
}

Ed25519Key ed25519_private_key(std::string_view pem, const std::string& name) {
  const ErrorMark mark;
  return raw_key(crypto().EVP_PKEY_get_raw_private_key,
                 read_key(crypto().PEM_read_bio_PrivateKey, pem, name, "private",
                          "\"openssl genpkey -algorithm ed25519 -out KEY.pem\" makes one"));
}

Ed25519Key ed25519_public_half(const Ed25519Key& private_key) {
  const ErrorMark mark;
  return raw_key(crypto().EVP_PKEY_get_raw_public_key, private_key_of(private_key));
}

Ed25519Signature ed25519_sign(const Ed25519Key& private_key, std::string_view message) {
  const Crypto& table = crypto();
  const ErrorMark mark;
  const KeyHolder key = private_key_of(private_key);
  const auto context = owned(table.EVP_MD_CTX_new(), table.EVP_MD_CTX_free);
  Ed25519Signature signature{};
  std::size_t size = signature.size();
  if (table.EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      table.EVP_DigestSign(context.get(), signature.data(), &size, data_of(message),
                           message.size()) != 1 ||
      size != signature.size()) {
    throw Error(ErrorCode::kUnsupported,
                "libcrypto makes no Ed25519 signature; does its configuration allow Ed25519?");
  }
  return signature;
}

bool ed25519_is_signed(const Ed25519Key& public_key, std::string_view message,
                       const Ed25519Signature& signature) {
  const Crypto& table = crypto();
  const ErrorMark mark;
  const KeyHolder key(table.EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                                        public_key.data(), public_key.size()),
                      table.EVP_PKEY_free);
  const auto context = owned(table.EVP_MD_CTX_new(), table.EVP_MD_CTX_free);
  if (key == nullptr ||
      table.EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) {
    throw Error(ErrorCode::kUnsupported,
                "libcrypto checks no Ed25519 signature; does its configuration allow Ed25519?");
  }
  return table.EVP_DigestVerify(context.get(), signature.data(), signature.size(), data_of(message),
                                message.size()) == 1;
}

std::string ed25519_der(const Ed25519Key& public_key) {
  return std::string(kDerPrefix) +
         std::string(reinterpret_cast<const char*>(public_key.data()), public_key.size());
}

}  // namespace baton
