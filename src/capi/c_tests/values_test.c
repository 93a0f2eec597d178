// Which values a parameter takes, what arrives in the kernel, and what is refused.

#include <math.h>

#include "c_test.h"

// Stores each parameter in 8 bytes of its own.
static const char kSource[] =
    "#include <cuda_bf16.h>\n"
    "#include <cuda_fp16.h>\n"
    "struct Pair { int a; float b; };\n"
    "template <typename T> __device__ void put(unsigned long long* out, int at, T value) {\n"
    "  out[at] = 0;\n"
    "  memcpy(out + at, &value, sizeof(value));\n"
    "}\n"
    "__global__ void types(unsigned long long* out, bool b, signed char i8, unsigned char u8,\n"
    "                      short i16, unsigned short u16, int i32, unsigned u32, long long i64,\n"
    "                      unsigned long long u64, float f32, double f64, __half f16,\n"
    "                      __nv_bfloat16 bf16, Pair pair, const float* pointer) {\n"
    "  put(out, 1, b); put(out, 2, i8); put(out, 3, u8); put(out, 4, i16); put(out, 5, u16);\n"
    "  put(out, 6, i32); put(out, 7, u32); put(out, 8, i64); put(out, 9, u64);\n"
    "  put(out, 10, f32); put(out, 11, f64); put(out, 12, f16); put(out, 13, bf16);\n"
    "  put(out, 14, pair); put(out, 15, pointer);\n"
    "}\n"
    "extern \"C\" __global__ void plain(unsigned* out, unsigned v, float w) {\n"
    "  if (w == 0) *out = v;\n"
    "}\n";

enum { kCount = 16 };

static baton_device* device;
static baton_kernel* types;
static void* address;
static baton_memory* memory;
static baton_value values[kCount];
static const int32_t kPair[2] = {7, 0x3F800000};
static const baton_bytes kPairBytes = {kPair, sizeof(kPair)};

static void reset_values(void) {
  int i;
  values[0] = BATON_POINTER(address);
  values[1] = BATON_BOOL(1);
  for (i = 2; i <= 9; ++i) values[i] = BATON_INT(1);
  for (i = 10; i <= 13; ++i) values[i] = BATON_FLOAT(1.5);
  values[14] = BATON_BYTES(&kPairBytes);
  values[15] = BATON_NONE();
}

static baton_error* launch(void) {
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  return baton_kernel_launch(types, &config, values, kCount);
}

// The bits that the kernel got of argument `index`.
static uint64_t bits_of(int index, baton_value value) {
  uint64_t out[kCount] = {0};
  reset_values();
  values[index] = value;
  OK(launch());
  OK(baton_memory_download(memory, 0, out, sizeof(out), NULL));
  OK(baton_device_synchronize(device));
  return out[index];
}

static void refuses(int index, baton_value value, const char* words, int line) {
  reset_values();
  values[index] = value;
  check_fails(launch(), BATON_ERROR_INVALID_INPUT, words, "launch", line);
}
#define REFUSES(index, value, words) refuses((index), (value), (words), __LINE__)

static void convert_integers(void) {
  CHECK(bits_of(1, BATON_INT(0)) == 0);
  CHECK(bits_of(1, BATON_BOOL(5)) == 1);
  CHECK(bits_of(2, BATON_INT(-128)) == 0x80);
  CHECK(bits_of(3, BATON_INT(255)) == 0xFF);
  CHECK(bits_of(4, BATON_INT(-32768)) == 0x8000);
  CHECK(bits_of(5, BATON_INT(65535)) == 0xFFFF);
  CHECK(bits_of(6, BATON_INT(INT32_MIN)) == 0x80000000u);
  CHECK(bits_of(7, BATON_INT(UINT32_MAX)) == 0xFFFFFFFFu);
  CHECK(bits_of(8, BATON_INT(INT64_MIN)) == 0x8000000000000000u);
  CHECK(bits_of(9, BATON_INT(INT64_MAX)) == 0x7FFFFFFFFFFFFFFFu);
  CHECK(bits_of(6, BATON_BOOL(1)) == 1);

  REFUSES(1, BATON_INT(2), "argument 1 is 2, which bool does not hold: 0 to 1");
  REFUSES(2, BATON_INT(128), "argument 2 is 128, which i8 does not hold: -128 to 127");
  REFUSES(3, BATON_INT(-1), "argument 3 is -1, which u8 does not hold: 0 to 255");
  REFUSES(4, BATON_INT(32768), "which i16 does not hold");
  REFUSES(5, BATON_INT(65536), "which u16 does not hold");
  REFUSES(6, BATON_INT(2147483648),
          "argument 6 is 2147483648, which i32 does not hold: -2147483648");
  REFUSES(7, BATON_INT(-1),
          "argument 7 is -1, which u32 does not hold: 0 to 4294967295; the parameter is unsigned");
  REFUSES(9, BATON_INT(-1), "which u64 does not hold");
  REFUSES(6, BATON_FLOAT(1.0), "argument 6 is the float 1, for an integer; pass BATON_INT");
}

