// The whole way of one kernel: compile, look at it, launch, download.

#include "c_test.h"

enum { kCount = 1000 };

static const char kSource[] =
    "extern \"C\" __global__ void saxpy(float* __restrict__ y, const float* __restrict__ x,\n"
    "                                 float a, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n"
    "template <typename T> __global__ void scale(T* y, T factor) { y[threadIdx.x] *= factor; }\n"
    "__device__ int table[4] = {1, 2, 3, 4};\n";

static baton_module* compile_source(const baton_device* device) {
  const char* const entries[] = {"scale<double>"};
  const char* const flags[] = {"-lineinfo"};
  baton_module* module = NULL;
  baton_compile_options options = BATON_COMPILE_OPTIONS_INIT;
  options.name = "saxpy.cu";
  options.entries = entries;
  options.entry_count = 1;
  options.options = flags;
  options.option_count = 1;
  options.param_names = 1;
  REQUIRE_OK(baton_module_compile(device, kSource, &options, &module));
  return module;
}

static void look_at_module(const baton_module* module) {
  baton_module_info info = BATON_MODULE_INFO_INIT;
  const char* name = NULL;
  void* address = NULL;
  size_t bytes = 0;
  OK(baton_module_get_info(module, &info));
  OK(baton_module_load_kernels(module));
  CHECK(info.kernel_count == 2);
  CHECK_TEXT(info.arch, "sm_");
  CHECK_TEXT(info.log, "");
  OK(baton_module_kernel_name(module, 0, &name));
  CHECK(name != NULL && *name != '\0');
  REFUSED(baton_module_kernel_name(module, 2, &name), "index 2 is out of range, there are 2");
  CHECK(name == NULL);
  OK(baton_module_variable(module, "table", &address, &bytes));
  CHECK(address != NULL && bytes == 16);
  FAILS(baton_module_variable(module, "tabel", &address, &bytes), BATON_ERROR_NOT_FOUND, "table");
  CHECK(address == NULL);
}

static void look_at_kernel(const baton_kernel* kernel) {
  baton_kernel_info info = BATON_KERNEL_INFO_INIT;
  baton_param param = BATON_PARAM_INIT;
  OK(baton_kernel_get_info(kernel, &info));
  CHECK_TEXT(info.name, "saxpy");
  CHECK(info.param_count == 4);
  CHECK(info.registers > 0);
  CHECK(info.static_shared == 0);
  CHECK(info.max_threads == 1024);
  CHECK(info.max_dynamic_shared > 48 * 1024);
  CHECK(info.waits == 0);
  CHECK(info.polls == 0);
  CHECK(info.required_block[0] == 0);
  OK(baton_kernel_param(kernel, 0, &param));
  CHECK(param.kind == BATON_PARAM_POINTER && param.size_bytes == 8 && param.offset == 0);
  // The symbol of an extern "C" kernel has no types: these come with the names.
  OK(baton_kernel_param(kernel, 1, &param));
  CHECK_TEXT(param.type, "float const*");
  CHECK_TEXT(baton_dtype_name(param.dtype), "f32");
  CHECK(param.is_read_only == 1);
  OK(baton_kernel_param(kernel, 2, &param));
  CHECK(param.kind == BATON_PARAM_SCALAR && param.size_bytes == 4 && param.offset == 16);
  CHECK_TEXT(param.name, "a");
  CHECK_TEXT(baton_dtype_name(param.dtype), "f32");
  REFUSED(baton_kernel_param(kernel, 4, &param), "index 4 is out of range, there are 4 parameters");
}

