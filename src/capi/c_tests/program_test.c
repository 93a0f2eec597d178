// Programs: bind, run, enqueue, patch, check, several instances.

#include <pthread.h>

#include "c_test.h"

static const char kProgram[] =
    "name = \"steps\"\n"
    "[symbols]\n"
    "N = 8\n"
    "A = 2\n"
    "[buffers.x]\ndtype = \"f32\"\nshape = [\"N\"]\nrole = \"input\"\ninit = \"ones\"\n"
    "[buffers.y]\ndtype = \"f32\"\nshape = [\"N\"]\nrole = \"inout\"\ninit = \"zeros\"\n"
    "[buffers.total]\ndtype = \"f32\"\nshape = [\"N\"]\nrole = \"state\"\ninit = \"zeros\"\n"
    "[kernels.saxpy]\nptx = \"kernels.ptx\"\nentry = \"saxpy\"\n"
    "[[steps]]\nlaunch = \"saxpy\"\ngrid = [\"ceildiv(N, 32)\"]\nblock = [32]\n"
    "args = [\"y\", \"x\", { f32 = \"A\" }, \"N\"]\n"
    "[[steps]]\nlaunch = \"saxpy\"\ngrid = [\"ceildiv(N, 32)\"]\nblock = [32]\n"
    "args = [\"total\", \"x\", 1.0, \"N\"]\n";

enum { kCount = 8 };

static baton_device* device;

static baton_program* load(int32_t executor) {
  baton_program* program = NULL;
  baton_program_options options = BATON_PROGRAM_OPTIONS_INIT;
  options.executor = executor;
  REQUIRE_OK(baton_program_load_text(kProgram, "steps.toml",
                                     BATON_SOURCE_DIR "/src/session/testdata", device, &options,
                                     &program));
  return program;
}

static baton_tensor tensor_of(void* data, int32_t device_type, int64_t* shape) {
  baton_device_info info = BATON_DEVICE_INFO_INIT;
  baton_tensor tensor;
  OK(baton_device_get_info(device, &info));
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = data;
  tensor.device.device_type = device_type == 2 ? 2 : 1;
  tensor.device.device_id = device_type == 2 ? info.ordinal : 0;
  tensor.ndim = 1;
  OK(baton_dtype_parse("f32", &tensor.dtype));
  tensor.shape = shape;
  return tensor;
}

static void run_once(void) {
  baton_program* program = load(BATON_EXECUTOR_STREAM);
  baton_findings* findings = NULL;
  baton_buffer_info info = BATON_BUFFER_INFO_INIT;
  int64_t shape[1] = {4};
  float x[4] = {1, 2, 3, 4};
  float y[kCount];
  baton_tensor tensor = tensor_of(x, 1, shape);
  size_t count = 0;
  OK(baton_program_buffer_count(program, &count));
  CHECK(count == 3);
  OK(baton_program_buffer_at(program, 2, &info));
  CHECK_TEXT(info.name, "total");
  CHECK(info.role == BATON_ROLE_STATE && info.ndim == 1 && info.shape == NULL && info.bytes == 0);
  REFUSED(baton_program_output(program, "y", y, sizeof(y)), "is known after a run");
  OK(baton_program_run(program));
  OK(baton_program_output(program, "y", y, sizeof(y)));
  CHECK(y[0] == 2 && y[7] == 2);
  REFUSED(baton_program_output(program, "y", y, 4), "the output y has 32 bytes, the target 4");
  FAILS(baton_program_output(program, "x", y, sizeof(y)), BATON_ERROR_NOT_FOUND, "no output \"x\"");
  OK(baton_program_findings(program, &findings));
  OK(baton_findings_count(findings, &count));
  CHECK(count == 0);
  baton_findings_release(findings);

  // Another shape, which the array says, and other values.
  OK(baton_program_set_tensor(program, "x", &tensor));
  OK(baton_program_set_int(program, "A", 10));
  x[0] = 99;  // the library has its own copy
  OK(baton_program_run(program));
  OK(baton_program_buffer(program, "y", &info));
  CHECK(info.role == BATON_ROLE_INOUT && info.ndim == 1 && info.shape[0] == 4 && info.bytes == 16);
  CHECK_TEXT(baton_dtype_name(info.dtype), "f32");
  CHECK(info.address != NULL);
  OK(baton_program_output(program, "y", y, 16));
  CHECK(y[0] == 10 && y[3] == 40);
  OK(baton_program_unset(program, "x"));
  OK(baton_program_unset(program, "A"));
  FAILS(baton_program_unset(program, "A"), BATON_ERROR_NOT_FOUND, "nothing was set for \"A\"");
  OK(baton_program_run(program));
  OK(baton_program_output(program, "y", y, sizeof(y)));
  CHECK(y[0] == 2 && y[7] == 2);
  baton_program_release(program);
}

