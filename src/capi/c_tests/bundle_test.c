// A program from a bundle: by a handle, by its path, and from bytes.

#include "c_test.h"

static const char kPath[] = BATON_SOURCE_DIR "/src/bundle/testdata/v1_0.baton";

enum { kElements = 4 };

// y = x + w, with x of ones and w from the bundle.
static void run_program(baton_program* program, float* y) {
  OK(baton_program_run(program));
  OK(baton_program_output(program, "y", y, kElements * sizeof(float)));
  baton_program_release(program);
}

static size_t read_bundle(char* target, size_t room) {
  FILE* file = fopen(kPath, "rb");
  size_t size = 0;
  CHECK(file != NULL);
  if (file == NULL) return 0;
  size = fread(target, 1, room, file);
  fclose(file);
  return size;
}

int main(void) {
  static char bytes[65536];
  baton_device* device = open_test_device();
  baton_bundle* bundle = NULL;
  baton_program* program = NULL;
  baton_program_options options = BATON_PROGRAM_OPTIONS_INIT;
  baton_bundle_info info = BATON_BUNDLE_INFO_INIT;
  const char* architecture = NULL;
  float first[kElements], second[kElements];
  size_t size = 0;
  REQUIRE_OK(baton_bundle_open(kPath, BATON_VERIFY_ALL, &bundle));
  OK(baton_bundle_get_info(bundle, &info));
  CHECK_TEXT(info.name, "v1_0.baton");
  CHECK_TEXT(info.version, "1.0");
  CHECK_TEXT(info.program, "golden");
  CHECK(info.architecture_count == 2);
  OK(baton_bundle_architecture(bundle, 0, &architecture));
  CHECK_TEXT(architecture, "sm_90a");
  REQUIRE_OK(baton_program_load(bundle, device, "golden", &program));
  // The program keeps what it needs.
  baton_bundle_release(bundle);
  run_program(program, first);

  REQUIRE_OK(baton_program_load_file(kPath, device, NULL, &program));
  run_program(program, second);
  CHECK(memcmp(first, second, sizeof(first)) == 0);

  size = read_bundle(bytes, sizeof(bytes));
  REQUIRE_OK(baton_bundle_from_bytes(bytes, size, "memory", BATON_VERIFY_INDEX, &bundle));
  bytes[5000] ^= 1;  // the library has its own copy
  options.executor = BATON_EXECUTOR_GRAPH;
  REQUIRE_OK(baton_program_load_with(bundle, device, NULL, &options, &program));
  baton_bundle_release(bundle);
  run_program(program, second);
  CHECK(memcmp(first, second, sizeof(first)) == 0);
  REFUSED(baton_bundle_from_bytes(bytes, size, "damaged", BATON_VERIFY_INDEX, &bundle), "damaged");
  REFUSED(baton_bundle_from_bytes(bytes, size - 1, "short", BATON_VERIFY_INDEX, &bundle), "short");
  CHECK(bundle == NULL);
  baton_device_release(device);
  return finish_test();
}
