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

// The parts of its program, by their order in the program file.
static void read_program(const baton_bundle* bundle) {
  baton_bundle_info info = BATON_BUNDLE_INFO_INIT;
  baton_buffer_info buffer = BATON_BUFFER_INFO_INIT;
  const char* text = NULL;
  int64_t value = 0;
  OK(baton_bundle_get_info(bundle, &info));
  CHECK(info.kernel_count == 1 && info.buffer_count == 3 && info.symbol_count == 1);
  OK(baton_bundle_kernel(bundle, 0, &text));
  CHECK_TEXT(text, "add");
  OK(baton_bundle_buffer(bundle, 0, &buffer));
  CHECK_TEXT(buffer.name, "w");
  CHECK(buffer.role == BATON_ROLE_WEIGHT && buffer.ndim == 1 && buffer.dtype.bits == 32);
  CHECK(buffer.shape == NULL && buffer.address == NULL && buffer.bytes == 0);
  OK(baton_bundle_buffer(bundle, 2, &buffer));
  CHECK_TEXT(buffer.name, "y");
  CHECK(buffer.role == BATON_ROLE_OUTPUT);
  OK(baton_bundle_extent(bundle, 2, 0, &text));
  CHECK_TEXT(text, "N");
  OK(baton_bundle_symbol(bundle, 0, &text, &value));
  CHECK_TEXT(text, "N");
  CHECK(value == kElements);
  REFUSED(baton_bundle_kernel(bundle, 1, &text), "there are 1 kernels");
  REFUSED(baton_bundle_buffer(bundle, 3, &buffer), "there are 3 buffers");
  REFUSED(baton_bundle_extent(bundle, 3, 0, &text), "there are 3 buffers");
  REFUSED(baton_bundle_extent(bundle, 0, 1, &text), "there are 1 axes");
  REFUSED(baton_bundle_symbol(bundle, 1, &text, &value), "there are 1 symbols");
}

// A kernel of the program is launched by itself.
static void launch_kernel(const baton_program* program, const baton_device* device) {
  baton_kernel* kernel = NULL;
  baton_kernel_info info = BATON_KERNEL_INFO_INIT;
  baton_memory* memory = NULL;
  void* address = NULL;
  const float ones[kElements] = {1, 1, 1, 1};
  float y[kElements] = {0, 0, 0, 0};
  FAILS(baton_program_kernel(program, "ad", &kernel), BATON_ERROR_NOT_FOUND,
        "the program golden has no kernel \"ad\"; did you mean \"add\"?");
  CHECK(kernel == NULL);
  REQUIRE_OK(baton_program_kernel(program, "add", &kernel));
  OK(baton_kernel_get_info(kernel, &info));
  CHECK_TEXT(info.demangled, "add<float>");
  REQUIRE_OK(baton_memory_alloc(device, sizeof(ones), &memory));
  OK(baton_memory_address(memory, &address));
  OK(baton_memory_upload(memory, 0, ones, sizeof(ones), NULL));
  {
    baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
    const baton_value values[] = {BATON_POINTER(address), BATON_POINTER(address),
                                  BATON_POINTER(address)};
    config.block[0] = kElements;
    OK(baton_kernel_launch(kernel, &config, values, 3));
  }
  OK(baton_memory_download(memory, 0, y, sizeof(y), NULL));
  OK(baton_device_synchronize(device));
  CHECK(y[0] == 3 && y[kElements - 1] == 3);  // x + 2 w
  baton_memory_release(memory);
  baton_kernel_release(kernel);
}

int main(void) {
  static char bytes[65536];
  baton_device* device = open_test_device();
  baton_bundle* bundle = NULL;
  baton_program* program = NULL;
  baton_module* module = NULL;
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
  read_program(bundle);
  REQUIRE_OK(baton_program_load(bundle, device, "golden", &program));
  // The program keeps what it needs.
  baton_bundle_release(bundle);
  launch_kernel(program, device);
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
  // It is no image either, and a cut one is called so.
  REFUSED(baton_module_load(device, bytes, size, &module), "damaged");
  bytes[5000] ^= 1;
  REFUSED(baton_module_load(device, bytes, size, &module), "is a Baton bundle, not an image");
  REFUSED(baton_module_load(device, bytes, size - 1, &module), "it is truncated");
  REFUSED(baton_module_load(device, bytes, 100, &module), "is truncated");
  REFUSED(baton_module_load_file(device, kPath, &module), "is a Baton bundle, not an image");
  CHECK(module == NULL);
  baton_device_release(device);
  return finish_test();
}
