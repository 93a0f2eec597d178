// The engine of engine.cc in C: three sequences, from one bundle, on three streams.
//
//   engine_c decode_loop.baton [tokens]
#include <baton.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEQUENCES = 3 };

typedef struct sequence {
  baton_stream* stream;
  baton_program* program;
  int32_t first;  // stays while its copy may be under way
} sequence;

// Returns from the calling function with the error of a call that failed.
#define TRY(call)                      \
  do {                                 \
    baton_error* const error = (call); \
    if (error != NULL) return error;   \
  } while (0)

static baton_error* begin(sequence* self, const baton_device* device, const baton_program* loaded,
                          int32_t first) {
  baton_program_options options = BATON_PROGRAM_OPTIONS_INIT;
  options.executor = BATON_EXECUTOR_GRAPH;
  self->first = first;
  TRY(baton_stream_create(device, 0, &self->stream));
  TRY(baton_program_instance(loaded, &options, &self->program));
  TRY(baton_program_bind(self->program));
  TRY(baton_program_initialise(self->program, self->stream));
  TRY(baton_program_prepare(self->program, self->stream));
  return baton_program_upload(self->program, "token", 0, &self->first, sizeof(self->first),
                              self->stream);
}

static baton_error* print(sequence* self, size_t count, int32_t* tokens) {
  TRY(baton_program_download(self->program, "tokens", 0, tokens, count * sizeof(tokens[0]),
                             self->stream));
  TRY(baton_program_wait(self->program, self->stream, 0));
  for (size_t i = 0; i < count; ++i) printf("%d ", (int)tokens[i]);
  printf("\n");
  return NULL;
}

static baton_error* decode(sequence* sequences, const baton_device* device,
                           const baton_program* loaded, size_t count, int32_t* tokens,
                           size_t room) {
  for (int32_t i = 0; i < SEQUENCES; ++i) TRY(begin(&sequences[i], device, loaded, i));
  baton_buffer_info info = BATON_BUFFER_INFO_INIT;
  TRY(baton_program_buffer(sequences[0].program, "tokens", &info));
  if ((uint64_t)count * sizeof(tokens[0]) > info.bytes || count > room) {
    fprintf(stderr, "%zu tokens are more than the caches hold; fewer are decoded\n", count);
    count = info.bytes / sizeof(tokens[0]) < room ? info.bytes / sizeof(tokens[0]) : room;
  }
  for (size_t token = 0; token < count; ++token) {
    for (int i = 0; i < SEQUENCES; ++i) {
      TRY(baton_program_enqueue(sequences[i].program, sequences[i].stream));
    }
  }
  for (int i = 0; i < SEQUENCES; ++i) TRY(print(&sequences[i], count, tokens));
  return NULL;
}

int main(int argc, char** argv) {
  static int32_t tokens[4096];
  sequence sequences[SEQUENCES] = {{NULL, NULL, 0}};
  baton_device* device = NULL;
  baton_bundle* bundle = NULL;
  baton_program* loaded = NULL;
  if (argc < 2) {
    fprintf(stderr, "usage: engine_c BUNDLE [TOKENS]\n");
    return 2;
  }
  const size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 16;
  baton_error* error = baton_device_open(NULL, NULL, &device);
  if (error == NULL) error = baton_bundle_open(argv[1], BATON_VERIFY_INDEX, &bundle);
  if (error == NULL) error = baton_program_load(bundle, device, NULL, &loaded);
  if (error == NULL) {
    error = decode(sequences, device, loaded, count, tokens, sizeof(tokens) / sizeof(tokens[0]));
  }
  for (int i = 0; i < SEQUENCES; ++i) {
    baton_program_release(sequences[i].program);
    baton_stream_release(sequences[i].stream);
  }
  baton_program_release(loaded);
  baton_bundle_release(bundle);
  baton_device_release(device);
  if (error == NULL) return 0;
  fprintf(stderr, "error: %s\n", baton_error_text(error));
  baton_error_release(error);
  return 1;
}