static void refuse_values(void) {
  baton_program* program = load(BATON_EXECUTOR_STREAM);
  int64_t shape[2] = {4, 2};
  float x[kCount] = {0};
  baton_tensor tensor = tensor_of(x, 1, shape);
  FAILS(baton_program_set_int(program, "M", 1), BATON_ERROR_NOT_FOUND, "no symbol \"M\"");
  FAILS(baton_program_set_tensor(program, "z", &tensor), BATON_ERROR_NOT_FOUND, "no buffer \"z\"");
  tensor.ndim = 2;
  REFUSED(baton_program_set_tensor(program, "x", &tensor),
          "the tensor for the buffer x has 2 dimensions, the buffer has 1");
  tensor.ndim = 1;
  OK(baton_dtype_parse("f64", &tensor.dtype));
  REFUSED(baton_program_set_tensor(program, "x", &tensor),
          "the tensor for the buffer x has elements of f64, the buffer of f32");
  OK(baton_dtype_parse("f32", &tensor.dtype));
  tensor.device.device_type = 2;
  tensor.device.device_id = 77;
  REFUSED(baton_program_set_tensor(program, "x", &tensor),
          "the tensor for the buffer x is in memory of");
  OK(baton_program_set_int(program, "N", -1));
  REFUSED(baton_program_bind(program), "-1");
  REFUSED(baton_program_enqueue(program, NULL), "is not bound: call baton_program_bind");
  REFUSED(baton_program_wait(program, NULL, 0), "is not bound: call baton_program_bind");
  OK(baton_program_set_int(program, "N", 8));
  OK(baton_program_bind(program));
  REFUSED(baton_program_reset(program, "y", NULL), "y");
  FAILS(baton_program_upload(program, "z", 0, x, 4, NULL), BATON_ERROR_NOT_FOUND,
        "no buffer \"z\"");
  REFUSED(baton_program_upload(program, "x", 32, x, 4, NULL), "leaves the memory of 32 bytes");
  REFUSED(baton_program_download(program, "x", 0, x, 36, NULL), "leaves the memory of 32 bytes");
  // What only a bind takes is not taken by an enqueue.
  OK(baton_program_set_int(program, "N", 16));
  REFUSED(baton_program_enqueue(program, NULL), "bind the program anew");
  OK(baton_program_set_int(program, "N", 8));
  tensor = tensor_of(x, 1, shape);
  shape[0] = kCount;
  OK(baton_program_set_tensor(program, "x", &tensor));
  REFUSED(baton_program_enqueue(program, NULL), "the value of x was changed since");
  OK(baton_program_bind(program));
  OK(baton_program_enqueue(program, NULL));
  OK(baton_program_wait(program, NULL, 60));
  baton_program_release(program);
}

static void enqueue_and_patch(int32_t executor) {
  baton_program* program = load(executor);
  baton_stream* stream = NULL;
  baton_memory* memory = NULL;
  void* address = NULL;
  int64_t shape[1] = {kCount};
  float y[kCount], total[kCount];
  float x[kCount] = {3, 3, 3, 3, 3, 3, 3, 3};
  baton_tensor tensor;
  int i;
  REQUIRE_OK(baton_stream_create(device, 0, &stream));
  OK(baton_program_bind(program));
  OK(baton_program_prepare(program, stream));
  for (i = 0; i < 3; ++i) OK(baton_program_enqueue(program, stream));
  OK(baton_program_download(program, "y", 0, y, sizeof(y), stream));
  OK(baton_program_download(program, "total", 0, total, sizeof(total), stream));
  OK(baton_program_wait(program, stream, 60));
  CHECK(y[0] == 6 && y[7] == 6);  // y keeps its contents: 3 times 2
  CHECK(total[0] == 3 && total[7] == 3);

  OK(baton_program_set_int(program, "A", 5));
  OK(baton_program_initialise(program, stream));
  OK(baton_program_reset(program, "total", stream));
  OK(baton_program_upload(program, "x", 0, x, sizeof(x), stream));
  OK(baton_program_enqueue(program, stream));
  OK(baton_program_download(program, "y", 0, y, sizeof(y), stream));
  OK(baton_program_download(program, "total", 0, total, sizeof(total), stream));
  OK(baton_program_wait(program, stream, 0));
  CHECK(y[0] == 15 && total[0] == 3);

  // Memory of the caller's, patched in.
  REQUIRE_OK(baton_memory_alloc(device, sizeof(y), &memory));
  OK(baton_memory_address(memory, &address));
  OK(baton_memory_fill(memory, 0, 0, sizeof(y), stream));
  tensor = tensor_of(address, 2, shape);
  OK(baton_program_set_tensor(program, "y", &tensor));
  OK(baton_program_enqueue(program, stream));
  OK(baton_memory_download(memory, 0, y, sizeof(y), stream));
  OK(baton_stream_synchronize(stream));
  CHECK(y[0] == 15 && y[7] == 15);
  REFUSED(baton_program_output(program, "y", y, sizeof(y)), "in the memory that it was given");
  baton_program_release(program);
  baton_memory_release(memory);
  baton_stream_release(stream);
}

