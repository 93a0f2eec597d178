// Every function names the argument that is null, and stores no handle.

#include "c_test.h"

static const char kPtx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry nothing(.param .u32 nothing_param_0) { ret; }\n";

static const char kProgram[] =
    "name = \"fill\"\n"
    "[symbols]\nN = 4\n"
    "[buffers.y]\ndtype = \"i32\"\nshape = [\"N\"]\nrole = \"output\"\n"
    "[[steps]]\nfill = { buffer = \"y\", value = 7 }\n";

static baton_device* device;

static void null_errors(void) {
  CHECK(baton_error_code(NULL) == BATON_OK);
  CHECK(strcmp(baton_error_message(NULL), "") == 0);
  CHECK(strcmp(baton_error_where(NULL), "") == 0);
  CHECK(strcmp(baton_error_file(NULL), "") == 0);
  CHECK(strcmp(baton_error_text(NULL), "") == 0);
  CHECK(baton_error_line(NULL) == 0);
  CHECK(baton_error_column(NULL) == 0);
  CHECK(baton_error_note_count(NULL) == 0);
  CHECK(baton_error_note(NULL, 0) == NULL);
  CHECK(baton_error_driver_result(NULL) == 0);
  baton_error_retain(NULL);
  baton_error_release(NULL);
}

static void null_devices(void) {
  baton_device* opened = NULL;
  baton_findings* findings = NULL;
  baton_device_info info = BATON_DEVICE_INFO_INIT;
  baton_finding finding = BATON_FINDING_INIT;
  size_t count = 0;
  REFUSED(baton_device_open("sim", NULL, NULL), "baton_device_open: device is a null pointer");
  FAILS(baton_device_open("simm", NULL, &opened), BATON_ERROR_INVALID_INPUT, "simm");
  REFUSED(baton_device_get_info(NULL, &info), "baton_device_get_info: device is a null");
  REFUSED(baton_device_get_info(device, NULL), "baton_device_get_info: info is a null");
  REFUSED(baton_device_synchronize(NULL), "device is a null");
  REFUSED(baton_device_recover(NULL), "device is a null");
  REFUSED(baton_device_findings(NULL, &findings), "device is a null");
  REFUSED(baton_device_findings(device, NULL), "findings is a null");
  REFUSED(baton_findings_count(NULL, &count), "findings is a null");
  REFUSED(baton_findings_get(NULL, 0, &finding), "findings is a null");
  REQUIRE_OK(baton_device_findings(device, &findings));
  REFUSED(baton_findings_count(findings, NULL), "count is a null");
  REFUSED(baton_findings_get(findings, 0, &finding), "index 0 is out of range, there are 0");
  baton_findings_release(findings);
  baton_device_retain(NULL);
  baton_device_release(NULL);
  baton_findings_retain(NULL);
  baton_findings_release(NULL);
}

