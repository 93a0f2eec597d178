// One kernel from C: compile CUDA source, launch it on a stream, read the result.
//
//   ./saxpy [DEVICE]        DEVICE is "cuda:0", "sim:h100", ...; the default is the first GPU, or
//                           the simulated one

#include <baton.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kSource[] =
    "extern \"C\" __global__ void saxpy(float* y, const float* x, float a, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n";

enum { kCount = 100000 };

// Everything that has to be released, whatever happens.
struct saxpy {
  baton_device* device;
  baton_module* module;
  baton_kernel* kernel;
  baton_stream* stream;
  baton_memory* x;
  baton_memory* y;
};

static baton_error* prepare(struct saxpy* s, const char* name) {
  baton_error* e = baton_device_open(name, NULL, &s->device);
  if (!e) e = baton_module_compile(s->device, kSource, NULL, &s->module);
  if (!e) e = baton_kernel_get(s->module, "saxpy", &s->kernel);
  if (!e) e = baton_stream_create(s->device, 0, &s->stream);
  if (!e) e = baton_memory_alloc(s->device, kCount * sizeof(float), &s->x);
  if (!e) e = baton_memory_alloc(s->device, kCount * sizeof(float), &s->y);
  return e;
}

// y = 2 * x + y
static baton_error* launch(const struct saxpy* s, const float* x, float* y) {
  const size_t bytes = kCount * sizeof(float);
  void *x_address = NULL, *y_address = NULL;
  baton_error* e = baton_memory_address(s->x, &x_address);
  if (!e) e = baton_memory_address(s->y, &y_address);
  if (!e) e = baton_memory_upload(s->x, 0, x, bytes, s->stream);
  if (!e) e = baton_memory_upload(s->y, 0, y, bytes, s->stream);
  if (e) return e;

  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  config.grid[0] = (kCount + 255) / 256;
  config.block[0] = 256;
  config.stream = s->stream;
  const baton_value values[] = {BATON_POINTER(y_address), BATON_POINTER(x_address),
                                BATON_FLOAT(2.0), BATON_INT(kCount)};
  e = baton_kernel_launch(s->kernel, &config, values, 4);
  if (!e) e = baton_memory_download(s->y, 0, y, bytes, s->stream);
  if (!e) e = baton_stream_synchronize(s->stream);
  return e;
}

int main(int argc, char** argv) {
  static float x[kCount], y[kCount];
  for (int i = 0; i < kCount; ++i) {
    x[i] = (float)i;
    y[i] = 1.0f;
  }
  struct saxpy s;
  memset(&s, 0, sizeof(s));
  baton_error* e = prepare(&s, argc > 1 ? argv[1] : NULL);
  if (!e) e = launch(&s, x, y);

  int status = EXIT_SUCCESS;
  for (int i = 0; !e && i < kCount; ++i) {
    if (y[i] == 2.0f * (float)i + 1.0f) continue;
    fprintf(stderr, "y[%d] is %g\n", i, (double)y[i]);
    status = EXIT_FAILURE;
    break;
  }
  if (e) {
    fprintf(stderr, "error: %s\n", baton_error_text(e));
    baton_error_release(e);
    status = EXIT_FAILURE;
  } else {
    baton_device_info info = BATON_DEVICE_INFO_INIT;
    e = baton_device_get_info(s.device, &info);
    if (!e && status == EXIT_SUCCESS) {
      printf("%d elements of saxpy are right on %s\n", kCount, info.name);
    }
    baton_error_release(e);
  }
  baton_memory_release(s.y);
  baton_memory_release(s.x);
  baton_stream_release(s.stream);
  baton_kernel_release(s.kernel);
  baton_module_release(s.module);
  baton_device_release(s.device);
  return status;
}