static baton_tensor tensor_of(void* address, const baton_device* device, int64_t* shape) {
  baton_device_info info = BATON_DEVICE_INFO_INIT;
  baton_tensor tensor;
  OK(baton_device_get_info(device, &info));
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = address;
  tensor.device.device_type = 2;
  tensor.device.device_id = info.ordinal;
  tensor.ndim = 1;
  tensor.dtype.code = 2;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

static void launch_saxpy(const baton_device* device, const baton_kernel* kernel) {
  float x[kCount], y[kCount];
  int64_t shape[1] = {kCount};
  void *x_address = NULL, *y_address = NULL;
  size_t bytes = 0;
  baton_stream* stream = NULL;
  baton_memory *x_memory = NULL, *y_memory = NULL;
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_value values[4];
  baton_tensor tensor;
  int32_t done = 0;
  int i;
  for (i = 0; i < kCount; ++i) {
    x[i] = (float)i;
    y[i] = 1.0f;
  }
  REQUIRE_OK(baton_stream_create(device, 0, &stream));
  REQUIRE_OK(baton_memory_alloc(device, sizeof(x), &x_memory));
  REQUIRE_OK(baton_memory_alloc(device, sizeof(y), &y_memory));
  OK(baton_memory_set_name(x_memory, "x"));
  OK(baton_memory_bytes(x_memory, &bytes));
  CHECK(bytes == sizeof(x));
  OK(baton_memory_address(x_memory, &x_address));
  OK(baton_memory_address(y_memory, &y_address));
  OK(baton_memory_upload(x_memory, 0, x, sizeof(x), stream));
  OK(baton_memory_upload(y_memory, 0, y, sizeof(y), stream));

  tensor = tensor_of(y_address, device, shape);
  values[0] = BATON_TENSOR(&tensor);
  values[1] = BATON_POINTER(x_address);
  values[2] = BATON_FLOAT(2.0);
  values[3] = BATON_INT(kCount);
  config.grid[0] = (kCount + 255) / 256;
  config.block[0] = 256;
  config.stream = stream;
  tensor.dtype.bits = 64;
  REFUSED(baton_kernel_launch(kernel, &config, values, 4), "the parameter is float* y");
  tensor.dtype.bits = 32;
  OK(baton_kernel_launch(kernel, &config, values, 4));
  OK(baton_memory_download(y_memory, 0, y, sizeof(y), stream));
  OK(baton_stream_synchronize(stream));
  OK(baton_stream_done(stream, &done));
  CHECK(done == 1);
  for (i = 0; i < kCount; ++i) {
    if (y[i] != 2.0f * (float)i + 1.0f) break;
  }
  CHECK(i == kCount);

  // On the default stream, with memory that was filled and copied by the device.
  config.stream = NULL;
  OK(baton_memory_fill(y_memory, 0, 0, sizeof(y), NULL));
  OK(baton_kernel_launch(kernel, &config, values, 4));
  OK(baton_memory_copy(x_memory, 0, y_memory, 4, 8, NULL));
  OK(baton_memory_download(x_memory, 0, x, 8, NULL));
  OK(baton_device_synchronize(device));
  CHECK(x[0] == 2.0f && x[1] == 4.0f);

  baton_memory_release(x_memory);
  baton_memory_release(y_memory);
  baton_stream_release(stream);
}

static void launch_plan(const baton_device* device, const baton_kernel* kernel) {
  float y[2] = {1.0f, 1.0f};
  void* address = NULL;
  baton_stream* stream = NULL;
  baton_memory* memory = NULL;
  baton_plan* plan = NULL;
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_value values[4];
  REQUIRE_OK(baton_stream_create(device, 0, &stream));
  REQUIRE_OK(baton_memory_alloc(device, sizeof(y), &memory));
  OK(baton_memory_address(memory, &address));
  OK(baton_memory_upload(memory, 0, y, sizeof(y), stream));
  values[0] = values[1] = BATON_POINTER(address);
  values[2] = BATON_FLOAT(1);
  values[3] = BATON_INT(2);
  config.stream = stream;
  config.block[0] = 32;
  REQUIRE_OK(baton_plan_create(kernel, &config, values, 4, &plan));
  OK(baton_plan_launch(plan));  // (2, 2)
  OK(baton_plan_set(plan, 3, BATON_INT(1)));
  OK(baton_plan_set(plan, 2, BATON_INT(2)));  // exact in a float
  OK(baton_plan_set_grid(plan, 2, 1, 1));
  OK(baton_plan_set_stream(plan, stream));
  // The plan keeps its stream.
  baton_stream_release(stream);
  OK(baton_plan_launch(plan));  // (6, 2)
  REFUSED(baton_plan_set(plan, 4, BATON_INT(1)), "index 4 is out of range, there are 4 arguments");
  REFUSED(baton_plan_set(plan, 0, BATON_INT(1)), "argument 0 is an integer, for a pointer");
  FAILS(baton_plan_set_grid(plan, 0, 1, 1), BATON_ERROR_LIMIT, "has no blocks along x");
  OK(baton_device_synchronize(device));
  OK(baton_memory_download(memory, 0, y, sizeof(y), NULL));
  OK(baton_device_synchronize(device));
  CHECK(y[0] == 6.0f && y[1] == 2.0f);
  baton_plan_release(plan);
  baton_memory_release(memory);
}

static void order_by_events(const baton_device* device) {
  baton_stream *first = NULL, *second = NULL, *adopted = NULL;
  baton_event *start = NULL, *end = NULL;
  void* native = NULL;
  void* same = NULL;
  double seconds = -1;
  REQUIRE_OK(baton_stream_create(device, 0, &first));
  REQUIRE_OK(baton_stream_create(device, -1, &second));
  REQUIRE_OK(baton_event_create(device, 1, &start));
  REQUIRE_OK(baton_event_create(device, 1, &end));
  OK(baton_event_record(start, first));
  OK(baton_event_wait(start, second));
  OK(baton_event_record(end, second));
  OK(baton_event_synchronize(end));
  OK(baton_event_elapsed(start, end, &seconds));
  CHECK(seconds >= 0);
  OK(baton_event_native(end, &native));
  CHECK(native != NULL);
  OK(baton_stream_native(second, &native));
  REQUIRE_OK(baton_stream_adopt(device, native, &adopted));
  OK(baton_stream_native(adopted, &same));
  CHECK(same == native);
  OK(baton_stream_synchronize(adopted));
  baton_stream_release(adopted);
  baton_stream_release(first);
  baton_stream_release(second);
  baton_event_release(start);
  baton_event_release(end);
}

int main(void) {
  baton_device* device = open_test_device();
  baton_module* module = compile_source(device);
  baton_kernel* kernel = NULL;
  baton_kernel* scale = NULL;
  look_at_module(module);
  REQUIRE_OK(baton_kernel_get(module, "saxpy", &kernel));
  OK(baton_kernel_get(module, "scale<double>", &scale));
  baton_kernel_release(scale);
  FAILS(baton_kernel_get(module, "saxpi", &scale), BATON_ERROR_NOT_FOUND, "saxpy");
  CHECK(scale == NULL);
  FAILS(baton_kernel_get(module, NULL, &scale), BATON_ERROR_INVALID_INPUT, "saxpy");
  // A kernel keeps its module.
  baton_module_release(module);
  look_at_kernel(kernel);
  launch_saxpy(device, kernel);
  launch_plan(device, kernel);
  order_by_events(device);
  baton_kernel_release(kernel);
  baton_device_release(device);
  return finish_test();
}