static void null_streams_and_events(void) {
  baton_stream* stream = NULL;
  baton_event* event = NULL;
  baton_event* other = NULL;
  void* native = NULL;
  int32_t done = 0;
  double seconds = 0;
  REFUSED(baton_stream_create(NULL, 0, &stream), "device is a null");
  REFUSED(baton_stream_create(device, 0, NULL), "stream is a null");
  REFUSED(baton_stream_adopt(NULL, NULL, &stream), "device is a null");
  REFUSED(baton_stream_adopt(device, NULL, NULL), "stream is a null");
  REFUSED(baton_stream_native(NULL, &native), "stream is a null");
  REFUSED(baton_stream_synchronize(NULL), "stream is a null");
  REFUSED(baton_stream_done(NULL, &done), "stream is a null");
  REFUSED(baton_stream_capturing(NULL, &done), "stream is a null");
  // The default stream has no native handle.
  REQUIRE_OK(baton_stream_adopt(device, NULL, &stream));
  REFUSED(baton_stream_native(stream, NULL), "cu_stream is a null");
  REFUSED(baton_stream_done(stream, NULL), "done is a null");
  REFUSED(baton_stream_capturing(stream, NULL), "capturing is a null");
  OK(baton_stream_native(stream, &native));
  CHECK(native == NULL);

  REFUSED(baton_event_create(NULL, 1, &event), "device is a null");
  REFUSED(baton_event_create(device, 1, NULL), "event is a null");
  REFUSED(baton_event_create(device, 2, &event), "timing is 2, it takes 0 or 1");
  REFUSED(baton_event_record(NULL, stream), "event is a null");
  REFUSED(baton_event_wait(NULL, stream), "event is a null");
  REFUSED(baton_event_synchronize(NULL), "event is a null");
  REQUIRE_OK(baton_event_create(device, 1, &event));
  REFUSED(baton_event_elapsed(NULL, event, &seconds), "start is a null");
  REFUSED(baton_event_elapsed(event, NULL, &seconds), "end is a null");
  OK(baton_event_record(event, NULL));
  OK(baton_event_synchronize(event));
  REFUSED(baton_event_elapsed(event, event, NULL), "seconds is a null");
  REFUSED(baton_event_native(NULL, &native), "event is a null");
  REFUSED(baton_event_native(event, NULL), "cu_event is a null");
  CHECK(other == NULL);
  baton_event_release(event);
  baton_stream_release(stream);
  baton_event_retain(NULL);
  baton_event_release(NULL);
  baton_stream_retain(NULL);
  baton_stream_release(NULL);
}

static void null_memory(void) {
  baton_memory* memory = NULL;
  baton_memory* nothing = NULL;
  void* address = NULL;
  size_t bytes = 0;
  REFUSED(baton_memory_alloc(NULL, 8, &memory), "device is a null");
  REFUSED(baton_memory_alloc(device, 8, NULL), "memory is a null");
  REFUSED(baton_memory_alloc_with(NULL, 8, NULL, &memory), "device is a null");
  FAILS(baton_memory_alloc(device, (size_t)1 << 60, &memory), BATON_ERROR_OUT_OF_MEMORY,
        "of device memory were asked for");
  CHECK(memory == NULL);
  REFUSED(baton_memory_address(NULL, &address), "memory is a null");
  REFUSED(baton_memory_bytes(NULL, &bytes), "memory is a null");
  REFUSED(baton_memory_set_name(NULL, "x"), "memory is a null");
  REFUSED(baton_memory_upload(NULL, 0, &bytes, 8, NULL), "memory is a null");
  REFUSED(baton_memory_download(NULL, 0, &bytes, 8, NULL), "memory is a null");
  REFUSED(baton_memory_copy(NULL, 0, NULL, 0, 8, NULL), "memory is a null");
  REFUSED(baton_memory_fill(NULL, 0, 0, 8, NULL), "memory is a null");
  REQUIRE_OK(baton_memory_alloc(device, 8, &memory));
  REFUSED(baton_memory_address(memory, NULL), "address is a null");
  REFUSED(baton_memory_bytes(memory, NULL), "bytes is a null");
  REFUSED(baton_memory_set_name(memory, NULL), "name is a null");
  REFUSED(baton_memory_upload(memory, 0, NULL, 8, NULL), "source is a null");
  REFUSED(baton_memory_download(memory, 0, NULL, 8, NULL), "target is a null");
  REFUSED(baton_memory_copy(memory, 0, NULL, 0, 8, NULL), "source is a null");
  REFUSED(baton_memory_upload(memory, 4, &bytes, 8, NULL), "leaves the memory of 8 bytes");
  REFUSED(baton_memory_download(memory, 4, &bytes, 8, NULL), "leaves the memory of 8 bytes");
  REFUSED(baton_memory_copy(memory, 4, memory, 0, 8, NULL), "leaves the memory of 8 bytes");
  REFUSED(baton_memory_copy(memory, 0, memory, 4, 8, NULL), "leaves the memory of 8 bytes");
  REFUSED(baton_memory_fill(memory, 4, 0, 8, NULL), "leaves the memory of 8 bytes");
  REFUSED(baton_memory_fill(memory, SIZE_MAX, 0, 2, NULL), "leaves the memory of 8 bytes");
  REFUSED(baton_memory_upload(memory, 0, &bytes, SIZE_MAX, NULL), "no memory is so large");
  // Nothing may be copied from nowhere.
  OK(baton_memory_upload(memory, 8, NULL, 0, NULL));
  REQUIRE_OK(baton_memory_alloc(device, 0, &nothing));
  OK(baton_memory_address(nothing, &address));
  CHECK(address == NULL);
  baton_memory_release(nothing);
  baton_memory_release(memory);
  baton_memory_retain(NULL);
  baton_memory_release(NULL);
}

