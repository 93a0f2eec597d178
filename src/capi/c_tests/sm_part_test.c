// Parts of the multiprocessors: split, streams on them, programs with them.

#include "c_test.h"

static const char kPtx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry seven(.param .u64 .ptr .global seven_x) {\n"
    "  .reg .b32 %r<3>;\n  .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [seven_x];\n  mov.u32 %r1, %ctaid.x;\n  mul.wide.u32 %d2, %r1, 4;\n"
    "  add.s64 %d1, %d1, %d2;\n  mov.u32 %r2, 7;\n  st.global.u32 [%d1], %r2;\n  ret;\n}\n";

static const char kProgram[] =
    "name = \"parts\"\n"
    "[symbols]\nN = 8\n"
    "[buffers.x]\ndtype = \"f32\"\nshape = [\"N\"]\nrole = \"input\"\ninit = \"ones\"\n"
    "[buffers.y]\ndtype = \"f32\"\nshape = [\"N\"]\nrole = \"inout\"\ninit = \"zeros\"\n"
    "[kernels.saxpy]\nptx = \"kernels.ptx\"\nentry = \"saxpy\"\n"
    "[[steps]]\nlaunch = \"saxpy\"\ngrid = [1]\nblock = [32]\n"
    "args = [\"y\", \"x\", 2.0, \"N\"]\nsms = 5\n";

static baton_device* device;

static void streams_run_on_their_part(uint32_t unit) {
  const uint32_t asked[] = {1, 2};
  baton_sm_part* parts[2] = {NULL, NULL};
  baton_stream* stream = NULL;
  baton_module* module = NULL;
  baton_kernel* kernel = NULL;
  baton_memory* memory = NULL;
  void* x = NULL;
  uint32_t sms = 0, result[4] = {0, 0, 0, 0};
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_value values[1];
  REQUIRE_OK(baton_device_split_sms(device, asked, 2, parts));
  OK(baton_sm_part_sms(parts[1], &sms));
  CHECK(sms >= 2 && sms % unit == 0);
  OK(baton_sm_part_sms(parts[0], &sms));
  CHECK(sms == unit);
  REQUIRE_OK(baton_sm_part_stream(parts[0], 0, &stream));
  baton_sm_part_release(parts[0]);  // the stream keeps it
  baton_sm_part_release(parts[1]);
  OK(baton_stream_part_sms(stream, &sms));
  CHECK(sms == unit);

  REQUIRE_OK(baton_module_load(device, kPtx, sizeof(kPtx), &module));
  REQUIRE_OK(baton_kernel_get(module, "seven", &kernel));
  REQUIRE_OK(baton_memory_alloc(device, sizeof(result), &memory));
  OK(baton_memory_address(memory, &x));
  config.grid[0] = 4;
  config.stream = stream;
  values[0] = BATON_POINTER(x);
  OK(baton_kernel_launch(kernel, &config, values, 1));
  OK(baton_memory_download(memory, 0, result, sizeof(result), stream));
  OK(baton_stream_synchronize(stream));
  CHECK(result[0] == 7 && result[3] == 7);
  baton_memory_release(memory);
  baton_kernel_release(kernel);
  baton_module_release(module);
  baton_stream_release(stream);
}

static void a_program_tells_its_parts(uint32_t unit) {
  baton_program* program = NULL;
  baton_check* check = NULL;
  size_t count = 0, launch_count = 0;
  uint32_t asked = 0, given = 0;
  const uint32_t* launches = NULL;
  REQUIRE_OK(baton_program_load_text(
      kProgram, "parts.toml", BATON_SOURCE_DIR "/src/session/testdata", device, NULL, &program));
  REQUIRE_OK(baton_program_check(program, &check));
  OK(baton_check_part_count(check, &count));
  CHECK(count == 1);
  OK(baton_check_part(check, 0, &asked, &given, &launches, &launch_count));
  CHECK(asked == 5 && given == (5 + unit - 1) / unit * unit);
  CHECK(launch_count == 1 && launches[0] == 0);
  OK(baton_check_part(check, 0, NULL, &given, NULL, NULL));
  REFUSED(baton_check_part(check, 1, &asked, &given, NULL, NULL), "1");
  REFUSED(baton_check_part(check, 0, NULL, NULL, &launches, NULL), "launch_count");
  baton_check_release(check);
  baton_program_release(program);
}

static void refusals(uint32_t unit, uint32_t units) {
  const uint32_t too_many[2] = {unit * units, 1}, none[1] = {0};
  baton_sm_part* parts[2] = {NULL, NULL};
  baton_stream* stream = NULL;
  uint32_t sms = 0;
  size_t count = 0;
  FAILS(baton_device_split_sms(device, too_many, 2, parts), BATON_ERROR_LIMIT, "ask for fewer");
  CHECK(parts[0] == NULL && parts[1] == NULL);
  REFUSED(baton_device_split_sms(device, none, 1, parts), "0 SMs");
  REFUSED(baton_device_split_sms(device, NULL, 1, parts), "sms");
  REFUSED(baton_device_split_sms(device, none, 1, NULL), "parts");
  REFUSED(baton_device_split_sms(NULL, none, 1, parts), "device");
  REFUSED(baton_device_sm_units(device, NULL, &sms), "unit");
  REFUSED(baton_device_sm_units(device, &sms, NULL), "count");
  REFUSED(baton_sm_part_sms(NULL, &sms), "part");
  REFUSED(baton_sm_part_stream(NULL, 0, &stream), "part");
  REFUSED(baton_stream_part_sms(NULL, &sms), "stream");
  REFUSED(baton_check_part_count(NULL, &count), "check");
}

int main(void) {
  uint32_t unit = 0, units = 0;
  baton_error* error = NULL;
  device = open_test_device();
  error = baton_device_sm_units(device, &unit, &units);
  if (error != NULL) {
    const int32_t code = baton_error_code(error);
    printf("%s\n", baton_error_text(error));
    baton_error_release(error);
    return code == BATON_ERROR_UNSUPPORTED ? SKIPPED : 1;
  }
  CHECK(unit >= 1 && units >= 2);
  streams_run_on_their_part(unit);
  a_program_tells_its_parts(unit);
  refusals(unit, units);
  baton_device_release(device);
  return finish_test();
}