static void convert_floats(void) {
  CHECK(bits_of(10, BATON_FLOAT(0.1)) == 0x3DCCCCCDu);
  CHECK(bits_of(11, BATON_FLOAT(0.1)) == 0x3FB999999999999Au);
  CHECK(bits_of(12, BATON_FLOAT(0.1)) == 0x2E66);
  CHECK(bits_of(13, BATON_FLOAT(0.1)) == 0x3DCD);
  CHECK(bits_of(10, BATON_FLOAT(-INFINITY)) == 0xFF800000u);
  CHECK((bits_of(12, BATON_FLOAT(NAN)) & 0x7C00) == 0x7C00);
  CHECK(bits_of(10, BATON_INT(16777216)) == 0x4B800000u);
  CHECK(bits_of(12, BATON_INT(2048)) == 0x6800);

  REFUSES(10, BATON_INT(16777217), "argument 10 is 16777217, which f32 does not hold exactly");
  REFUSES(10, BATON_FLOAT(1e39), "argument 10 is 1e+39, which is beyond the range of f32");
  REFUSES(12, BATON_FLOAT(65520), "argument 12 is 65520, which is beyond the range of f16");
  REFUSES(13, BATON_FLOAT(-3.4e38), "beyond the range of bf16");
  REFUSES(12, BATON_INT(2049), "which f16 does not hold exactly");
}

static void convert_others(void) {
  static const baton_bytes kNothing = {NULL, 8};
  static const baton_bytes kShort = {kPair, 4};
  const uint64_t large = 0xFFFFFFFFFFFFFFFFu;
  const baton_bytes large_bytes = {&large, sizeof(large)};
  baton_value odd = BATON_INT(1);
  CHECK(bits_of(14, BATON_BYTES(&kPairBytes)) == 0x3F80000000000007u);
  CHECK(bits_of(15, BATON_NONE()) == 0);
  CHECK(bits_of(15, BATON_POINTER(address)) == (uint64_t)(uintptr_t)address);
  CHECK(bits_of(9, BATON_BYTES(&large_bytes)) == large);

  REFUSES(14, BATON_INT(1),
          "argument 14 is an integer, for a struct by value; pass its bytes as BATON_BYTES");
  REFUSES(14, BATON_FLOAT(1), "argument 14 is a float, for a struct by value");
  REFUSES(14, BATON_BYTES(&kShort), "argument 14 has 4 bytes");
  REFUSES(14, BATON_BYTES(&kNothing), "argument 14 is a BATON_BYTES without an address");
  REFUSES(14, BATON_BYTES(NULL), "argument 14 is a BATON_BYTES without an address");
  REFUSES(15, BATON_INT(0),
          "argument 15 is an integer, for a pointer; pass BATON_POINTER, BATON_TENSOR");
  REFUSES(15, BATON_FLOAT(0), "argument 15 is a float, for a pointer");
  REFUSES(15, BATON_TEXT("x"), "argument 15 is a text");
  REFUSES(15, BATON_TENSOR(NULL), "argument 15 is a null tensor");
  REFUSES(6, BATON_POINTER(address), "argument 6");
  REFUSES(8, BATON_POINTER(address), "argument 8 is a device address, the parameter is");
  REFUSES(10, BATON_NONE(), "argument 10");

  odd.padding = 1;
  REFUSES(6, odd, "argument 6 is a value whose padding is 1, not 0");
  odd = BATON_INT(1);
  odd.type = 70;
  REFUSES(6, odd, "argument 6 has the value type 70");
  odd = BATON_BOOL(1);
  odd.as.integer = 7;
  REFUSES(1, odd, "argument 1 is a BATON_BOOL of 7, not 0 or 1");
}