static void null_modules_and_kernels(void) {
  const char* const none[] = {NULL};
  baton_module* module = NULL;
  baton_kernel* kernel = NULL;
  baton_plan* plan = NULL;
  baton_module_info info = BATON_MODULE_INFO_INIT;
  baton_kernel_info facts = BATON_KERNEL_INFO_INIT;
  baton_param param = BATON_PARAM_INIT;
  baton_compile_options options = BATON_COMPILE_OPTIONS_INIT;
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_attribute nameless;
  baton_value value = BATON_INT(1);
  const char* name = NULL;
  void* address = NULL;
  size_t bytes = 0;
  REFUSED(baton_module_load(NULL, kPtx, sizeof(kPtx) - 1, &module), "device is a null");
  REFUSED(baton_module_load(device, NULL, 8, &module), "bytes is a null");
  REFUSED(baton_module_load(device, kPtx, 8, NULL), "module is a null");
  REFUSED(baton_module_load(device, kPtx, 0, &module), "<image>");
  REFUSED(baton_module_load(device, "nonsense", 8, &module), "<image>");
  REFUSED(baton_module_load_file(NULL, "k.ptx", &module), "device is a null");
  REFUSED(baton_module_load_file(device, NULL, &module), "path is a null");
  REFUSED(baton_module_load_file(device, "k.ptx", NULL), "module is a null");
  FAILS(baton_module_load_file(device, "nowhere.ptx", &module), BATON_ERROR_NOT_FOUND,
        "nowhere.ptx");
  REFUSED(baton_module_compile(NULL, "x", NULL, &module), "device is a null");
  REFUSED(baton_module_compile(device, NULL, NULL, &module), "source is a null");
  REFUSED(baton_module_compile(device, "x", NULL, NULL), "module is a null");
  REFUSED(baton_module_compile(device, "", NULL, &module), "<text>");
  FAILS(baton_module_compile(device, "__global__ void k() { x; }", NULL, &module),
        BATON_ERROR_COMPILE, "<text>:1:23");
  options.entry_count = 1;
  REFUSED(baton_module_compile(device, "x", &options, &module), "options->entries is a null");
  options.entries = none;
  REFUSED(baton_module_compile(device, "x", &options, &module), "options->entries is a null");
  options.entry_count = 0;
  options.include_count = 1;
  REFUSED(baton_module_compile(device, "x", &options, &module), "options->include is a null");
  options.include_count = 0;
  options.option_count = 1;
  REFUSED(baton_module_compile(device, "x", &options, &module), "options->options is a null");
  options.option_count = 0;
  options.use_cache = 2;
  REFUSED(baton_module_compile(device, "x", &options, &module), "options->use_cache is 2");
  options.use_cache = 1;
  options.param_names = 2;
  REFUSED(baton_module_compile(device, "x", &options, &module), "options->param_names is 2");
  REFUSED(baton_module_compile_file(NULL, "k.cu", NULL, &module), "device is a null");
  REFUSED(baton_module_compile_file(device, NULL, NULL, &module), "path is a null");
  REFUSED(baton_module_compile_file(device, "k.cu", NULL, NULL), "module is a null");
  FAILS(baton_module_compile_file(device, "nowhere.cu", NULL, &module), BATON_ERROR_NOT_FOUND,
        "nowhere.cu");
  REFUSED(baton_module_load_kernels(NULL), "module is a null");
  REFUSED(baton_module_get_info(NULL, &info), "module is a null");
  REFUSED(baton_module_kernel_name(NULL, 0, &name), "module is a null");
  REFUSED(baton_module_variable(NULL, "x", &address, &bytes), "module is a null");
  REFUSED(baton_kernel_get(NULL, "x", &kernel), "module is a null");
  CHECK(module == NULL && kernel == NULL);

  REQUIRE_OK(baton_module_load(device, kPtx, sizeof(kPtx) - 1, &module));
  REFUSED(baton_module_get_info(module, NULL), "info is a null");
  REFUSED(baton_module_kernel_name(module, 0, NULL), "name is a null");
  REFUSED(baton_module_variable(module, NULL, &address, &bytes), "name is a null");
  REFUSED(baton_module_variable(module, "x", NULL, &bytes), "address is a null");
  REFUSED(baton_module_variable(module, "x", &address, NULL), "bytes is a null");
  REFUSED(baton_kernel_get(module, "nothing", NULL), "kernel is a null");
  REQUIRE_OK(baton_kernel_get(module, NULL, &kernel));
  REFUSED(baton_kernel_get_info(NULL, &facts), "kernel is a null");
  REFUSED(baton_kernel_get_info(kernel, NULL), "info is a null");
  REFUSED(baton_kernel_param(NULL, 0, &param), "kernel is a null");
  REFUSED(baton_kernel_param(kernel, 0, NULL), "param is a null");
  REFUSED(baton_kernel_launch(NULL, &config, &value, 1), "kernel is a null");
  REFUSED(baton_kernel_launch(kernel, NULL, &value, 1), "config is a null");
  REFUSED(baton_kernel_launch(kernel, &config, NULL, 1), "values is a null");
  config.attribute_count = 1;
  REFUSED(baton_kernel_launch(kernel, &config, &value, 1), "config->attributes is a null");
  nameless.name = NULL;
  nameless.value = BATON_INT(0);
  config.attributes = &nameless;
  REFUSED(baton_kernel_launch(kernel, &config, &value, 1), "config->attributes[].name is a null");
  config.attribute_count = 0;
  REFUSED(baton_plan_create(NULL, &config, &value, 1, &plan), "kernel is a null");
  REFUSED(baton_plan_create(kernel, NULL, &value, 1, &plan), "config is a null");
  REFUSED(baton_plan_create(kernel, &config, NULL, 1, &plan), "values is a null");
  REFUSED(baton_plan_create(kernel, &config, &value, 1, NULL), "plan is a null");
  REFUSED(baton_plan_set(NULL, 0, value), "plan is a null");
  REFUSED(baton_plan_set_grid(NULL, 1, 1, 1), "plan is a null");
  REFUSED(baton_plan_set_stream(NULL, NULL), "plan is a null");
  REFUSED(baton_plan_launch(NULL), "plan is a null");
  OK(baton_kernel_launch(kernel, &config, &value, 1));
  OK(baton_device_synchronize(device));
  baton_kernel_release(kernel);
  baton_module_release(module);
  baton_module_retain(NULL);
  baton_module_release(NULL);
  baton_kernel_retain(NULL);
  baton_kernel_release(NULL);
  baton_plan_retain(NULL);
  baton_plan_release(NULL);
}