// The devices of one driver are not one device.
static void mistake_devices(int32_t executor) {
  baton_program* program = NULL;
  baton_device* other = NULL;
  baton_stream* stream = NULL;
  baton_memory* memory = NULL;
  float x[1] = {0};
  const char* chosen = getenv("BATON_TEST_DEVICE");
  if (chosen != NULL && strcmp(chosen, "cuda") == 0) return;
  program = load(executor);
  REQUIRE_OK(baton_device_open("sim:tiny", NULL, &other));
  REQUIRE_OK(baton_stream_create(other, 0, &stream));
  REQUIRE_OK(baton_memory_alloc(device, 64, &memory));
  OK(baton_program_bind(program));
  REFUSED(baton_program_enqueue(program, stream), "sim:tiny");
  REFUSED(baton_program_upload(program, "x", 0, x, 4, stream), "sim:tiny");
  REFUSED(baton_memory_upload(memory, 0, x, 4, stream), "sim:tiny");
  OK(baton_program_enqueue(program, NULL));
  REFUSED(baton_program_enqueue(program, stream), "sim:tiny");
  REFUSED(baton_program_prepare(program, stream), "sim:tiny");
  REFUSED(baton_program_wait(program, stream, 60), "sim:tiny");
  OK(baton_program_wait(program, NULL, 60));
  baton_memory_release(memory);
  baton_stream_release(stream);
  baton_device_release(other);
  baton_program_release(program);
}

static void check_edges(void) {
  baton_program* program = load(BATON_EXECUTOR_STREAM);
  baton_check* check = NULL;
  baton_advice advice = BATON_ADVICE_INIT;
  double before = 0;
  size_t i, count = 0;
  baton_check_info info = BATON_CHECK_INFO_INIT;
  baton_edge edge = BATON_EDGE_INIT;
  REQUIRE_OK(baton_program_check(program, &check));
  baton_program_release(program);
  OK(baton_check_get_info(check, &info));
  CHECK(info.steps == 2 && info.launch_count == 2 && info.edge_count == 1);
  OK(baton_check_edge(check, 0, &edge));
  CHECK(edge.from == 0 && edge.to == 1);
  CHECK(edge.verdict != BATON_VERDICT_PROVEN);  // the kernel has no wait
  CHECK_TEXT(edge.cause, "no_wait");
  CHECK(edge.is_programmatic == 0);
  CHECK_TEXT(edge.decision, "not_proven");
  CHECK(*edge.reason != '\0' && *edge.decision_reason != '\0');
  OK(baton_check_advice_count(check, 0, &count));
  CHECK(count != 0);
  for (i = 0; i < count; ++i) {
    OK(baton_check_advice(check, 0, i, &advice));
    CHECK(advice.text != NULL && *advice.text != '\0' && advice.seconds > 0);
    CHECK(i == 0 || advice.seconds <= before);
    before = advice.seconds;
  }
  REFUSED(baton_check_advice(check, 0, i, &advice), "pieces of advice about the edge");
  REFUSED(baton_check_advice_count(check, 1, &count), "index 1 is out of range, there are 1 edges");
  REFUSED(baton_check_advice(check, 1, 0, &advice), "index 1 is out of range, there are 1 edges");
  REFUSED(baton_check_advice(check, 0, 0, NULL), "advice is a null");
  baton_check_release(check);
}

static void* run_many(void* argument) {
  baton_program* program = (baton_program*)argument;
  float y[kCount];
  int i;
  for (i = 0; i < 20; ++i) {
    OK(baton_program_run(program));
    OK(baton_program_output(program, "y", y, sizeof(y)));
    CHECK(y[0] == 2);
  }
  return NULL;
}

