// References, released handles, and handles of another kind.

#include "c_test.h"

// What is logged of a misuse goes to standard error, which this test leaves alone: it looks at what
// the calls return.

static void count_references(baton_device* device) {
  baton_memory* memory = NULL;
  void* address = NULL;
  int i;
  REQUIRE_OK(baton_memory_alloc(device, 64, &memory));
  for (i = 0; i < 10; ++i) baton_memory_retain(memory);
  for (i = 0; i < 10; ++i) baton_memory_release(memory);
  OK(baton_memory_address(memory, &address));
  baton_memory_release(memory);
  REFUSED(baton_memory_address(memory, &address), "memory is a baton_memory that was released");
  // Neither brings it back.
  baton_memory_retain(memory);
  baton_memory_release(memory);
  REFUSED(baton_memory_address(memory, &address), "memory is a baton_memory that was released");
  CHECK(address == NULL);
}

// The memory of a released handle serves no other handle for a while.
static void release_twice(baton_device* device) {
  baton_stream* first = NULL;
  baton_stream* second = NULL;
  int32_t done = 0;
  REQUIRE_OK(baton_stream_create(device, 0, &first));
  baton_stream_release(first);
  REQUIRE_OK(baton_stream_create(device, 0, &second));
  CHECK(first != second);
  baton_stream_release(first);
  OK(baton_stream_done(second, &done));
  baton_stream_release(second);
}

static void mistake_kinds(baton_device* device) {
  baton_stream* stream = NULL;
  size_t bytes = 0;
  REQUIRE_OK(baton_stream_create(device, 0, &stream));
  REFUSED(baton_memory_bytes((baton_memory*)(void*)stream, &bytes), "memory is not a baton_memory");
  REFUSED(baton_device_synchronize((baton_device*)(void*)stream), "device is not a baton_device");
  baton_memory_release((baton_memory*)(void*)stream);
  OK(baton_stream_synchronize(stream));
  baton_stream_release(stream);
}

static void keep_what_is_needed(void) {
  static const char kPtx[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  baton_device* device = open_test_device();
  baton_module* module = NULL;
  baton_kernel* kernel = NULL;
  baton_stream* stream = NULL;
  baton_plan* plan = NULL;
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  REQUIRE_OK(baton_module_load(device, kPtx, sizeof(kPtx) - 1, &module));
  REQUIRE_OK(baton_kernel_get(module, NULL, &kernel));
  REQUIRE_OK(baton_stream_create(device, 0, &stream));
  config.stream = stream;
  REQUIRE_OK(baton_plan_create(kernel, &config, NULL, 0, &plan));
  baton_device_release(device);
  baton_module_release(module);
  baton_kernel_release(kernel);
  baton_stream_release(stream);
  OK(baton_plan_launch(plan));
  baton_plan_release(plan);
  REFUSED(baton_plan_launch(plan), "plan is a baton_plan that was released");
}

static void read_released_errors(void) {
  baton_device* device = NULL;
  baton_error* error = baton_device_open("nonsense", NULL, &device);
  CHECK(baton_error_code(error) == BATON_ERROR_INVALID_INPUT);
  CHECK_TEXT(baton_error_message(error), "nonsense");
  baton_error_retain(error);
  baton_error_release(error);
  CHECK_TEXT(baton_error_message(error), "nonsense");
  baton_error_release(error);
  CHECK(baton_error_code(error) == BATON_ERROR_INVALID_INPUT);
  CHECK_TEXT(baton_error_message(error), "was released");
  CHECK_TEXT(baton_error_text(error), "was released");
  CHECK(baton_error_note(error, 0) == NULL);
  baton_error_release(error);
}

static void name_codes(void) {
  int32_t code;
  CHECK_TEXT(baton_error_code_name(BATON_OK), "ok");
  CHECK_TEXT(baton_error_code_name(BATON_ERROR_INVALID_INPUT), "invalid_input");
  CHECK_TEXT(baton_error_code_name(BATON_ERROR_INTERNAL), "internal");
  for (code = 0; code <= BATON_ERROR_INTERNAL; ++code) {
    CHECK(strcmp(baton_error_code_name(code), "unknown") != 0);
  }
  CHECK_TEXT(baton_error_code_name(BATON_ERROR_INTERNAL + 1), "unknown");
  CHECK_TEXT(baton_error_code_name(-1), "unknown");
}

int main(void) {
  baton_device* device = open_test_device();
  count_references(device);
  release_twice(device);
  mistake_kinds(device);
  baton_device_release(device);
  keep_what_is_needed();
  read_released_errors();
  name_codes();
  return finish_test();
}
