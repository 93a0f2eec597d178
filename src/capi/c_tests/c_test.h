#ifndef BATON_SRC_CAPI_C_TESTS_C_TEST_H_
#define BATON_SRC_CAPI_C_TESTS_C_TEST_H_

// What the tests of the C interface share. Each test is a program, which is compiled as C11 and
// again as C++.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baton.h"

// What ctest takes for a skipped test.
#define SKIPPED 77

static int failures = 0;

static inline void check_that(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  printf("line %d: %s does not hold\n", line, what);
}
#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __LINE__)

static inline void check_text(const char* text, const char* words, int line) {
  if (text != NULL && strstr(text, words) != NULL) return;
  ++failures;
  printf("line %d: \"%s\" lacks \"%s\"\n", line, text == NULL ? "(null)" : text, words);
}
#define CHECK_TEXT(text, words) check_text((text), (words), __LINE__)

static inline int check_succeeds(baton_error* error, const char* call, int line) {
  if (error == NULL) return 1;
  ++failures;
  printf("line %d: %s: %s\n", line, call, baton_error_text(error));
  baton_error_release(error);
  return 0;
}
// The call returns no error.
#define OK(call) check_succeeds((call), #call, __LINE__)
// The same for a call without which the test cannot go on.
#define REQUIRE_OK(call)                                   \
  do {                                                     \
    if (!check_succeeds((call), #call, __LINE__)) exit(1); \
  } while (0)

static inline void check_fails(baton_error* error, int32_t code, const char* words,
                               const char* call, int line) {
  if (error == NULL || baton_error_code(error) != code ||
      strstr(baton_error_text(error), words) == NULL) {
    ++failures;
    printf("line %d: %s gives %s: %s\n  wanted: %s: %s\n", line, call,
           baton_error_code_name(baton_error_code(error)), baton_error_text(error),
           baton_error_code_name(code), words);
  }
  baton_error_release(error);
}
// The call returns an error of this code, whose text has the words.
#define FAILS(call, code, words) check_fails((call), (code), (words), #call, __LINE__)
// The same of an argument that is wrong.
#define REFUSED(call, words) FAILS(call, BATON_ERROR_INVALID_INPUT, words)

// The device of the test: BATON_TEST_DEVICE, or the simulated GPU. A test without one is skipped.
static inline baton_device* open_test_device(void) {
  const char* name = getenv("BATON_TEST_DEVICE");
  baton_device* device = NULL;
  baton_error* error =
      baton_device_open(name != NULL && *name != '\0' ? name : "sim", NULL, &device);
  if (error != NULL) {
    const int32_t code = baton_error_code(error);
    printf("%s\n", baton_error_text(error));
    baton_error_release(error);
    exit(code == BATON_ERROR_NO_DEVICE ? SKIPPED : 1);
  }
  return device;
}

static inline int finish_test(void) {
  if (failures != 0) printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}

#endif  // BATON_SRC_CAPI_C_TESTS_C_TEST_H_
