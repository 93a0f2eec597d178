// Structs of earlier and later releases, and members that nothing may have.

#include "c_test.h"

// baton_device_options of a later release.
typedef struct later_options {
  baton_device_options known;
  int64_t unknown[2];
} later_options;

// The same of a struct that the library fills.
typedef struct later_info {
  baton_device_info known;
  int64_t unknown;
} later_info;

static void read_older_and_newer(void) {
  baton_device* device = NULL;
  baton_device_options options = BATON_DEVICE_OPTIONS_INIT;
  later_options later = {BATON_DEVICE_OPTIONS_INIT, {0, 0}};
  OK(baton_device_open("sim", &options, &device));
  baton_device_release(device);

  // An earlier release without any member: what follows is not read.
  options.size = sizeof(size_t);
  options.findings = 99;
  OK(baton_device_open("sim", &options, &device));
  baton_device_release(device);

  later.known.size = sizeof(later);
  OK(baton_device_open("sim", (const baton_device_options*)&later, &device));
  baton_device_release(device);
  later.unknown[1] = 1;
  REFUSED(baton_device_open("sim", (const baton_device_options*)&later, &device),
          "options->size is 32, this library knows 16 bytes, and byte 24 is not zero");
  CHECK(device == NULL);
}

static void refuse_sizes(void) {
  static const size_t kWrong[] = {0, 1, 7, 12, 17, 4104, (size_t)-8, (size_t)-1};
  baton_device* device = NULL;
  baton_device_info info = BATON_DEVICE_INFO_INIT;
  size_t i;
  REQUIRE_OK(baton_device_open("sim", NULL, &device));
  for (i = 0; i < sizeof(kWrong) / sizeof(kWrong[0]); ++i) {
    baton_device* none = device;
    baton_device_options options = BATON_DEVICE_OPTIONS_INIT;
    options.size = kWrong[i];
    REFUSED(baton_device_open("sim", &options, &none), "initialise the struct with its BATON_");
    CHECK(none == NULL);
    info.size = kWrong[i];
    REFUSED(baton_device_get_info(device, &info), "info->size is");
  }
  baton_device_release(device);
}

static void write_older_and_newer(void) {
  baton_device* device = NULL;
  later_info later = {BATON_DEVICE_INFO_INIT, 42};
  REQUIRE_OK(baton_device_open("sim", NULL, &device));
  later.known.size = sizeof(later);
  OK(baton_device_get_info(device, &later.known));
  CHECK(later.known.size == sizeof(later));
  CHECK(later.known.architecture > 0);
  CHECK(later.known.is_simulated == 1);
  CHECK(later.unknown == 42);

  memset(&later, 0, sizeof(later));
  later.known.size = offsetof(baton_device_info, name);
  OK(baton_device_get_info(device, &later.known));
  CHECK_TEXT(later.known.spec, "sim");
  CHECK(later.known.name == NULL && later.known.architecture == 0);
  baton_device_release(device);
}

static void refuse_members(void) {
  baton_device* device = NULL;
  baton_program* program = NULL;
  baton_device_options device_options = BATON_DEVICE_OPTIONS_INIT;
  baton_program_options options = BATON_PROGRAM_OPTIONS_INIT;
  baton_run_options run = BATON_RUN_OPTIONS_INIT;
  const char* text =
      "[buffers.y]\ndtype = \"i32\"\nshape = [4]\nrole = \"output\"\n"
      "[[steps]]\nfill = { buffer = \"y\", value = 7 }\n";
  device_options.findings = 3;
  REFUSED(baton_device_open("sim", &device_options, &device),
          "options->findings is 3, it takes a constant of baton.h from 0 to 2");
  device_options.findings = BATON_FINDINGS_COLLECT;
  device_options.reserved = -1;
  REFUSED(baton_device_open("sim", &device_options, &device), "options->reserved is -1");
  REQUIRE_OK(baton_device_open("sim", NULL, &device));

  options.executor = 2;
  REFUSED(baton_program_load_text(text, NULL, NULL, device, &options, &program),
          "options->executor is 2, it takes a constant of baton.h from 0 to 1");
  options.executor = BATON_EXECUTOR_GRAPH;
  options.pdl = -1;
  REFUSED(baton_program_load_text(text, NULL, NULL, device, &options, &program),
          "options->pdl is -1");
  options.pdl = BATON_PDL_ON;
  options.use_cache = 7;
  REFUSED(baton_program_load_text(text, NULL, NULL, device, &options, &program),
          "options->use_cache is 7, it takes 0 or 1");
  options.use_cache = 0;
  options.reserved = 1;
  REFUSED(baton_program_load_text(text, NULL, NULL, device, &options, &program),
          "options->reserved is 1");
  options.reserved = 0;
  REQUIRE_OK(baton_program_load_text(text, NULL, NULL, device, &options, &program));
  run.timeout = -1;
  REFUSED(baton_program_run_with(program, &run), "options->timeout is -1");
  run.timeout = 10;
  run.schedule = "sideways";
  REFUSED(baton_program_run_with(program, &run), "sideways");
  run.schedule = "reverse";
  run.races = "sideways";
  REFUSED(baton_program_run_with(program, &run), "sideways");
  run.races = "model";
  OK(baton_program_run_with(program, &run));
  OK(baton_program_run_with(program, NULL));
  OK(baton_program_bind(program));
  REFUSED(baton_program_wait(program, NULL, -0.5), "timeout is -0.5");
  baton_program_release(program);
  baton_device_release(device);
}

int main(void) {
  read_older_and_newer();
  refuse_sizes();
  write_older_and_newer();
  refuse_members();
  return finish_test();
}
