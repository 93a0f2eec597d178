#ifndef BATON_H_
#define BATON_H_

// Baton for C: plain C11, which C++ compiles too. docs/c.md shows a complete program.
//
// Errors. A function returns NULL on success and otherwise a `baton_error`, which the caller owns
// and releases. No function throws, and none keeps state for a thread. A function that fails stores
// NULL where it would have stored a handle.
//
// Handles. A function that stores a handle gives the caller one reference. `_retain` adds a
// reference and `_release` gives one back; the last one destroys the object. Both accept NULL. A
// handle keeps alive what it needs: a kernel its module, a plan its kernel and its stream. A handle
// of another kind, and as far as can be told a released one, is refused with an error.
//
// Threads. Several threads may use one device, stream, event, memory, module, kernel, bundle,
// pinned memory, rewrite, findings, check or error at once. A plan, a graph, a graph instance and a
// program take one thread at a time: a second thread in the same object gets an error. `_retain`
// and
// `_release` are safe from every thread.
//
// Structs. Structs that cross the interface begin with their size, which BATON_..._INIT sets. Later
// releases add members at the end. The library accepts smaller structs of earlier releases, and
// larger ones whose unknown members are zero. It writes no more than `size` bytes of a struct.
//
// Strings. They are UTF-8 and end in a NUL. The library copies the strings that it is given. A
// string that it gives lives as long as the handle that it came from, and a program's at least
// until the next call for that program.
//
// Constants and the layout of structs never change within a major version of the interface.

#include <stddef.h>
#include <stdint.h>

#include "baton/version.h"

#ifndef BATON_C_API
#define BATON_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Version --------------------------------------------------------------------------------

// BATON_VERSION_MAJOR, _MINOR and _PATCH are the version of this header. `baton_version` is that of
// the library.
// "0.1.0".
BATON_C_API const char* baton_version(void);

// ---- Errors ---------------------------------------------------------------------------------

typedef struct baton_error baton_error;

enum {
  BATON_OK = 0,
  BATON_ERROR_INVALID_INPUT = 1,   // a file, name, expression, argument or option is wrong
  BATON_ERROR_NOT_FOUND = 2,       // a file, entry, buffer or option that was named does not exist
  BATON_ERROR_COMPILE = 3,         // the CUDA or PTX compiler rejected a source
  BATON_ERROR_LIMIT = 4,           // a launch exceeds a limit of the device or the kernel
  BATON_ERROR_MISMATCH = 5,        // a result differs from what was expected
  BATON_ERROR_FAULT = 6,           // a kernel faulted, trapped or accessed memory wrongly
  BATON_ERROR_TIMEOUT = 7,         // a run exceeded its time limit
  BATON_ERROR_DAMAGED = 8,         // stored data other than a bundle fails its checksum
  BATON_ERROR_NO_DEVICE = 9,       // no such device, or a driver that is present does not start
  BATON_ERROR_OUT_OF_MEMORY = 10,  // device, pinned or host memory ran out
  BATON_ERROR_DRIVER = 11,         // the driver rejected a call for another reason
  BATON_ERROR_UNSUPPORTED = 12,    // the device lacks an instruction or a feature
  BATON_ERROR_INTERRUPTED = 13,    // the user stopped the run
  BATON_ERROR_INTERNAL = 14        // a bug in Baton
};

// One of the constants above; BATON_OK for NULL.
BATON_C_API int32_t baton_error_code(const baton_error* error);
// "invalid_input": the stable name of a code; "unknown" for another number.
BATON_C_API const char* baton_error_code_name(int32_t code);
// One sentence: what is wrong, both values, and what to do. Empty for NULL.
BATON_C_API const char* baton_error_message(const baton_error* error);
// The place in the user's text, "file:line:column"; empty if there is none.
BATON_C_API const char* baton_error_where(const baton_error* error);
// Its parts. Line and column count from 1; 0 means unknown.
BATON_C_API const char* baton_error_file(const baton_error* error);
BATON_C_API int32_t baton_error_line(const baton_error* error);
BATON_C_API int32_t baton_error_column(const baton_error* error);
// Further lines, such as a compiler's log. NULL for an index that is out of range.
BATON_C_API size_t baton_error_note_count(const baton_error* error);
BATON_C_API const char* baton_error_note(const baton_error* error, size_t index);
// All of it: "file:line:column: message", then one note a line.
BATON_C_API const char* baton_error_text(const baton_error* error);
// The driver's own number (CUresult) if the driver rejected a call, otherwise 0.
BATON_C_API int32_t baton_error_driver_result(const baton_error* error);
// An error of the caller's, for functions that the library calls. `code` is one of the constants
// above but BATON_OK; another number counts as BATON_ERROR_INVALID_INPUT. `message` is copied, and
// NULL is empty. Never NULL.
BATON_C_API baton_error* baton_error_create(int32_t code, const char* message);
BATON_C_API void baton_error_retain(baton_error* error);
BATON_C_API void baton_error_release(baton_error* error);

// ---- Values and tensors ---------------------------------------------------------------------

// A number type, bit-identical to DLPack's DLDataType: DLPack's type code, the bits of one lane,
// and the lanes. `bits` is 0 for an unknown type.
typedef struct baton_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} baton_dtype;

// "f32", "bf16", "f8e4m3": the name in program files; NULL for a type that Baton does not know.
BATON_C_API const char* baton_dtype_name(baton_dtype type);
// Stores the type with that name.
BATON_C_API baton_error* baton_dtype_parse(const char* name, baton_dtype* type);

// An array in memory of the caller, bit-identical to DLPack's DLTensor. If <dlpack/dlpack.h> is
// included before this header, it is that type.
#ifdef DLPACK_DLPACK_H_
typedef DLTensor baton_tensor;
#else
typedef struct baton_dl_device {
  int32_t device_type;  // DLPack's DLDeviceType: 1 CPU, 2 CUDA, 3 page-locked, 13 managed
  int32_t device_id;
} baton_dl_device;
typedef struct baton_tensor {
  void* data;
  baton_dl_device device;
  int32_t ndim;
  baton_dtype dtype;
  int64_t* shape;    // ndim extents
  int64_t* strides;  // in elements, or NULL for a contiguous array
  uint64_t byte_offset;
} baton_tensor;
#endif

// The types of values. The numbers are tvm-ffi's type indexes.
enum {
  BATON_TYPE_NONE = 0,
  BATON_TYPE_INT = 1,
  BATON_TYPE_BOOL = 2,
  BATON_TYPE_FLOAT = 3,
  BATON_TYPE_POINTER = 4,  // an address in device memory
  BATON_TYPE_TENSOR = 7,   // a baton_tensor, or DLTensor
  BATON_TYPE_TEXT = 8,     // a string that ends in a NUL
  BATON_TYPE_BYTES = 9     // baton_bytes: a struct by value
};

// Bytes of the caller, bit-identical to tvm-ffi's TVMFFIByteArray.
typedef struct baton_bytes {
  const void* data;
  size_t size;
} baton_bytes;