static void null_programs(void) {
  baton_program* program = NULL;
  baton_kernel* kernel = NULL;
  baton_program* instance = NULL;
  baton_findings* findings = NULL;
  baton_check* check = NULL;
  baton_buffer_info info = BATON_BUFFER_INFO_INIT;
  baton_check_info check_info = BATON_CHECK_INFO_INIT;
  baton_edge edge = BATON_EDGE_INIT;
  baton_advice advice = BATON_ADVICE_INIT;
  baton_tensor tensor;
  const char* warning = NULL;
  size_t count = 0;
  int32_t y[4];
  memset(&tensor, 0, sizeof(tensor));
  REFUSED(baton_program_load_file(NULL, device, NULL, &program), "path is a null");
  REFUSED(baton_program_load_file("p.toml", NULL, NULL, &program), "device is a null");
  REFUSED(baton_program_load_file("p.toml", device, NULL, NULL), "program is a null");
  FAILS(baton_program_load_file("nowhere.toml", device, NULL, &program), BATON_ERROR_NOT_FOUND,
        "nowhere.toml");
  REFUSED(baton_program_load_text(NULL, NULL, NULL, device, NULL, &program), "toml is a null");
  REFUSED(baton_program_load_text("", NULL, NULL, NULL, NULL, &program), "device is a null");
  REFUSED(baton_program_load_text("", NULL, NULL, device, NULL, NULL), "program is a null");
  REFUSED(baton_program_load_text("x = ", "p.toml", NULL, device, NULL, &program), "p.toml:1");
  REFUSED(baton_program_instance(NULL, NULL, &instance), "program is a null");
  REFUSED(baton_program_kernel(NULL, "k", &kernel), "program is a null");
  REFUSED(baton_program_set_int(NULL, "N", 1), "program is a null");
  REFUSED(baton_program_set_tensor(NULL, "y", &tensor), "program is a null");
  REFUSED(baton_program_unset(NULL, "y"), "program is a null");
  REFUSED(baton_program_set_allocator(NULL, NULL), "program is a null");
  REFUSED(baton_program_bind(NULL), "program is a null");
  REFUSED(baton_program_enqueue(NULL, NULL), "program is a null");
  REFUSED(baton_program_prepare(NULL, NULL), "program is a null");
  REFUSED(baton_program_initialise(NULL, NULL), "program is a null");
  REFUSED(baton_program_reset(NULL, "y", NULL), "program is a null");
  REFUSED(baton_program_upload(NULL, "y", 0, y, 4, NULL), "program is a null");
  REFUSED(baton_program_download(NULL, "y", 0, y, 4, NULL), "program is a null");
  REFUSED(baton_program_wait(NULL, NULL, 0), "program is a null");
  REFUSED(baton_program_run(NULL), "program is a null");
  REFUSED(baton_program_run_with(NULL, NULL), "program is a null");
  REFUSED(baton_program_output(NULL, "y", y, 16), "program is a null");
  REFUSED(baton_program_findings(NULL, &findings), "program is a null");
  REFUSED(baton_program_buffer_count(NULL, &count), "program is a null");
  REFUSED(baton_program_buffer_at(NULL, 0, &info), "program is a null");
  REFUSED(baton_program_buffer(NULL, "y", &info), "program is a null");
  REFUSED(baton_program_check(NULL, &check), "program is a null");
  CHECK(program == NULL && instance == NULL && findings == NULL && check == NULL);

  REQUIRE_OK(baton_program_load_text(kProgram, NULL, NULL, device, NULL, &program));
  REFUSED(baton_program_instance(program, NULL, NULL), "instance is a null");
  REFUSED(baton_program_kernel(program, NULL, &kernel), "name is a null");
  REFUSED(baton_program_kernel(program, "k", NULL), "kernel is a null");
  FAILS(baton_program_kernel(program, "k", &kernel), BATON_ERROR_NOT_FOUND, "has no kernel \"k\"");
  REFUSED(baton_program_set_int(program, NULL, 1), "symbol is a null");
  REFUSED(baton_program_set_tensor(program, NULL, &tensor), "buffer is a null");
  REFUSED(baton_program_set_tensor(program, "y", NULL), "tensor is a null");
  REFUSED(baton_program_unset(program, NULL), "name is a null");
  REFUSED(baton_program_reset(program, NULL, NULL), "state is a null");
  REFUSED(baton_program_upload(program, NULL, 0, y, 4, NULL), "buffer is a null");
  REFUSED(baton_program_upload(program, "y", 0, NULL, 4, NULL), "source is a null");
  REFUSED(baton_program_download(program, NULL, 0, y, 4, NULL), "buffer is a null");
  REFUSED(baton_program_download(program, "y", 0, NULL, 4, NULL), "target is a null");
  REFUSED(baton_program_output(program, NULL, y, 16), "buffer is a null");
  REFUSED(baton_program_findings(program, NULL), "findings is a null");
  REFUSED(baton_program_buffer_count(program, NULL), "count is a null");
  REFUSED(baton_program_buffer_at(program, 0, NULL), "info is a null");
  REFUSED(baton_program_buffer_at(program, 1, &info), "index 1 is out of range, there are 1");
  REFUSED(baton_program_buffer(program, NULL, &info), "name is a null");
  REFUSED(baton_program_buffer(program, "y", NULL), "info is a null");
  REFUSED(baton_program_check(program, NULL), "check is a null");
  OK(baton_program_run(program));
  REFUSED(baton_program_output(program, "y", NULL, 16), "target is a null");

  REFUSED(baton_check_get_info(NULL, &check_info), "check is a null");
  REFUSED(baton_check_edge(NULL, 0, &edge), "check is a null");
  REFUSED(baton_check_advice_count(NULL, 0, &count), "check is a null");
  REFUSED(baton_check_advice(NULL, 0, 0, &advice), "check is a null");
  REFUSED(baton_check_warning(NULL, 0, &warning), "check is a null");
  REFUSED(baton_check_objection(NULL), "check is a null");
  REQUIRE_OK(baton_program_check(program, &check));
  REFUSED(baton_check_get_info(check, NULL), "info is a null");
  REFUSED(baton_check_edge(check, 0, &edge), "index 0 is out of range, there are 0 edges");
  REFUSED(baton_check_warning(check, 0, NULL), "warning is a null");
  REFUSED(baton_check_warning(check, 99, &warning), "index 99 is out of range");
  OK(baton_check_objection(check));
  baton_check_release(check);
  baton_program_release(program);
  baton_check_retain(NULL);
  baton_check_release(NULL);
  baton_program_retain(NULL);
  baton_program_release(NULL);
}

