// Graphs: captured and made node by node, launched, updated; conditional nodes; page-locked memory.

#include "c_test.h"

// x = x * a + 1, and a countdown for loops.
static const char kSource[] =
    "#include <cuda_device_runtime_api.h>\n"
    "extern \"C\" __global__ void step(unsigned* x, unsigned a) { *x = *x * a + 1; }\n"
    "extern \"C\" __global__ void count_down(unsigned* left, unsigned long long condition) {\n"
    "  *left -= 1;\n"
    "  cudaGraphSetConditional(condition, *left != 0);\n"
    "}\n";

static baton_device* device;
static baton_stream* stream;
static baton_kernel* kernel;
static baton_memory* memory;
static baton_pinned* pinned;
static void* x;
static unsigned* host;

static baton_plan* make_plan(unsigned factor) {
  baton_plan* plan = NULL;
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  const baton_value values[] = {BATON_POINTER(x), BATON_INT(factor)};
  config.stream = stream;
  REQUIRE_OK(baton_plan_create(kernel, &config, values, 2, &plan));
  return plan;
}

static void set(unsigned value) {
  *host = value;
  OK(baton_memory_upload(memory, 0, host, sizeof(*host), stream));
  OK(baton_stream_synchronize(stream));
}

static unsigned value(void) {
  OK(baton_memory_download(memory, 0, host, sizeof(*host), stream));
  OK(baton_stream_synchronize(stream));
  return *host;
}

static void count_call(void* data) {
  ++*(int*)data;
}

static int32_t is_capturing(void) {
  int32_t capturing = -1;
  OK(baton_stream_capturing(stream, &capturing));
  return capturing;
}

static baton_error* work(void* data) {
  CHECK(is_capturing() == 1);
  return baton_plan_launch((baton_plan*)data);
}

// The work reports an error of its own.
static baton_error* failing_work(void* data) {
  baton_device* none = NULL;
  baton_error* e = baton_plan_launch((baton_plan*)data);
  return e != NULL ? e : baton_device_open("nothing", NULL, &none);
}

static void nodes(void) {
  baton_graph* graph = NULL;
  baton_graph_instance* instance = NULL;
  baton_graph_node first = NULL, second = NULL, called = NULL;
  baton_graph_edge edge = {NULL, BATON_EDGE_FULL, 0};
  baton_graph_info info = BATON_GRAPH_INFO_INIT;
  baton_plan* ten = make_plan(10);
  baton_plan* two = make_plan(2);
  void* native = NULL;
  int calls = 0;
  REQUIRE_OK(baton_graph_create(device, &graph));
  OK(baton_graph_add_launch(graph, ten, NULL, 0, &first));
  edge.from = first;
  OK(baton_graph_add_launch(graph, two, &edge, 1, &second));
  edge.from = second;
  OK(baton_graph_add_host(graph, count_call, &calls, &edge, 1, &called));
  edge.from = called;
  OK(baton_graph_add_empty(graph, &edge, 1, NULL));
  OK(baton_graph_counts(graph, &info));
  CHECK(info.nodes == 4 && info.edges == 3 && info.programmatic_edges == 0);
  OK(baton_graph_native(graph, &native));
  CHECK(native != NULL);
  REQUIRE_OK(baton_graph_instantiate(graph, 0, &instance));
  OK(baton_graph_instance_native(instance, &native));
  CHECK(native != NULL);
  baton_graph_release(graph);  // the instance keeps it
  set(1);
  OK(baton_graph_launch(instance, stream));
  CHECK(value() == (1 * 10 + 1) * 2 + 1);
  CHECK(calls == 1);
  OK(baton_graph_update_launch(instance, first, two));
  set(1);
  OK(baton_graph_launch(instance, stream));
  CHECK(value() == (1 * 2 + 1) * 2 + 1);
  baton_graph_instance_release(instance);
  baton_plan_release(ten);
  baton_plan_release(two);
}

static void captured(void) {
  baton_graph *graph = NULL, *other = NULL;
  baton_graph_instance* instance = NULL;
  baton_graph_info info = BATON_GRAPH_INFO_INIT;
  baton_plan* ten = make_plan(10);
  baton_plan* two = make_plan(2);
  int32_t updated = 0;
  set(3);
  CHECK(is_capturing() == 0);
  REQUIRE_OK(baton_graph_capture(stream, work, ten, &graph));
  CHECK(value() == 3);
  OK(baton_graph_counts(graph, &info));
  CHECK(info.nodes == 1);
  REQUIRE_OK(baton_graph_instantiate(graph, 1, &instance));
  OK(baton_graph_launch(instance, stream));
  CHECK(value() == 31);
  REQUIRE_OK(baton_graph_capture(stream, work, two, &other));
  OK(baton_graph_update(instance, other, &updated));
  CHECK(updated == 1);
  OK(baton_graph_launch(instance, stream));
  CHECK(value() == 63);
  OK(baton_graph_add_empty(other, NULL, 0, NULL));
  OK(baton_graph_update(instance, other, &updated));
  CHECK(updated == 0);
  baton_graph_release(other);
  other = NULL;
  FAILS(baton_graph_capture(stream, failing_work, ten, &other), BATON_ERROR_INVALID_INPUT,
        "nothing");
  CHECK(other == NULL);
  set(5);  // the stream can be used again
  CHECK(value() == 5);
  baton_graph_instance_release(instance);
  baton_graph_release(graph);
  baton_plan_release(ten);
  baton_plan_release(two);
}