// One tagged value of 16 bytes, bit-identical to tvm-ffi's TVMFFIAny. It refers to the memory of
// tensors, texts and bytes, which the library reads only during the call.
typedef struct baton_value {
  int32_t type;      // BATON_TYPE_...
  uint32_t padding;  // 0
  union {
    int64_t integer;  // BATON_TYPE_INT; 0 or 1 for BATON_TYPE_BOOL
    double real;
    void* pointer;
    const baton_tensor* tensor;
    const char* text;
    const baton_bytes* bytes;
  } as;
} baton_value;

static inline baton_value baton_value_none(void) {
  baton_value value;
  value.type = BATON_TYPE_NONE;
  value.padding = 0;
  value.as.integer = 0;
  return value;
}
static inline baton_value baton_value_int(int64_t integer) {
  baton_value value = baton_value_none();
  value.type = BATON_TYPE_INT;
  value.as.integer = integer;
  return value;
}
static inline baton_value baton_value_bool(int truth) {
  baton_value value = baton_value_int(truth != 0);
  value.type = BATON_TYPE_BOOL;
  return value;
}
static inline baton_value baton_value_float(double real) {
  baton_value value = baton_value_none();
  value.type = BATON_TYPE_FLOAT;
  value.as.real = real;
  return value;
}
static inline baton_value baton_value_pointer(const void* address) {
  baton_value value = baton_value_none();
  value.type = BATON_TYPE_POINTER;
  value.as.pointer = (void*)(uintptr_t)address;
  return value;
}
static inline baton_value baton_value_tensor(const baton_tensor* tensor) {
  baton_value value = baton_value_none();
  value.type = BATON_TYPE_TENSOR;
  value.as.tensor = tensor;
  return value;
}
static inline baton_value baton_value_text(const char* text) {
  baton_value value = baton_value_none();
  value.type = BATON_TYPE_TEXT;
  value.as.text = text;
  return value;
}
static inline baton_value baton_value_bytes(const baton_bytes* bytes) {
  baton_value value = baton_value_none();
  value.type = BATON_TYPE_BYTES;
  value.as.bytes = bytes;
  return value;
}

#define BATON_NONE() baton_value_none()
#define BATON_INT(integer) baton_value_int(integer)
#define BATON_BOOL(truth) baton_value_bool(truth)
#define BATON_FLOAT(real) baton_value_float(real)
#define BATON_POINTER(address) baton_value_pointer(address)
#define BATON_TENSOR(tensor) baton_value_tensor(tensor)
#define BATON_TEXT(text) baton_value_text(text)
#define BATON_BYTES(bytes) baton_value_bytes(bytes)

// ---- Findings -------------------------------------------------------------------------------

// The errors and warnings that the simulated GPU found, in the order first seen. Immutable.
typedef struct baton_findings baton_findings;

// Equal findings (same kind, kernel and place) are one, with a count.
typedef struct baton_finding {
  size_t size;
  const char* kind;    // "out_of_bounds"
  const char* kernel;  // as the image names it; empty for a copy
  const char* where;   // "norm.cu:12:7"
  const char* message;
  const char* launch;  // in a program's run: "launch 14 (topk), at decode.toml:40:1"; else empty
  uint64_t count;
  uint32_t block[3];   // of the first occurrence
  uint32_t thread[3];  // likewise
  int32_t is_error;    // 0: a warning
  int32_t reserved;
} baton_finding;
#define BATON_FINDING_INIT \
  { sizeof(baton_finding), NULL, NULL, NULL, NULL, NULL, 0, {0, 0, 0}, {0, 0, 0}, 0, 0 }

BATON_C_API baton_error* baton_findings_count(const baton_findings* findings, size_t* count);
BATON_C_API baton_error* baton_findings_get(const baton_findings* findings, size_t index,
                                            baton_finding* finding);
BATON_C_API void baton_findings_retain(baton_findings* findings);
BATON_C_API void baton_findings_release(baton_findings* findings);

// ---- Devices --------------------------------------------------------------------------------

// A CUDA GPU or the simulated GPU, with its primary context. Any thread may use it.
typedef struct baton_device baton_device;

// The treatment of findings in work that the caller enqueues itself, when the caller waits.
// The findings of a program's run are always in `baton_program_findings`.
enum {
  BATON_FINDINGS_THROW = 0,   // the call that waits returns errors, and logs warnings
  BATON_FINDINGS_LOG = 1,     // errors and warnings are logged
  BATON_FINDINGS_COLLECT = 2  // all of them wait for `baton_device_findings`
};

typedef struct baton_device_options {
  size_t size;
  int32_t findings;  // BATON_FINDINGS_...; applies to the device, for all its handles
  int32_t reserved;
} baton_device_options;
#define BATON_DEVICE_OPTIONS_INIT \
  { sizeof(baton_device_options), BATON_FINDINGS_THROW, 0 }