static void null_graphs(void) {
  baton_graph* graph = NULL;
  baton_graph_instance* instance = NULL;
  baton_graph_node node = NULL;
  baton_graph_edge edge = {NULL, BATON_EDGE_FULL, 0};
  baton_graph_info info = BATON_GRAPH_INFO_INIT;
  baton_pinned* pinned = NULL;
  uint64_t condition = 0;
  int32_t updated = 0;
  size_t bytes = 0;
  void* native = NULL;
  REFUSED(baton_pinned_alloc(NULL, 8, &pinned), "device is a null");
  REFUSED(baton_pinned_alloc(device, 8, NULL), "pinned is a null");
  REFUSED(baton_pinned_data(NULL, &native), "pinned is a null");
  REFUSED(baton_pinned_bytes(NULL, &bytes), "pinned is a null");
  REFUSED(baton_graph_create(NULL, &graph), "device is a null");
  REFUSED(baton_graph_create(device, NULL), "graph is a null");
  REFUSED(baton_graph_capture(NULL, NULL, NULL, &graph), "stream is a null");
  CHECK(graph == NULL && pinned == NULL);
  REQUIRE_OK(baton_graph_create(device, &graph));
  REFUSED(baton_graph_add_launch(graph, NULL, NULL, 0, &node), "plan is a null");
  REFUSED(baton_graph_add_empty(NULL, NULL, 0, &node), "graph is a null");
  REFUSED(baton_graph_add_empty(graph, NULL, 1, &node), "after is a null");
  REFUSED(baton_graph_add_empty(graph, &edge, 1, &node), "after->from is a null");
  REFUSED(baton_graph_add_host(graph, NULL, NULL, NULL, 0, &node), "function is a null");
  REFUSED(baton_graph_add_record(graph, NULL, NULL, 0, &node), "event is a null");
  REFUSED(baton_graph_make_condition(graph, NULL, NULL), "condition is a null");
  REFUSED(baton_graph_add_conditional(graph, condition, BATON_CONDITIONAL_IF, NULL, 0, &node, NULL),
          "body is a null");
  REFUSED(baton_graph_connect(graph, NULL, NULL), "edge is a null");
  REFUSED(baton_graph_counts(graph, NULL), "info is a null");
  REFUSED(baton_graph_counts(NULL, &info), "graph is a null");
  REFUSED(baton_graph_native(graph, NULL), "cu_graph is a null");
  REFUSED(baton_graph_instantiate(NULL, 0, &instance), "graph is a null");
  REFUSED(baton_graph_instantiate(graph, 0, NULL), "instance is a null");
  REFUSED(baton_graph_instantiate(graph, 2, &instance), "node_priorities is 2");
  OK(baton_graph_add_empty(graph, NULL, 0, &edge.from));
  edge.kind = 5;
  REFUSED(baton_graph_add_empty(graph, &edge, 1, &node), "after->kind is 5");
  edge.kind = BATON_EDGE_FULL;
  edge.reserved = 1;
  REFUSED(baton_graph_add_empty(graph, &edge, 1, &node), "after->reserved is 1");
  edge.reserved = 0;
  REFUSED(baton_graph_connect(graph, &edge, NULL), "to is a null");
  REQUIRE_OK(baton_graph_instantiate(graph, 0, &instance));
  REFUSED(baton_graph_launch(NULL, NULL), "instance is a null");
  REFUSED(baton_graph_update_launch(instance, NULL, NULL), "plan is a null");
  REFUSED(baton_graph_update(instance, NULL, &updated), "graph is a null");
  REFUSED(baton_graph_update(instance, graph, NULL), "updated is a null");
  REFUSED(baton_graph_instance_native(instance, NULL), "cu_graph_exec is a null");
  baton_graph_instance_release(instance);
  baton_graph_release(graph);
  baton_graph_release(NULL);
  baton_graph_instance_release(NULL);
  baton_pinned_release(NULL);
  baton_rewrite_release(NULL);
}

