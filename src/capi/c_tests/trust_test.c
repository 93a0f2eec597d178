// Whom a C program trusts: bundles that are signed with its keys.

#include "c_test.h"

static const char kUnsigned[] = BATON_SOURCE_DIR "/src/bundle/testdata/v1_0.baton";
static const char kSigned[] = BATON_SOURCE_DIR "/src/bundle/testdata/v1_1.baton";
// Of the key that signed v1_1.baton, and of another one.
static const char kOwn[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
    "-----END PUBLIC KEY-----\n";
static const char kOther[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";

int main(void) {
  static char bytes[65536];
  const char* own[] = {kOwn};
  const char* both[] = {kOther, kOwn};
  const char* broken[] = {kOwn, "no key"};
  char key_id[BATON_KEY_ID_SIZE];
  baton_bundle* bundle = NULL;
  baton_bundle_options options = BATON_BUNDLE_OPTIONS_INIT;
  FILE* file = NULL;
  size_t size = 0;

  REQUIRE_OK(baton_bundle_open_with(kUnsigned, NULL, &bundle));
  OK(baton_bundle_signed_by(bundle, key_id));
  CHECK_TEXT(key_id, "");
  baton_bundle_release(bundle);

  options.keys = own;
  options.key_count = 1;
  options.verify = BATON_VERIFY_ONCE;
  REFUSED(baton_bundle_open_with(kUnsigned, &options, &bundle), "v1_0.baton is not signed");
  REQUIRE_OK(baton_bundle_open_with(kSigned, &options, &bundle));
  OK(baton_bundle_signed_by(bundle, key_id));
  CHECK_TEXT(key_id, "deb2ded39dc26fce");
  baton_bundle_release(bundle);
  options.keys = both;
  REFUSED(baton_bundle_open_with(kSigned, &options, &bundle), "which is not trusted");
  options.key_count = 2;
  REQUIRE_OK(baton_bundle_open_with(kSigned, &options, &bundle));
  baton_bundle_release(bundle);
  options.keys = broken;
  REFUSED(baton_bundle_open_with(kSigned, &options, &bundle), "keys[1] holds no public key");

  file = fopen(kSigned, "rb");
  CHECK(file != NULL);
  if (file == NULL) return finish_test();
  size = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  options.keys = both;
  REQUIRE_OK(baton_bundle_from_bytes_with(bytes, size, "memory", &options, &bundle));
  baton_bundle_release(bundle);
  bytes[5000] ^= 1;
  REFUSED(baton_bundle_from_bytes_with(bytes, size, "memory", &options, &bundle), "damaged");
  CHECK(bundle == NULL);
  return finish_test();
}