static void convert_tensors(void) {
  static int64_t shape[3] = {2, 1, 3};
  static int64_t negative[3] = {2, -1, 3};
  static int64_t huge[3] = {INT64_MAX, INT64_MAX, 3};
  static int64_t many[3] = {INT64_MAX, 2, 1};
  static int64_t empty[3] = {2, 0, 3};
  static int64_t strides[3] = {3, 77, 1};
  static int64_t transposed[3] = {1, 1, 2};
  baton_device_info info = BATON_DEVICE_INFO_INIT;
  baton_tensor good, tensor;
  OK(baton_device_get_info(device, &info));
  memset(&good, 0, sizeof(good));
  good.data = address;
  good.device.device_type = 2;
  good.device.device_id = info.ordinal;
  good.ndim = 3;
  OK(baton_dtype_parse("f32", &good.dtype));
  good.shape = shape;
  good.byte_offset = 8;
  CHECK(bits_of(15, BATON_TENSOR(&good)) == (uint64_t)(uintptr_t)address + 8);
  tensor = good;
  tensor.strides = strides;  // of an axis with one element they do not matter
  CHECK(bits_of(15, BATON_TENSOR(&tensor)) == (uint64_t)(uintptr_t)address + 8);
  tensor = good;
  tensor.shape = empty;
  tensor.data = NULL;
  CHECK(bits_of(15, BATON_TENSOR(&tensor)) == 0);
  tensor = good;
  tensor.ndim = 0;
  tensor.shape = NULL;
  CHECK(bits_of(15, BATON_TENSOR(&tensor)) == (uint64_t)(uintptr_t)address + 8);
  tensor = good;
  tensor.device.device_type = 13;
  tensor.device.device_id = 0;
  CHECK(bits_of(15, BATON_TENSOR(&tensor)) == (uint64_t)(uintptr_t)address + 8);

  tensor = good;
  tensor.device.device_type = 1;
  REFUSES(15, BATON_TENSOR(&tensor),
          "argument 15 is a tensor in host memory, which no kernel can read");
  tensor.device.device_type = 10;
  REFUSES(15, BATON_TENSOR(&tensor), "is in memory of DLPack's device type 10");
  tensor = good;
  tensor.device.device_id += 1;
  REFUSES(15, BATON_TENSOR(&tensor),
          "argument 15 is in memory of the device CUDA (DLPack type 2, id");
  tensor = good;
  OK(baton_dtype_parse("f64", &tensor.dtype));
  REFUSES(15, BATON_TENSOR(&tensor),
          "argument 15 is the address of f64 elements, the parameter is float const*");
  tensor.dtype.code = 5;
  REFUSES(15, BATON_TENSOR(&tensor), "type code 5 with 64 bits and 1 lanes");
  tensor.dtype.code = 2;
  tensor.dtype.lanes = 4;
  REFUSES(15, BATON_TENSOR(&tensor), "4 lanes");
  tensor = good;
  tensor.strides = transposed;
  REFUSES(15, BATON_TENSOR(&tensor),
          "is not contiguous: axis 2 has the stride 2 in elements, C order has 1");
  tensor = good;
  tensor.shape = negative;
  REFUSES(15, BATON_TENSOR(&tensor), "has the extent -1 along axis 1");
  tensor.shape = huge;
  REFUSES(15, BATON_TENSOR(&tensor), "more bytes than 64 bits can count");
  tensor.shape = many;
  REFUSES(15, BATON_TENSOR(&tensor), "more bytes than 64 bits can count");
  tensor.shape = NULL;
  REFUSES(15, BATON_TENSOR(&tensor), "has 3 dimensions and no shape");
  tensor = good;
  tensor.ndim = -1;
  REFUSES(15, BATON_TENSOR(&tensor), "has -1 dimensions");
  // Extents behind the given ones are not read.
  tensor.ndim = 65;
  REFUSES(15, BATON_TENSOR(&tensor), "has 65 dimensions; 0 to 64 are possible");
  tensor = good;
  tensor.data = NULL;
  REFUSES(15, BATON_TENSOR(&tensor), "has 6 elements and a null address");
  tensor = good;
  tensor.byte_offset = 2;
  REFUSES(15, BATON_TENSOR(&tensor), "which is not a multiple of the 4 bytes of f32");
  REFUSES(6, BATON_TENSOR(&good), "argument 6");
}

// Without C++ names only the use of a parameter tells what it is.
static void convert_by_use(const baton_module* module) {
  baton_kernel* plain = NULL;
  baton_value three[3];
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  uint32_t out = 0;
  REQUIRE_OK(baton_kernel_get(module, "plain", &plain));
  three[0] = BATON_POINTER(address);
  three[2] = BATON_FLOAT(0);
  // 32 bits of unknown signedness take what one of the two holds.
  three[1] = BATON_INT(UINT32_MAX);
  OK(baton_kernel_launch(plain, &config, three, 3));
  three[1] = BATON_INT(-1);
  OK(baton_kernel_launch(plain, &config, three, 3));
  OK(baton_memory_download(memory, 0, &out, sizeof(out), NULL));
  OK(baton_device_synchronize(device));
  CHECK(out == UINT32_MAX);
  three[1] = BATON_INT((int64_t)1 << 32);
  REFUSED(baton_kernel_launch(plain, &config, three, 3),
          "argument 1 is 4294967296, which 4 bytes do not hold: -2147483648 to 4294967295");
  REFUSED(baton_kernel_launch(plain, &config, three, 2), "takes 3 arguments");
  REFUSED(baton_kernel_launch(plain, &config, NULL, 0), "0 were given");
  REFUSED(baton_kernel_launch(plain, &config, three, SIZE_MAX), "18446744073709551615 were given");
  baton_kernel_release(plain);
}

int main(void) {
  const char* const entries[] = {"types"};
  baton_module* module = NULL;
  baton_compile_options options = BATON_COMPILE_OPTIONS_INIT;
  device = open_test_device();
  options.entries = entries;
  options.entry_count = 1;
  REQUIRE_OK(baton_module_compile(device, kSource, &options, &module));
  REQUIRE_OK(baton_kernel_get(module, "types", &types));
  REQUIRE_OK(baton_memory_alloc(device, 1024, &memory));
  REQUIRE_OK(baton_memory_address(memory, &address));
  convert_integers();
  convert_floats();
  convert_others();
  convert_tensors();
  convert_by_use(module);
  baton_memory_release(memory);
  baton_kernel_release(types);
  baton_module_release(module);
  baton_device_release(device);
  return finish_test();
}