static void run_instances_in_threads(void) {
  pthread_t threads[3];
  baton_program* programs[3];
  int i;
  programs[0] = load(BATON_EXECUTOR_STREAM);
  for (i = 1; i < 3; ++i) REQUIRE_OK(baton_program_instance(programs[0], NULL, &programs[i]));
  for (i = 0; i < 3; ++i) CHECK(pthread_create(&threads[i], NULL, run_many, programs[i]) == 0);
  for (i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  for (i = 0; i < 3; ++i) baton_program_release(programs[i]);
}

// Two threads in one program: each call works or is refused, and the results are right.
typedef struct shared_program {
  baton_program* program;
  int refused;
  int wrong;
} shared_program;

static void* misuse(void* argument) {
  shared_program* shared = (shared_program*)argument;
  int i;
  for (i = 0; i < 50; ++i) {
    baton_error* error = baton_program_run(shared->program);
    if (error == NULL) continue;
    if (strstr(baton_error_message(error), "takes one thread at a time") != NULL) {
      ++shared->refused;
    } else {
      ++shared->wrong;
    }
    baton_error_release(error);
  }
  return NULL;
}

static void share_one_program(void) {
  pthread_t thread;
  shared_program here, there;
  memset(&here, 0, sizeof(here));
  here.program = load(BATON_EXECUTOR_STREAM);
  there = here;
  CHECK(pthread_create(&thread, NULL, misuse, &there) == 0);
  misuse(&here);
  pthread_join(thread, NULL);
  CHECK(here.wrong == 0 && there.wrong == 0);
  OK(baton_program_run(here.program));
  baton_program_release(here.program);
}

typedef struct seen_progress {
  uint64_t calls, done, bytes;
  int fails;
} seen_progress;

static baton_error* see_progress(void* data, const char* buffer, uint64_t done, uint64_t bytes) {
  seen_progress* seen = (seen_progress*)data;
  CHECK(strcmp(buffer, "w") == 0);
  CHECK(done >= seen->done && done <= bytes);
  ++seen->calls;
  seen->done = done;
  seen->bytes = bytes;
  return seen->fails ? baton_error_create(BATON_ERROR_INTERRUPTED, "enough") : NULL;
}

static void uploads_tell_their_progress(baton_device* on) {
  static const char kText[] =
      "[buffers.w]\ndtype = \"f32\"\nshape = [1000]\nrole = \"weight\"\ninit = \"ones\"\n"
      "[buffers.y]\ndtype = \"f32\"\nshape = [1000]\nrole = \"output\"\n"
      "[[steps]]\ncopy = { from = \"w\", to = \"y\" }\n";
  baton_program* program = NULL;
  seen_progress seen = {0, 0, 0, 1};
  REQUIRE_OK(baton_program_load_text(kText, NULL, NULL, on, NULL, &program));
  OK(baton_program_set_progress(program, see_progress, &seen));
  FAILS(baton_program_bind(program), BATON_ERROR_INTERRUPTED, "enough");
  seen.fails = 0;
  seen.done = 0;
  OK(baton_program_bind(program));
  CHECK(seen.calls == 2 && seen.done == 4000 && seen.bytes == 4000);
  OK(baton_program_set_progress(program, NULL, NULL));
  OK(baton_program_run(program));
  CHECK(seen.calls == 2);
  REFUSED(baton_program_set_progress(NULL, see_progress, &seen), "program is a null pointer");
  baton_program_release(program);
}

static void outputs_take_no_first_contents(baton_device* on) {
  static const char kText[] =
      "[buffers.x]\ndtype = \"f32\"\nshape = [2]\nrole = \"input\"\ninit = \"ones\"\n"
      "[buffers.y]\ndtype = \"f32\"\nshape = [2]\nrole = \"output\"\n"
      "[[steps]]\ncopy = { from = \"x\", to = \"y\" }\n";
  baton_program* program = NULL;
  int64_t shape[1] = {2};
  float values[2] = {3, 4};
  const baton_tensor tensor = tensor_of(values, 1, shape);
  REQUIRE_OK(baton_program_load_text(kText, NULL, NULL, on, NULL, &program));
  REFUSED(baton_program_set_tensor(program, "y", &tensor),
          "the tensor for the buffer y is in host memory, and the buffer has the role output");
  OK(baton_program_set_tensor(program, "x", &tensor));
  OK(baton_program_run(program));
  OK(baton_program_output(program, "y", values, sizeof(values)));
  CHECK(values[0] == 3 && values[1] == 4);
  baton_program_release(program);
}

int main(void) {
  device = open_test_device();
  run_once();
  refuse_values();
  enqueue_and_patch(BATON_EXECUTOR_STREAM);
  enqueue_and_patch(BATON_EXECUTOR_GRAPH);
  mistake_devices(BATON_EXECUTOR_STREAM);
  mistake_devices(BATON_EXECUTOR_GRAPH);
  check_edges();
  run_instances_in_threads();
  share_one_program();
  uploads_tell_their_progress(device);
  outputs_take_no_first_contents(device);
  baton_device_release(device);
  return finish_test();
}
