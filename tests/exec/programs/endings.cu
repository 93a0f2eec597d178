// Programs that clean up or end in ways of their own. Each has a race before that, and a fault after.
#include <fcntl.h>
#include <unistd.h>

#include "planted.cuh"

__global__ void race(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void write_far(int* out) {
  out[threadIdx.x + 100000] = 1;
}
int* g_words;

const Case kCases[] = {
    // As daemons do; the program's own file then gets the number of one that was closed.
    {"closes_descriptors",
     [] {
       g_words = device_words(64);
       race<<<1, 64>>>(g_words);
       CHECK(cudaDeviceSynchronize());
       for (int file = 3; file < 256; ++file) close(file);
       int own[16];
       for (int& file : own) file = open("/dev/null", O_WRONLY);
       const int text = open("own.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
       for (const int file : own) {
         if (file >= 0) dup2(text, file);
       }
       write_far<<<1, 64>>>(g_words);
       cudaDeviceSynchronize();
       const off_t end = lseek(text, 0, SEEK_END);
       std::printf("%ld bytes\n", static_cast<long>(end));
     }},
    {"launches_at_exit",
     [] {
       g_words = device_words(64);
       race<<<1, 64>>>(g_words);
       CHECK(cudaDeviceSynchronize());
       std::atexit([] {
         write_far<<<1, 64>>>(g_words);
         std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
       });
     }},
};

int main(int count, char** values) {
  return run_case(kCases, count, values);
}