static void fills_and_copies(void) {
  baton_graph* graph = NULL;
  baton_graph_instance* instance = NULL;
  baton_graph_edge edge = {NULL, BATON_EDGE_FULL, 0};
  baton_memory* wide = NULL;
  void* address = NULL;
  REQUIRE_OK(baton_memory_alloc(device, 16, &wide));
  OK(baton_memory_address(wide, &address));
  REQUIRE_OK(baton_graph_create(device, &graph));
  OK(baton_graph_add_fill(graph, address, 77, 4, 4, NULL, 0, &edge.from));
  OK(baton_graph_add_copy(graph, x, address, 4, &edge, 1, NULL));
  REFUSED(baton_graph_add_fill(graph, address, 0, 3, 1, NULL, 0, NULL), "elements of 3 bytes");
  REQUIRE_OK(baton_graph_instantiate(graph, 0, &instance));
  OK(baton_graph_launch(instance, stream));
  CHECK(value() == 77);
  baton_graph_instance_release(instance);
  baton_graph_release(graph);
  baton_memory_release(wide);
}

static void loops(baton_module* module) {
  baton_graph *graph = NULL, *body = NULL;
  baton_graph_instance* instance = NULL;
  baton_kernel* counter = NULL;
  baton_plan *plan = NULL, *step = make_plan(1);
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_graph_edge edge = {NULL, BATON_EDGE_FULL, 0};
  baton_memory* left = NULL;
  void* address = NULL;
  uint64_t condition = 0;
  const uint32_t one = 1;
  baton_error* e = NULL;
  REQUIRE_OK(baton_kernel_get(module, "count_down", &counter));
  REQUIRE_OK(baton_memory_alloc(device, 4, &left));
  OK(baton_memory_address(left, &address));
  REQUIRE_OK(baton_graph_create(device, &graph));
  e = baton_graph_make_condition(graph, &one, &condition);
  if (baton_error_code(e) == BATON_ERROR_UNSUPPORTED) {
    baton_error_release(e);
  } else {
    REQUIRE_OK(e);
    OK(baton_graph_add_conditional(graph, condition, BATON_CONDITIONAL_WHILE, NULL, 0, NULL,
                                   &body));
    {
      const baton_value values[] = {BATON_POINTER(address), BATON_INT((int64_t)condition)};
      config.stream = stream;
      REQUIRE_OK(baton_plan_create(counter, &config, values, 2, &plan));
    }
    OK(baton_graph_add_launch(body, step, NULL, 0, &edge.from));
    OK(baton_graph_add_launch(body, plan, &edge, 1, NULL));
    REFUSED(baton_graph_add_conditional(graph, condition, 2, NULL, 0, NULL, &body), "kind is 2");
    REQUIRE_OK(baton_graph_instantiate(graph, 0, &instance));
    set(0);
    OK(baton_memory_fill(left, 0, 0, 4, stream));
    OK(baton_memory_fill(left, 0, 7, 1, stream));
    OK(baton_graph_launch(instance, stream));
    CHECK(value() == 7);
  }
  baton_graph_instance_release(instance);
  baton_graph_release(graph);
  baton_graph_release(body);
  baton_plan_release(plan);
  baton_plan_release(step);
  baton_kernel_release(counter);
  baton_memory_release(left);
}

int main(void) {
  baton_module* module = NULL;
  void* data = NULL;
  size_t bytes = 0;
  device = open_test_device();
  REQUIRE_OK(baton_module_compile(device, kSource, NULL, &module));
  REQUIRE_OK(baton_kernel_get(module, "step", &kernel));
  REQUIRE_OK(baton_stream_create(device, 0, &stream));
  REQUIRE_OK(baton_memory_alloc(device, 4, &memory));
  OK(baton_memory_address(memory, &x));
  REQUIRE_OK(baton_pinned_alloc(device, 64, &pinned));
  OK(baton_pinned_data(pinned, &data));
  OK(baton_pinned_bytes(pinned, &bytes));
  CHECK(data != NULL && bytes == 64);
  host = (unsigned*)data;

  nodes();
  captured();
  fills_and_copies();
  loops(module);

  baton_pinned_release(pinned);
  baton_memory_release(memory);
  baton_kernel_release(kernel);
  baton_module_release(module);
  baton_stream_release(stream);
  baton_device_release(device);
  return finish_test();
}
