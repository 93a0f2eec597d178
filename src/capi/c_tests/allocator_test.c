// Device memory from functions of the caller.

#include "c_test.h"

static const char kProgram[] =
    "name = \"fill\"\n"
    "[symbols]\nN = 1000\n"
    "[buffers.t]\ndtype = \"i32\"\nshape = [\"N\"]\n"
    "[buffers.y]\ndtype = \"i32\"\nshape = [\"N\"]\nrole = \"output\"\n"
    "[[steps]]\nfill = { buffer = \"t\", value = 7 }\n"
    "[[steps]]\ncopy = { from = \"t\", to = \"y\" }\n";

// An arena in one block of memory, which hands out what lies beyond what was handed out before.
typedef struct arena {
  char* begin;
  size_t bytes;
  size_t used;
  int held;      // allocations that were not taken back
  int released;  // calls of release
  int fails;     // the next allocation returns an error
  int crooked;   // addresses are no multiple of 256
} arena;

static baton_device* device;

static baton_error* arena_allocate(void* data, const baton_device* on, size_t bytes,
                                   void** address) {
  arena* from = (arena*)data;
  baton_device_info info = BATON_DEVICE_INFO_INIT;
  baton_error* error = baton_device_get_info(on, &info);
  if (error != NULL) return error;
  if (from->fails) return baton_error_create(BATON_ERROR_UNSUPPORTED, "the arena is closed");
  bytes = (bytes + 255) / 256 * 256;
  if (bytes > from->bytes - from->used) return NULL;
  *address = from->begin + from->used + (from->crooked ? 4 : 0);
  from->used += bytes;
  ++from->held;
  return NULL;
}

static void arena_free(void* data, const baton_device* on, void* address, size_t bytes) {
  arena* from = (arena*)data;
  CHECK(on != NULL && bytes != 0);
  CHECK((char*)address >= from->begin && (char*)address < from->begin + from->bytes);
  --from->held;
}

static void arena_release(void* data) {
  ++((arena*)data)->released;
}

static baton_allocator allocator_of(arena* from) {
  baton_allocator allocator = BATON_ALLOCATOR_INIT;
  allocator.data = from;
  allocator.allocate = arena_allocate;
  allocator.free = arena_free;
  allocator.release = arena_release;
  return allocator;
}

static arena make_arena(baton_memory* memory) {
  arena made = {NULL, 0, 0, 0, 0, 0, 0};
  void* begin = NULL;
  REQUIRE_OK(baton_memory_address(memory, &begin));
  REQUIRE_OK(baton_memory_bytes(memory, &made.bytes));
  made.begin = (char*)begin;
  return made;
}

static void memory_comes_from_it(baton_memory* block) {
  arena from = make_arena(block);
  const baton_allocator allocator = allocator_of(&from);
  baton_memory* memory = NULL;
  baton_memory* none = NULL;
  void* address = NULL;
  char text[] = "kept in the arena";
  char copy[sizeof(text)] = "";
  REQUIRE_OK(baton_memory_alloc_with(device, sizeof(text), &allocator, &memory));
  OK(baton_memory_address(memory, &address));
  CHECK(address == from.begin);
  OK(baton_memory_upload(memory, 0, text, sizeof(text), NULL));
  OK(baton_memory_download(memory, 0, copy, sizeof(copy), NULL));
  OK(baton_device_synchronize(device));
  CHECK(strcmp(text, copy) == 0);
  CHECK(from.held == 1 && from.released == 0);
  baton_memory_release(memory);
  CHECK(from.held == 0 && from.released == 1);

  FAILS(baton_memory_alloc_with(device, from.bytes + 1, &allocator, &none),
        BATON_ERROR_OUT_OF_MEMORY, "the allocator has none left");
  CHECK(none == NULL && from.released == 2);
  from.fails = 1;
  FAILS(baton_memory_alloc_with(device, 8, &allocator, &none), BATON_ERROR_UNSUPPORTED,
        "the arena is closed");
  CHECK(from.released == 3);
  from.fails = 0;
  from.crooked = 1;
  REFUSED(baton_memory_alloc_with(device, 8, &allocator, &none), "it must be a multiple of 256");
  CHECK(from.held == 0 && from.released == 4);
  // No bytes take no memory.
  REQUIRE_OK(baton_memory_alloc_with(device, 0, &allocator, &memory));
  CHECK(from.held == 0);
  baton_memory_release(memory);
  CHECK(from.released == 5);
  // Without an allocator: the driver.
  REQUIRE_OK(baton_memory_alloc_with(device, 8, NULL, &memory));
  baton_memory_release(memory);
}