typedef struct baton_device_info {
  size_t size;
  const char* spec;        // "cuda:0", "sim:h200": a name that `baton_device_open` takes
  const char* name;        // "NVIDIA H200"
  uint64_t total_memory;   // bytes
  int32_t architecture;    // 90 for compute capability 9.0
  int32_t driver_version;  // 13000 for CUDA 13.0
  int32_t ordinal;         // among the devices of its driver: DLPack's device_id
  int32_t is_simulated;
  uint32_t multiprocessors;
  uint32_t max_threads;  // of a block
  uint32_t max_shared;   // bytes of a block, static and dynamic together, with the opt-in
  uint32_t reserved;
} baton_device_info;
#define BATON_DEVICE_INFO_INIT \
  { sizeof(baton_device_info), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

// Opens "sim", "sim:h100", "sim:h200", "cuda", "cuda:N". NULL takes BATON_DEVICE, otherwise the
// first GPU, otherwise (without a CUDA driver or a GPU) the simulated GPU. `options` may be NULL,
// which leaves the device as it is.
BATON_C_API baton_error* baton_device_open(const char* name, const baton_device_options* options,
                                           baton_device** device);
BATON_C_API baton_error* baton_device_get_info(const baton_device* device, baton_device_info* info);
// Waits for all work on the device.
BATON_C_API baton_error* baton_device_synchronize(const baton_device* device);
// Ends the error state that a fault left on the simulated GPU. Memory, modules and streams stay,
// and later work runs. BATON_ERROR_UNSUPPORTED on a GPU, where the state ends with the process.
BATON_C_API baton_error* baton_device_recover(const baton_device* device);
// Takes the findings that were not reported yet. Does not wait. Empty on a GPU.
BATON_C_API baton_error* baton_device_findings(const baton_device* device,
                                               baton_findings** findings);
BATON_C_API void baton_device_retain(baton_device* device);
BATON_C_API void baton_device_release(baton_device* device);

// ---- Streams and events ---------------------------------------------------------------------

// A queue of work on one device. Where a function takes a stream, NULL is the device's legacy
// default stream. Several threads may use one stream; they decide the order of their work.
typedef struct baton_stream baton_stream;

// A non-blocking stream. A lower number is a higher priority; the device clamps it to its range.
// Its end lets the enqueued work finish.
BATON_C_API baton_error* baton_stream_create(const baton_device* device, int32_t priority,
                                             baton_stream** stream);
// Uses a CUstream or cudaStream_t of the caller, which must outlive the handle. Its device is the
// stream's own; only the default streams take `device`.
BATON_C_API baton_error* baton_stream_adopt(const baton_device* device, void* cu_stream,
                                            baton_stream** stream);
// The CUstream.
BATON_C_API baton_error* baton_stream_native(const baton_stream* stream, void** cu_stream);
// Waits until all work enqueued so far has completed, and returns the error of that work.
BATON_C_API baton_error* baton_stream_synchronize(const baton_stream* stream);
// Stores 1 if all work enqueued so far has completed, otherwise 0.
BATON_C_API baton_error* baton_stream_done(const baton_stream* stream, int32_t* done);
// Stores 1 while a graph is being captured from the stream, otherwise 0.
BATON_C_API baton_error* baton_stream_capturing(const baton_stream* stream, int32_t* capturing);
// Part of a device's multiprocessors (SMs): a green context of the driver. Kernels in a stream of a
// part run on its SMs alone. A stream keeps its part. Any thread may use it.
typedef struct baton_sm_part baton_sm_part;

// The SMs of a part are a multiple of `unit`, rounded up. All parts together have at most `count`
// units. BATON_ERROR_UNSUPPORTED where the driver has no green contexts (CUDA 12.5).
BATON_C_API baton_error* baton_device_sm_units(const baton_device* device, uint32_t* unit,
                                               uint32_t* count);
// Splits the device into `count` disjoint parts of at least sms[0], sms[1], ... SMs, and stores
// their handles in parts[0], parts[1], ... Parts of two splits may have SMs in common.
BATON_C_API baton_error* baton_device_split_sms(const baton_device* device, const uint32_t* sms,
                                                size_t count, baton_sm_part** parts);
// The SMs that the part has: at least as many as were asked for.
BATON_C_API baton_error* baton_sm_part_sms(const baton_sm_part* part, uint32_t* sms);
// A non-blocking stream of the part; see `baton_stream_create`.
BATON_C_API baton_error* baton_sm_part_stream(const baton_sm_part* part, int32_t priority,
                                              baton_stream** stream);
BATON_C_API void baton_sm_part_retain(baton_sm_part* part);
BATON_C_API void baton_sm_part_release(baton_sm_part* part);
// The SMs of the stream's part; 0: all of the device.
BATON_C_API baton_error* baton_stream_part_sms(const baton_stream* stream, uint32_t* sms);
BATON_C_API void baton_stream_retain(baton_stream* stream);
BATON_C_API void baton_stream_release(baton_stream* stream);

// A point in a stream.
typedef struct baton_event baton_event;

// `timing` 0 makes an event that is cheaper to record and has no elapsed time.
BATON_C_API baton_error* baton_event_create(const baton_device* device, int32_t timing,
                                            baton_event** event);
BATON_C_API baton_error* baton_event_record(baton_event* event, const baton_stream* stream);
// Makes later work of the stream start after the event was reached.
BATON_C_API baton_error* baton_event_wait(const baton_event* event, const baton_stream* stream);
BATON_C_API baton_error* baton_event_synchronize(const baton_event* event);
// The seconds from one event to a later one; both must have completed and have timing.
BATON_C_API baton_error* baton_event_elapsed(const baton_event* start, const baton_event* end,
                                             double* seconds);
// The CUevent.
BATON_C_API baton_error* baton_event_native(const baton_event* event, void** cu_event);
BATON_C_API void baton_event_retain(baton_event* event);
BATON_C_API void baton_event_release(baton_event* event);

// ---- Memory ---------------------------------------------------------------------------------

// Device memory. The last release frees it after the work that was enqueued before. Offsets and
// sizes are in bytes. A range that leaves the memory is an error.
typedef struct baton_memory baton_memory;

// Zero bytes are legal and have no address.
BATON_C_API baton_error* baton_memory_alloc(const baton_device* device, size_t bytes,
                                            baton_memory** memory);

// Stores the address of `bytes` (more than 0) of memory on the device: a multiple of 256, and no
// part of other memory in use. NULL means that there is none left. An error becomes the error of
// the call that needs the memory, which takes it over. `device` is valid during the call.
typedef baton_error* (*baton_allocate_function)(void* data, const baton_device* device,
                                                size_t bytes, void** address);
// Takes memory back. The device has completed the work that used it.
typedef void (*baton_free_function)(void* data, const baton_device* device, void* address,
                                    size_t bytes);
// Called once, when nothing uses the allocator any more.
typedef void (*baton_done_function)(void* data);

// A source of device memory of the caller's: a pool, an arena, the allocator of a framework. Any
// thread may call the functions, also several at once, with the device's context current.
typedef struct baton_allocator {
  size_t size;
  void* data;  // what the functions get
  baton_allocate_function allocate;
  baton_free_function free;
  baton_done_function release;  // may be NULL
} baton_allocator;
#define BATON_ALLOCATOR_INIT \
  { sizeof(baton_allocator), NULL, NULL, NULL, NULL }

// The same by an allocator, whose struct is copied. It must stay usable up to its `release`. NULL
// is the driver. On an error about the struct itself, `release` is not called.
BATON_C_API baton_error* baton_memory_alloc_with(const baton_device* device, size_t bytes,
                                                 const baton_allocator* allocator,
                                                 baton_memory** memory);
BATON_C_API baton_error* baton_memory_address(const baton_memory* memory, void** address);
BATON_C_API baton_error* baton_memory_bytes(const baton_memory* memory, size_t* bytes);
// Sets the name that findings use.
BATON_C_API baton_error* baton_memory_set_name(const baton_memory* memory, const char* name);
// These enqueue and return. Pageable host memory may be changed after an upload returns;
// page-locked memory, and every download's target, only after the copy has completed.
BATON_C_API baton_error* baton_memory_upload(const baton_memory* memory, size_t offset,
                                             const void* source, size_t bytes,
                                             const baton_stream* stream);
BATON_C_API baton_error* baton_memory_download(const baton_memory* memory, size_t offset,
                                               void* target, size_t bytes,
                                               const baton_stream* stream);
BATON_C_API baton_error* baton_memory_copy(const baton_memory* memory, size_t offset,
                                           const baton_memory* source, size_t source_offset,
                                           size_t bytes, const baton_stream* stream);
// Sets each byte.
BATON_C_API baton_error* baton_memory_fill(const baton_memory* memory, size_t offset, uint8_t byte,
                                           size_t bytes, const baton_stream* stream);
BATON_C_API void baton_memory_retain(baton_memory* memory);
BATON_C_API void baton_memory_release(baton_memory* memory);

// Page-locked host memory, from and to which the device copies without a staging buffer. It must
// outlive the copies that are enqueued on it.
typedef struct baton_pinned baton_pinned;

BATON_C_API baton_error* baton_pinned_alloc(const baton_device* device, size_t bytes,
                                            baton_pinned** pinned);
// Where it begins in host memory.
BATON_C_API baton_error* baton_pinned_data(const baton_pinned* pinned, void** data);
BATON_C_API baton_error* baton_pinned_bytes(const baton_pinned* pinned, size_t* bytes);
BATON_C_API void baton_pinned_retain(baton_pinned* pinned);
BATON_C_API void baton_pinned_release(baton_pinned* pinned);

// ---- Modules --------------------------------------------------------------------------------

// A loaded image. Immutable.
typedef struct baton_module baton_module;

typedef struct baton_compile_options {
  size_t size;
  const char* name;       // of the source in messages; NULL: "<text>", or the file's path
  const char* directory;  // where quoted includes start; NULL: the source's own folder, else none
  const char* prelude;    // text before the source, with line numbers of its own; NULL: none
  const char* arch;       // "sm_90a", "compute_90"; NULL: the device's
  const char* const* include;  // folders, searched before Baton's own
  size_t include_count;
  const char* const* options;  // for NVRTC, as written; C++17 without a --std
  size_t option_count;
  const char* const* entries;  // name expressions to instantiate: "rmsnorm<float>"
  size_t entry_count;
  int32_t use_cache;  // 0: without the compile cache
  int32_t param_names;  // 1: with names and types from debug information, by one more compile
} baton_compile_options;
#define BATON_COMPILE_OPTIONS_INIT \
  { sizeof(baton_compile_options), NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 1, 0 }

typedef struct baton_module_info {
  size_t size;
  const char* arch;      // "sm_90a"; empty if unknown
  const char* producer;  // "NVIDIA ptxas 13.0", if known
  const char* log;       // the compiler's warnings, or empty
  size_t kernel_count;
} baton_module_info;
#define BATON_MODULE_INFO_INIT \
  { sizeof(baton_module_info), NULL, NULL, NULL, 0 }

// Loads PTX, a cubin or a fatbin, whichever the bytes are. The library copies the bytes.
BATON_C_API baton_error* baton_module_load(const baton_device* device, const void* bytes,
                                           size_t size, baton_module** module);
BATON_C_API baton_error* baton_module_load_file(const baton_device* device, const char* path,
                                                baton_module** module);
// Compile CUDA C++ and load the result. NVRTC must be found, also where the cache has the result:
// which NVRTC it is decides what the cache gives. A bundle needs none. `options` may be NULL.
BATON_C_API baton_error* baton_module_compile(const baton_device* device, const char* source,
                                              const baton_compile_options* options,
                                              baton_module** module);
BATON_C_API baton_error* baton_module_compile_file(const baton_device* device, const char* path,
                                                   const baton_compile_options* options,
                                                   baton_module** module);
// Loads every kernel now. A driver that loads lazily does so at a kernel's first launch, and may
// wait for the device then: beside a kernel that waits for that launch it would wait for ever.
BATON_C_API baton_error* baton_module_load_kernels(const baton_module* module);
BATON_C_API baton_error* baton_module_get_info(const baton_module* module, baton_module_info* info);
// The symbol of a kernel, by its index in the image.
BATON_C_API baton_error* baton_module_kernel_name(const baton_module* module, size_t index,
                                                  const char** name);
// The address and the bytes of a __device__ or __constant__ variable on the module's device.
BATON_C_API baton_error* baton_module_variable(const baton_module* module, const char* name,
                                               void** address, size_t* bytes);
BATON_C_API void baton_module_retain(baton_module* module);
BATON_C_API void baton_module_release(baton_module* module);

// ---- Kernels --------------------------------------------------------------------------------

// One entry of a module. Immutable.
typedef struct baton_kernel baton_kernel;

// The known part of a parameter's type.
enum {
  BATON_PARAM_UNKNOWN = 0,  // only the size is known
  BATON_PARAM_POINTER = 1,
  BATON_PARAM_SCALAR = 2,   // `dtype` says which
  BATON_PARAM_INTEGER = 3,  // an integer of `size_bytes`, signed or unsigned
  BATON_PARAM_BYTES = 4     // a struct or array by value
};

typedef struct baton_param {
  size_t size;
  const char* type;  // for messages: "float const*", "4-byte integer"
  uint32_t offset;   // in bytes, in the kernel's parameter block
  uint32_t size_bytes;
  int32_t kind;          // BATON_PARAM_...
  baton_dtype dtype;     // a scalar's type, or a pointer's element, if known; otherwise 0 bits
  int32_t is_read_only;  // a pointer to const, by the demangled name or debug information
  int32_t reserved;
  const char* name;  // in the source: "count"; empty if the image does not say
} baton_param;
#define BATON_PARAM_INIT \
  { sizeof(baton_param), NULL, 0, 0, 0, {0, 0, 0}, 0, 0, NULL }

// Numbers that the image does not say are -1, extents 0.
typedef struct baton_kernel_info {
  size_t size;
  const char* name;       // the symbol
  const char* demangled;  // "rmsnorm<float>(float const*, …)", or the plain name
  const char* arch;       // "sm_90a"; empty if unknown
  int64_t param_count;
  int64_t registers;            // of a thread
  int64_t static_shared;        // bytes of a block
  int64_t local_bytes;          // of a thread
  uint32_t max_threads;         // of a block, on the kernel's device
  uint32_t max_dynamic_shared;  // bytes of a block, on the kernel's device
  uint32_t required_block[3];
  uint32_t required_cluster[3];
  int32_t waits;      // 1 or 0: it has griddepcontrol.wait
  int32_t triggers;   // 1 or 0: it has griddepcontrol.launch_dependents
  int32_t grid_sync;  // 1 or 0: its blocks synchronise across the grid
  int32_t polls;      // 1 or 0: it has a loop that waits for a value in memory
} baton_kernel_info;
#define BATON_KERNEL_INFO_INIT                                                                   \
  {                                                                                              \
    sizeof(baton_kernel_info), NULL, NULL, NULL, -1, -1, -1, -1, 0, 0, {0, 0, 0}, {0, 0, 0}, -1, \
        -1, -1, -1                                                                               \
  }

// A launch attribute by its name, with the field where it has several: "priority",
// "mem_sync_domain_map.remote". docs/launching.md lists them. A choice is a BATON_TEXT.
typedef struct baton_attribute {
  const char* name;
  baton_value value;
} baton_attribute;

enum { BATON_LAUNCH_FORCE_PDL = 2 };

typedef struct baton_launch_config {
  size_t size;
  uint32_t grid[3];                   // in blocks
  uint32_t block[3];                  // in threads
  uint32_t cluster[3];                // in blocks; all 0: not sent
  uint32_t shared;                    // dynamic shared memory, in bytes a block
  int32_t cooperative;                // 1 or 0
  int32_t pdl;                        // 1: may start before the launch before it has completed;
                                      // BATON_LAUNCH_FORCE_PDL: also if the kernel never waits
  const baton_stream* stream;         // NULL: the legacy default stream of the kernel's device
  const baton_attribute* attributes;  // all others
  size_t attribute_count;
} baton_launch_config;
#define BATON_LAUNCH_CONFIG_INIT \
  { sizeof(baton_launch_config), {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0, 0, 0, NULL, NULL, 0 }

// The kernel that `name` names: its symbol, its demangled name, or a plain name that matches one
// kernel. NULL names the only kernel.
BATON_C_API baton_error* baton_kernel_get(const baton_module* module, const char* name,
                                          baton_kernel** kernel);
BATON_C_API baton_error* baton_kernel_get_info(const baton_kernel* kernel, baton_kernel_info* info);
BATON_C_API baton_error* baton_kernel_param(const baton_kernel* kernel, size_t index,
                                            baton_param* param);
// Launches with one value for each parameter, in order. A value is converted to the parameter's
// type as far as the image tells it, and refused if it does not fit:
// - BATON_INT and BATON_BOOL for integers in range, and for floats that hold them exactly.
// - BATON_FLOAT for floats, rounded once; beyond the type's range is an error.
// - BATON_POINTER and BATON_NONE (a null address) for pointers, without a check of the address.
// - BATON_TENSOR for pointers: contiguous, on the launch's device, with the parameter's element
// type.
// - BATON_BYTES for every parameter of that size.
// The memory that arguments point to must stay until the kernel has completed.
BATON_C_API baton_error* baton_kernel_launch(const baton_kernel* kernel,
                                             const baton_launch_config* config,
                                             const baton_value* values, size_t count);
BATON_C_API void baton_kernel_retain(baton_kernel* kernel);
BATON_C_API void baton_kernel_release(baton_kernel* kernel);

// A launch that is checked and packed once and made many times. One thread at a time.
typedef struct baton_plan baton_plan;

BATON_C_API baton_error* baton_plan_create(const baton_kernel* kernel,
                                           const baton_launch_config* config,
                                           const baton_value* values, size_t count,
                                           baton_plan** plan);
// Replace one argument, the grid, or the stream (by one of the same device).
BATON_C_API baton_error* baton_plan_set(baton_plan* plan, size_t index, baton_value value);
BATON_C_API baton_error* baton_plan_set_grid(baton_plan* plan, uint32_t x, uint32_t y, uint32_t z);
BATON_C_API baton_error* baton_plan_set_stream(baton_plan* plan, const baton_stream* stream);
BATON_C_API baton_error* baton_plan_launch(baton_plan* plan);
BATON_C_API void baton_plan_retain(baton_plan* plan);
BATON_C_API void baton_plan_release(baton_plan* plan);

// ---- Bundles --------------------------------------------------------------------------------

// One file that holds a program and the images of its kernels (docs/bundles.md). Loading from it
// needs no compiler. Immutable.
typedef struct baton_bundle baton_bundle;

enum {
  BATON_VERIFY_INDEX = 0,  // the structure; a part is checked when it is first used
  BATON_VERIFY_ALL = 1,    // also the SHA-256 digest of every part
  BATON_VERIFY_ONCE = 2    // the same, unless that was done on this machine since the file changed
};

// Whom to trust, and what to check.
typedef struct baton_bundle_options {
  size_t size;
  int32_t verify;           // BATON_VERIFY_...
  int32_t reserved;         // 0
  const char* const* keys;  // public Ed25519 keys, each the text of a file in PEM
  size_t key_count;         // 0: the keys of the files that BATON_TRUSTED_KEYS names
} baton_bundle_options;
#define BATON_BUNDLE_OPTIONS_INIT \
  { sizeof(baton_bundle_options), BATON_VERIFY_INDEX, 0, NULL, 0 }

typedef struct baton_bundle_info {
  size_t size;
  const char* name;     // the file's path, or the name that was given
  const char* version;  // of the format: "1.0"
  const char* program;  // its name
  size_t architecture_count;
  size_t kernel_count;  // of the program, and the same for the next two
  size_t buffer_count;
  size_t symbol_count;
} baton_bundle_info;
#define BATON_BUNDLE_INFO_INIT \
  { sizeof(baton_bundle_info), NULL, NULL, NULL, 0, 0, 0, 0 }

// Maps a file, which must not become shorter while the bundle or a program of it lives.
BATON_C_API baton_error* baton_bundle_open(const char* path, int32_t verify, baton_bundle** bundle);
// The same for bytes, which the library copies. `name` is their name in messages, or NULL.
BATON_C_API baton_error* baton_bundle_from_bytes(const void* bytes, size_t size, const char* name,
                                                 int32_t verify, baton_bundle** bundle);
// The same with options, or NULL. With keys, a bundle that is not signed with one of them is an
// error, BATON_ERROR_INVALID_INPUT. BATON_ERROR_NOT_FOUND: the machine has no libcrypto.
BATON_C_API baton_error* baton_bundle_open_with(const char* path,
                                                const baton_bundle_options* options,
                                                baton_bundle** bundle);
BATON_C_API baton_error* baton_bundle_from_bytes_with(const void* bytes, size_t size,
                                                      const char* name,
                                                      const baton_bundle_options* options,
                                                      baton_bundle** bundle);
// Stores the id of the key that the bundle is signed with, 16 hexadecimal digits and a NUL, or an
// empty text if it is not signed. `key_id` has room for BATON_KEY_ID_SIZE bytes. Checks the
// signature, and is an error if that does not fit.
enum { BATON_KEY_ID_SIZE = 17 };
BATON_C_API baton_error* baton_bundle_signed_by(const baton_bundle* bundle, char* key_id);
BATON_C_API baton_error* baton_bundle_get_info(const baton_bundle* bundle, baton_bundle_info* info);
// "sm_90a", "compute_90": one that the bundle was built for.
BATON_C_API baton_error* baton_bundle_architecture(const baton_bundle* bundle, size_t index,
                                                   const char** architecture);
BATON_C_API void baton_bundle_retain(baton_bundle* bundle);
BATON_C_API void baton_bundle_release(baton_bundle* bundle);

// ---- Graphs ---------------------------------------------------------------------------------

// A CUDA graph of launches, copies, fills and host functions on one device. One thread at a time.
typedef struct baton_graph baton_graph;
// A graph that is ready to run. One thread at a time. It keeps the graph alive. Its end lets
// launches that are under way complete.
typedef struct baton_graph_instance baton_graph_instance;
// A node: the driver's CUgraphNode, valid as long as the graph.
typedef void* baton_graph_node;

enum {
  BATON_EDGE_FULL = 0,          // the later node starts when the earlier one has completed
  BATON_EDGE_PROGRAMMATIC = 1,  // between launches: the later one may start when every block of the
                                // earlier one has triggered or ended, and waits itself
  BATON_EDGE_LAUNCH_ORDER = 2   // between launches: the later one may start when every block of the
                                // earlier one has begun; nothing else is ordered
};

// A node that another one comes after. Its layout never changes.
typedef struct baton_graph_edge {
  baton_graph_node from;
  int32_t kind;      // BATON_EDGE_...
  int32_t reserved;  // 0
} baton_graph_edge;

// Nodes and edges, without those in bodies of conditional nodes.
typedef struct baton_graph_info {
  size_t size;
  uint64_t nodes;
  uint64_t edges;
  uint64_t programmatic_edges;
} baton_graph_info;
#define BATON_GRAPH_INFO_INIT \
  { sizeof(baton_graph_info), 0, 0, 0 }

BATON_C_API baton_error* baton_graph_create(const baton_device* device, baton_graph** graph);
// Makes a graph of what `work` enqueues on the stream, and on streams that it makes wait for events
// of the stream. Nothing of that is executed. `work` gets `data`; the error that it returns ends
// the capture, and becomes the error of this call. It must not throw, and must not make calls that
// a capture forbids, such as to wait.
typedef baton_error* (*baton_capture_function)(void* data);
BATON_C_API baton_error* baton_graph_capture(const baton_stream* stream,
                                             baton_capture_function work, void* data,
                                             baton_graph** graph);

// These add a node after `count` others, or, without any, at the beginning. `node` may be NULL.
//
// The launch with the plan's current arguments. The plan's stream and its attribute for
// programmatic launches have no effect: edges decide.
BATON_C_API baton_error* baton_graph_add_launch(baton_graph* graph, baton_plan* plan,
                                                const baton_graph_edge* after, size_t count,
                                                baton_graph_node* node);
// A copy between addresses in device memory, which must stay allocated while the graph may run.
BATON_C_API baton_error* baton_graph_add_copy(baton_graph* graph, void* to, void* from,
                                              uint64_t bytes, const baton_graph_edge* after,
                                              size_t count, baton_graph_node* node);
// Sets elements of `width` bytes (1, 2, 4 or 8) in device memory to the low bytes of `value`.
BATON_C_API baton_error* baton_graph_add_fill(baton_graph* graph, void* to, uint64_t value,
                                              uint32_t width, uint64_t elements,
                                              const baton_graph_edge* after, size_t count,
                                              baton_graph_node* node);
// Calls the function on a thread of the driver. It must not call the driver or this library.
BATON_C_API baton_error* baton_graph_add_host(baton_graph* graph, void (*function)(void* data),
                                              void* data, const baton_graph_edge* after,
                                              size_t count, baton_graph_node* node);
// Nothing: a point where nodes join.
BATON_C_API baton_error* baton_graph_add_empty(baton_graph* graph, const baton_graph_edge* after,
                                               size_t count, baton_graph_node* node);
// Records the event.
BATON_C_API baton_error* baton_graph_add_record(baton_graph* graph, const baton_event* event,
                                                const baton_graph_edge* after, size_t count,
                                                baton_graph_node* node);
// Makes a value that decides about the body of one conditional node. A kernel in the graph sets it:
// cudaGraphSetConditional(condition, value). Each launch of the graph begins with *initial; for
// NULL with the value that the condition has. BATON_ERROR_UNSUPPORTED if the driver has none.
BATON_C_API baton_error* baton_graph_make_condition(baton_graph* graph, const uint32_t* initial,
                                                    uint64_t* condition);
enum {
  BATON_CONDITIONAL_IF = 0,    // executes its body once, if the condition is not 0
  BATON_CONDITIONAL_WHILE = 1  // executes it as long as the condition is not 0
};
// Stores the body too, a graph to add nodes to. It cannot be instantiated by itself.
BATON_C_API baton_error* baton_graph_add_conditional(baton_graph* graph, uint64_t condition,
                                                     int32_t kind, const baton_graph_edge* after,
                                                     size_t count, baton_graph_node* node,
                                                     baton_graph** body);
// Adds an edge between two nodes of the graph.
BATON_C_API baton_error* baton_graph_connect(baton_graph* graph, const baton_graph_edge* edge,
                                             baton_graph_node to);
BATON_C_API baton_error* baton_graph_counts(baton_graph* graph, baton_graph_info* info);
// The CUgraph.
BATON_C_API baton_error* baton_graph_native(baton_graph* graph, void** cu_graph);
BATON_C_API void baton_graph_retain(baton_graph* graph);
BATON_C_API void baton_graph_release(baton_graph* graph);

// `node_priorities` 1 keeps the priorities of launches.
BATON_C_API baton_error* baton_graph_instantiate(baton_graph* graph, int32_t node_priorities,
                                                 baton_graph_instance** instance);
// Launches all nodes and does not wait. Launches of one instance execute one after another.
BATON_C_API baton_error* baton_graph_launch(baton_graph_instance* instance,
                                            const baton_stream* stream);
// Gives a launch the plan's arguments, grid, block and shared memory. Launches of the graph that
// are under way keep the old ones.
BATON_C_API baton_error* baton_graph_update_launch(baton_graph_instance* instance,
                                                   baton_graph_node node, baton_plan* plan);
// Takes over the parameters of all nodes of another graph with the same nodes and edges. Stores 0
// if the driver needs a new instance; then nothing has changed.
BATON_C_API baton_error* baton_graph_update(baton_graph_instance* instance, baton_graph* graph,
                                            int32_t* updated);
// The CUgraphExec.
BATON_C_API baton_error* baton_graph_instance_native(baton_graph_instance* instance,
                                                     void** cu_graph_exec);
BATON_C_API void baton_graph_instance_retain(baton_graph_instance* instance);
BATON_C_API void baton_graph_instance_release(baton_graph_instance* instance);

// ---- Rewriting ------------------------------------------------------------------------------

enum {
  BATON_REWRITE_OFF = 0,
  BATON_REWRITE_AUTO = 1,   // of a program: if a launch may then start early
  BATON_REWRITE_WAIT = 2,   // adds a PDL wait to each kernel that has none
  BATON_REWRITE_LOADS = 3,  // and a trigger after the last load of global memory
  BATON_REWRITE_EXIT = 4,   // and a trigger at every exit of the kernel
  BATON_REWRITE_TOP = 5     // and a trigger as its first instruction
};

// PTX with PDL added to its kernels, and a report. Immutable.
typedef struct baton_rewrite baton_rewrite;

typedef struct baton_rewritten_kernel {
  size_t size;
  const char* symbol;
  const char* obstacle;  // why the kernel is unchanged; otherwise empty
  const char* own;       // the wait and trigger that it had itself and keeps; otherwise empty
  size_t change_count;
} baton_rewritten_kernel;
#define BATON_REWRITTEN_KERNEL_INIT \
  { sizeof(baton_rewritten_kernel), NULL, NULL, NULL, 0 }

typedef struct baton_rewrite_change {
  size_t size;
  const char* kind;    // "wait", "trigger" or "plain load"
  const char* where;   // "norm.cu:14": the place before which it is, or the changed load
  const char* reason;  // the reason for the place
} baton_rewrite_change;
#define BATON_REWRITE_CHANGE_INIT \
  { sizeof(baton_rewrite_change), NULL, NULL, NULL }

// Rewrites the kernels of PTX for sm_90 or later. `name` is its name in messages, or NULL. `mode`
// is neither BATON_REWRITE_OFF nor _AUTO. No launch is known here, so no kernel reads memory before
// its wait; a program's own rewriting may put waits later.
BATON_C_API baton_error* baton_rewrite_ptx(const char* ptx, const char* name, int32_t mode,
                                           baton_rewrite** rewrite);
// The rewritten text, which ends in a NUL; the given one if no kernel was changed.
BATON_C_API baton_error* baton_rewrite_text(const baton_rewrite* rewrite, const char** ptx);
BATON_C_API baton_error* baton_rewrite_count(const baton_rewrite* rewrite, size_t* count);
BATON_C_API baton_error* baton_rewrite_kernel(const baton_rewrite* rewrite, size_t index,
                                              baton_rewritten_kernel* kernel);
BATON_C_API baton_error* baton_rewrite_get_change(const baton_rewrite* rewrite, size_t kernel,
                                                  size_t index, baton_rewrite_change* change);
BATON_C_API void baton_rewrite_retain(baton_rewrite* rewrite);
BATON_C_API void baton_rewrite_release(baton_rewrite* rewrite);

// ---- Programs -------------------------------------------------------------------------------

// A program that is loaded for a device, with values and buffers of its own. One thread at a time.
typedef struct baton_program baton_program;

enum {
  BATON_EXECUTOR_STREAM = 0,  // each step enqueued on a stream
  BATON_EXECUTOR_GRAPH = 1    // all steps as one CUDA graph
};
enum { BATON_PDL_AUTO = 0, BATON_PDL_OFF = 1, BATON_PDL_ON = 2 };

typedef struct baton_program_options {
  size_t size;
  int32_t executor;   // BATON_EXECUTOR_...
  int32_t pdl;        // BATON_PDL_...: the mode of steps that say auto
  int32_t use_cache;  // 0: without the compile cache
  int32_t reserved;
  int32_t rewrite;  // BATON_REWRITE_...: of the kernels that name none
  int32_t reserved_2;
} baton_program_options;
#define BATON_PROGRAM_OPTIONS_INIT                                                                 \
  {                                                                                                \
    sizeof(baton_program_options), BATON_EXECUTOR_STREAM, BATON_PDL_AUTO, 1, 0, BATON_REWRITE_OFF, \
        0                                                                                          \
  }

typedef struct baton_run_options {
  size_t size;
  uint64_t repeat;       // runs; the first one initialises, and its outputs are kept
  double timeout;        // seconds for all runs together; 0: none
  const char* schedule;  // "serial", "late", "early", "reverse", "random:7": of the simulated GPU
  const char* races;     // "usual", "global", "model": that the simulated GPU looks for
} baton_run_options;
#define BATON_RUN_OPTIONS_INIT \
  { sizeof(baton_run_options), 1, 0, NULL, NULL }

enum {
  BATON_ROLE_SCRATCH = 0,
  BATON_ROLE_INPUT = 1,
  BATON_ROLE_WEIGHT = 2,
  BATON_ROLE_OUTPUT = 3,
  BATON_ROLE_INOUT = 4,
  BATON_ROLE_STATE = 5,
  BATON_ROLE_CACHE = 6  // a state with rows below a counter that no step writes
};

typedef struct baton_buffer_info {
  size_t size;
  const char* name;
  const int64_t* shape;  // ndim extents
  void* address;         // in device memory
  uint64_t bytes;
  int32_t ndim;
  int32_t role;  // BATON_ROLE_...
  baton_dtype dtype;
  int32_t reserved;
} baton_buffer_info;
#define BATON_BUFFER_INFO_INIT \
  { sizeof(baton_buffer_info), NULL, NULL, NULL, 0, 0, 0, {0, 0, 0}, 0 }

// Parts of a bundle's program, without a device: the name of a kernel, a buffer, and a symbol with
// its default value, by their index in the program's order (`baton_bundle_info` has the counts). A
// buffer has a name, a role, a dtype and a number of dimensions here, and nothing else.
BATON_C_API baton_error* baton_bundle_kernel(const baton_bundle* bundle, size_t index,
                                             const char** name);
BATON_C_API baton_error* baton_bundle_buffer(const baton_bundle* bundle, size_t index,
                                             baton_buffer_info* info);
// The extent of a buffer along one axis, as the program writes it: "N", "ceildiv(N, 2)".
BATON_C_API baton_error* baton_bundle_extent(const baton_bundle* bundle, size_t buffer, size_t axis,
                                             const char** extent);
BATON_C_API baton_error* baton_bundle_symbol(const baton_bundle* bundle, size_t index,
                                             const char** name, int64_t* value);

// Loads a bundle's program for the device. `name` is the program's, or NULL; `options` may be NULL.
BATON_C_API baton_error* baton_program_load(const baton_bundle* bundle, const baton_device* device,
                                            const char* name, baton_program** program);
BATON_C_API baton_error* baton_program_load_with(const baton_bundle* bundle,
                                                 const baton_device* device, const char* name,
                                                 const baton_program_options* options,
                                                 baton_program** program);
// Reads a program file or a bundle, and loads its kernels for the device. `options` may be NULL.
BATON_C_API baton_error* baton_program_load_file(const char* path, const baton_device* device,
                                                 const baton_program_options* options,
                                                 baton_program** program);
// The same for a program text. `name` is its name in messages; relative paths in it start from
// `directory`. Both may be NULL.
BATON_C_API baton_error* baton_program_load_text(const char* toml, const char* name,
                                                 const char* directory, const baton_device* device,
                                                 const baton_program_options* options,
                                                 baton_program** program);
// Another instance of the same loaded program, with values and buffers of its own: instances run at
// once in several threads. It starts with no value set. Only the executor of `options` matters.
BATON_C_API baton_error* baton_program_instance(const baton_program* program,
                                                const baton_program_options* options,
                                                baton_program** instance);

// The kernel that the program calls `name`, as it was loaded.
BATON_C_API baton_error* baton_program_kernel(const baton_program* program, const char* name,
                                              baton_kernel** kernel);

// Set values. They take effect together, with the next bind, enqueue, run or check. An enqueue
// changes the bound program in place, without an allocation of device memory; a value that changes
// the shape of a buffer needs `baton_program_bind`.
BATON_C_API baton_error* baton_program_set_int(baton_program* program, const char* symbol,
                                               int64_t value);
// - A tensor in memory of the program's device becomes the buffer's memory, for every role. It must
//   stay allocated until the buffer gets another one, or the program ends. Nothing is copied into
//   it: a run starts with its contents.
// - A tensor in host memory becomes the first contents of an input, weight, inout or state buffer,
//   with the next bind. The library copies it now.
// The tensor must be contiguous and have the buffer's type and shape.
BATON_C_API baton_error* baton_program_set_tensor(baton_program* program, const char* buffer,
                                                  const baton_tensor* tensor);
// Forgets what was set for a symbol or a buffer, with the next bind.
BATON_C_API baton_error* baton_program_unset(baton_program* program, const char* name);
// The next binds take memory from the allocator, whose struct is copied; NULL is the driver. Memory
// that a buffer keeps from an earlier bind stays where it is. See `baton_memory_alloc_with`.
BATON_C_API baton_error* baton_program_set_allocator(baton_program* program,
                                                     const baton_allocator* allocator);
// Told by a bind, at most a few times a second, how far it is with the weights and states that it
// uploads. `bytes_done` and `bytes` are of all buffers; `buffer` is uploaded now. An error ends the
// bind, and is the error of the call.
typedef baton_error* (*baton_progress_function)(void* data, const char* buffer, uint64_t bytes_done,
                                                uint64_t bytes);
// Sets what the next binds call, from their thread; NULL for nothing.
BATON_C_API baton_error* baton_program_set_progress(baton_program* program,
                                                    baton_progress_function progress, void* data);
// Checks the whole program for these values, allocates its buffers, and uploads weights and states.
BATON_C_API baton_error* baton_program_bind(baton_program* program);

// Enqueues the steps on a stream of the program's device and returns. Does not wait or download.
// The first call after a bind gives the buffers their first contents; after that they keep what
// they have. While a graph is captured from the stream, the steps become nodes of the caller's
// graph. A program with if or while steps is launched as a graph by both executors. Before a capture
// of such a program, prepare it.
BATON_C_API baton_error* baton_program_enqueue(baton_program* program, const baton_stream* stream);
// Does what `enqueue` does once for a binding: makes or updates the graph.
BATON_C_API baton_error* baton_program_prepare(baton_program* program, const baton_stream* stream);
// Enqueues the first contents of all buffers but weights and states.
BATON_C_API baton_error* baton_program_initialise(baton_program* program,
                                                  const baton_stream* stream);
// Enqueues the first contents of a state buffer again.
BATON_C_API baton_error* baton_program_reset(baton_program* program, const char* state,
                                             const baton_stream* stream);
// Enqueue copies into and out of a buffer; see `baton_memory_upload`.
BATON_C_API baton_error* baton_program_upload(baton_program* program, const char* buffer,
                                              size_t offset, const void* source, size_t bytes,
                                              const baton_stream* stream);
BATON_C_API baton_error* baton_program_download(baton_program* program, const char* buffer,
                                                size_t offset, void* target, size_t bytes,
                                                const baton_stream* stream);
// Waits for the stream's work. The error of that work names the launch of this program. `timeout`
// is in seconds; 0 waits without a limit.
BATON_C_API baton_error* baton_program_wait(baton_program* program, const baton_stream* stream,
                                            double timeout);

// Binds where that is necessary, initialises the buffers, runs the steps, waits, and downloads the
// results: for tools and tests.
BATON_C_API baton_error* baton_program_run(baton_program* program);
BATON_C_API baton_error* baton_program_run_with(baton_program* program,
                                                const baton_run_options* options);
// Copies an output, inout or state buffer, as the last run left it, into host memory of exactly its
// size.
BATON_C_API baton_error* baton_program_output(baton_program* program, const char* buffer,
                                              void* target, size_t bytes);
// The findings of the last run.
BATON_C_API baton_error* baton_program_findings(baton_program* program, baton_findings** findings);

// The number of buffers, and one of them by its index or its name. Shape, address and bytes are
// known once the program is bound, and valid until the next bind.
BATON_C_API baton_error* baton_program_buffer_count(baton_program* program, size_t* count);
BATON_C_API baton_error* baton_program_buffer_at(baton_program* program, size_t index,
                                                 baton_buffer_info* info);
BATON_C_API baton_error* baton_program_buffer(baton_program* program, const char* name,
                                              baton_buffer_info* info);
BATON_C_API void baton_program_retain(baton_program* program);
BATON_C_API void baton_program_release(baton_program* program);

// ---- Checks ---------------------------------------------------------------------------------

// The facts about a program before it runs. Immutable.
typedef struct baton_check baton_check;

enum { BATON_VERDICT_PROVEN = 0, BATON_VERDICT_UNKNOWN = 1, BATON_VERDICT_UNSAFE = 2 };

// The order between two consecutive launches: may the later one start before the earlier one has
// completed?
typedef struct baton_edge {
  size_t size;
  const char* cause;            // "holds", "no_wait": a stable name (docs/pdl-verdicts.md)
  const char* reason;           // the cause in words
  const char* decision;         // "proven", "not_proven": a stable name
  const char* decision_reason;  // in words
  uint32_t from;                // launches, numbered from 0 in the program's order
  uint32_t to;
  int32_t verdict;          // BATON_VERDICT_...
  int32_t is_programmatic;  // the later launch may overlap the earlier one
} baton_edge;
#define BATON_EDGE_INIT \
  { sizeof(baton_edge), NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

// A change that may make an edge cheaper: a forecast, which no run has measured.
typedef struct baton_advice {
  size_t size;
  const char* text;  // a sentence
  double seconds;    // of one run, that it may save at most
} baton_advice;
#define BATON_ADVICE_INIT \
  { sizeof(baton_advice), NULL, 0 }

typedef struct baton_check_info {
  size_t size;
  uint64_t steps;  // in one run, with repeats unrolled
  size_t launch_count;
  size_t edge_count;
  size_t warning_count;
} baton_check_info;
#define BATON_CHECK_INFO_INIT \
  { sizeof(baton_check_info), 0, 0, 0, 0 }

// Checks the program for the values that are set, without memory for buffers. An unsafe edge is not
// an error of this function: `baton_check_objection` has it.
BATON_C_API baton_error* baton_program_check(baton_program* program, baton_check** check);
BATON_C_API baton_error* baton_check_get_info(const baton_check* check, baton_check_info* info);
BATON_C_API baton_error* baton_check_edge(const baton_check* check, size_t index, baton_edge* edge);
// The number of changes that may make the edge of that index cheaper, and one of them, the largest
// forecast first. Devices without programmatic dependent launch have none.
BATON_C_API baton_error* baton_check_advice_count(const baton_check* check, size_t edge,
                                                  size_t* count);
BATON_C_API baton_error* baton_check_advice(const baton_check* check, size_t edge, size_t index,
                                            baton_advice* advice);
BATON_C_API baton_error* baton_check_warning(const baton_check* check, size_t index,
                                             const char** warning);
// The parts of the SMs that launches of the program run on (`sms` of a launch), by number.
BATON_C_API baton_error* baton_check_part_count(const baton_check* check, size_t* count);
// The SMs that were asked for and given; either may be NULL. `launches` gets the numbers of the
// launches on the part, as many as `launch_count`, and lives as long as the check. It may be NULL.
BATON_C_API baton_error* baton_check_part(const baton_check* check, size_t index, uint32_t* asked,
                                          uint32_t* given, const uint32_t** launches,
                                          size_t* launch_count);
// Returns the error of the first edge that is unsafe and not switched off, or of an edge that the
// program requires; NULL if there is none.
BATON_C_API baton_error* baton_check_objection(const baton_check* check);
BATON_C_API void baton_check_retain(baton_check* check);
BATON_C_API void baton_check_release(baton_check* check);

#ifdef __cplusplus
}
#endif

#endif  // BATON_H_