static void null_bundles(void) {
  static const char kBundle[] = BATON_SOURCE_DIR "/src/bundle/testdata/v1_0.baton";
  baton_bundle* bundle = NULL;
  baton_program* program = NULL;
  baton_bundle_info info = BATON_BUNDLE_INFO_INIT;
  baton_bundle_options options = BATON_BUNDLE_OPTIONS_INIT;
  const char* const keys[] = {NULL};
  char key_id[BATON_KEY_ID_SIZE];
  const char* architecture = NULL;
  const char* name = NULL;
  baton_buffer_info buffer = BATON_BUFFER_INFO_INIT;
  int64_t value = 0;
  REFUSED(baton_bundle_open(NULL, BATON_VERIFY_INDEX, &bundle), "path is a null");
  REFUSED(baton_bundle_open(kBundle, BATON_VERIFY_INDEX, NULL), "bundle is a null");
  REFUSED(baton_bundle_open(kBundle, 3, &bundle), "verify is 3, it takes a constant");
  FAILS(baton_bundle_open("nowhere.baton", BATON_VERIFY_INDEX, &bundle), BATON_ERROR_NOT_FOUND,
        "nowhere.baton");
  REFUSED(baton_bundle_from_bytes(NULL, 8, NULL, BATON_VERIFY_INDEX, &bundle), "bytes is a null");
  REFUSED(baton_bundle_from_bytes(kBundle, SIZE_MAX, NULL, BATON_VERIFY_INDEX, &bundle),
          "no memory is so large");
  REFUSED(baton_bundle_from_bytes(kBundle, 8, NULL, BATON_VERIFY_INDEX, NULL), "bundle is a null");
  REFUSED(baton_bundle_from_bytes(kBundle, 8, "b", BATON_VERIFY_INDEX, &bundle), "b");
  REFUSED(baton_bundle_from_bytes(NULL, 0, NULL, BATON_VERIFY_ALL, &bundle), "<bundle>");
  REFUSED(baton_bundle_open_with(NULL, &options, &bundle), "path is a null");
  REFUSED(baton_bundle_open_with(kBundle, &options, NULL), "bundle is a null");
  REFUSED(baton_bundle_from_bytes_with(NULL, 8, NULL, NULL, &bundle), "bytes is a null");
  REFUSED(baton_bundle_from_bytes_with(kBundle, 8, NULL, NULL, NULL), "bundle is a null");
  options.key_count = 1;
  REFUSED(baton_bundle_open_with(kBundle, &options, &bundle), "keys is a null");
  options.keys = keys;
  REFUSED(baton_bundle_open_with(kBundle, &options, &bundle), "keys is a null");
  options.reserved = 1;
  REFUSED(baton_bundle_open_with(kBundle, &options, &bundle), "reserved is 1");
  REFUSED(baton_bundle_signed_by(NULL, key_id), "bundle is a null");
  REFUSED(baton_bundle_get_info(NULL, &info), "bundle is a null");
  REFUSED(baton_bundle_architecture(NULL, 0, &architecture), "bundle is a null");
  REFUSED(baton_bundle_kernel(NULL, 0, &name), "bundle is a null");
  REFUSED(baton_bundle_buffer(NULL, 0, &buffer), "bundle is a null");
  REFUSED(baton_bundle_extent(NULL, 0, 0, &name), "bundle is a null");
  REFUSED(baton_bundle_symbol(NULL, 0, &name, &value), "bundle is a null");
  REFUSED(baton_program_load(NULL, device, NULL, &program), "bundle is a null");
  CHECK(bundle == NULL && program == NULL);
  REQUIRE_OK(baton_bundle_open(kBundle, BATON_VERIFY_INDEX, &bundle));
  REFUSED(baton_bundle_get_info(bundle, NULL), "info is a null");
  REFUSED(baton_bundle_architecture(bundle, 0, NULL), "architecture is a null");
  REFUSED(baton_bundle_architecture(bundle, 2, &architecture), "there are 2 architectures");
  REFUSED(baton_bundle_kernel(bundle, 0, NULL), "name is a null");
  REFUSED(baton_bundle_buffer(bundle, 0, NULL), "info is a null");
  REFUSED(baton_bundle_extent(bundle, 0, 0, NULL), "extent is a null");
  REFUSED(baton_bundle_symbol(bundle, 0, NULL, &value), "name is a null");
  REFUSED(baton_bundle_symbol(bundle, 0, &name, NULL), "value is a null");
  REFUSED(baton_program_load(bundle, NULL, NULL, &program), "device is a null");
  REFUSED(baton_program_load(bundle, device, NULL, NULL), "program is a null");
  REFUSED(baton_program_load_with(bundle, device, NULL, NULL, NULL),
          "baton_program_load_with: program is a null");
  FAILS(baton_program_load(bundle, device, "main", &program), BATON_ERROR_NOT_FOUND,
        "has no program \"main\"; its program is \"golden\"");
  baton_bundle_release(bundle);
  baton_bundle_retain(NULL);
  baton_bundle_release(NULL);
}

int main(void) {
  baton_dtype type;
  device = open_test_device();
  REFUSED(baton_dtype_parse(NULL, &type), "name is a null");
  REFUSED(baton_dtype_parse("f32", NULL), "type is a null");
  FAILS(baton_dtype_parse("f23", &type), BATON_ERROR_NOT_FOUND, "there is no dtype \"f23\"");
  null_errors();
  null_devices();
  null_streams_and_events();
  null_memory();
  null_modules_and_kernels();
  null_graphs();
  null_bundles();
  null_programs();
  baton_device_release(device);
  return finish_test();
}
