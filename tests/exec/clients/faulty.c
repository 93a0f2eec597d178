/* A program with a planted error: its kernel works on more words than there are.
   faulty [WORDS TOO MANY] [how it goes on: return, abort, fork] */
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

static int work(unsigned surplus) {
  begin();
  const CUfunction twice = load_twice();
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, 400));
  CHECK(cuMemsetD32(memory, 1, 100));
  launch_twice(twice, memory, 100 + surplus, NULL);
  const CUresult result = cuCtxSynchronize();
  printf("result %d\n", result);
  fflush(stdout);
  return result;
}

int main(int count, char** values) {
  const unsigned surplus = count > 1 ? (unsigned)atoi(values[1]) : 0;
  const char* end = count > 2 ? values[2] : "return";
  if (strcmp(end, "fork") == 0) {
    /* Two children use the GPU, each for itself; the parent does not. */
    for (int k = 0; k < 2; ++k) {
      if (fork() == 0) exit(work(surplus) == 0 ? 0 : 1);
    }
    while (wait(NULL) > 0) continue;
    return 0;
  }
  work(surplus);
  if (strcmp(end, "abort") == 0) abort();
  return 0;
}