static void programs_take_it(baton_memory* block) {
  arena from = make_arena(block);
  const baton_allocator allocator = allocator_of(&from);
  baton_program* program = NULL;
  baton_buffer_info info = BATON_BUFFER_INFO_INIT;
  int y[1000];
  REQUIRE_OK(baton_program_load_text(kProgram, NULL, NULL, device, NULL, &program));
  OK(baton_program_set_allocator(program, &allocator));
  OK(baton_program_run(program));
  OK(baton_program_output(program, "y", y, sizeof(y)));
  CHECK(y[0] == 7 && y[999] == 7);
  CHECK(from.held == 2);
  OK(baton_program_buffer(program, "t", &info));
  CHECK((char*)info.address >= from.begin && (char*)info.address < from.begin + from.bytes);
  // The next bind that allocates takes the driver.
  OK(baton_program_set_allocator(program, NULL));
  OK(baton_program_set_int(program, "N", 2000));
  OK(baton_program_bind(program));
  CHECK(from.held == 0 && from.released == 1);
  baton_program_release(program);

  from.fails = 1;
  REQUIRE_OK(baton_program_load_text(kProgram, NULL, NULL, device, NULL, &program));
  OK(baton_program_set_allocator(program, &allocator));
  FAILS(baton_program_bind(program), BATON_ERROR_UNSUPPORTED, "the arena is closed");
  from.fails = 0;
  from.used = 0;
  OK(baton_program_bind(program));
  CHECK(from.held == 2);
  baton_program_release(program);
  CHECK(from.held == 0 && from.released == 2);
}

static void structs_are_checked(void) {
  arena from = {NULL, 0, 0, 0, 0, 0, 0};
  baton_allocator allocator = allocator_of(&from);
  baton_memory* none = NULL;
  allocator.allocate = NULL;
  REFUSED(baton_memory_alloc_with(device, 8, &allocator, &none),
          "baton_memory_alloc_with: allocator->allocate is a null pointer");
  allocator = allocator_of(&from);
  allocator.free = NULL;
  REFUSED(baton_memory_alloc_with(device, 8, &allocator, &none), "allocator->free is a null");
  allocator = allocator_of(&from);
  allocator.size = 3;
  REFUSED(baton_memory_alloc_with(device, 8, &allocator, &none), "allocator");
  REFUSED(baton_memory_alloc_with(NULL, 8, NULL, &none), "device is a null pointer");
  REFUSED(baton_memory_alloc_with(device, 8, NULL, NULL), "memory is a null pointer");
  REFUSED(baton_program_set_allocator(NULL, NULL), "program is a null pointer");
  CHECK(from.released == 0);
}

static void errors_are_made(void) {
  baton_error* error = baton_error_create(BATON_ERROR_LIMIT, "no room");
  CHECK(baton_error_code(error) == BATON_ERROR_LIMIT);
  CHECK(strcmp(baton_error_message(error), "no room") == 0);
  baton_error_release(error);
  error = baton_error_create(12345, NULL);
  CHECK(baton_error_code(error) == BATON_ERROR_INVALID_INPUT);
  CHECK(strcmp(baton_error_message(error), "") == 0);
  baton_error_release(error);
}

int main(void) {
  baton_memory* block = NULL;
  device = open_test_device();
  REQUIRE_OK(baton_memory_alloc(device, 1 << 16, &block));
  memory_comes_from_it(block);
  programs_take_it(block);
  structs_are_checked();
  errors_are_made();
  baton_memory_release(block);
  baton_device_release(device);
  return finish_test();
}
