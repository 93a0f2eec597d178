#pragma once
// What the host parts of a .cu file name, declared and never defined: the compiler reads past them
// and drops every function that no kernel calls. Put in front of sources that launch kernels by
// <<<>>>, and what the headers of C's library hold: nvcc brings them in by itself.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define BATON_HOST_CODE

// The platform, for sources that ask before they include.
#define __linux__ 1
#define __linux 1
#define __gnu_linux__ 1
#define __unix__ 1
#define __unix 1

// The compiler refuses functions that are marked for the host alone.
#undef __host__
#define __host__ __attribute__((host)) __attribute__((device))

// The functions of C are templates that take "...": a function of that name that a source brings
// itself is a better match for every call, so device code means what it meant.
// Headers of C are included within extern "C" { } at times.
#define BATON_HOST(type, name)  \
  extern "C++" {                \
  template <typename = void>    \
  __host__ type name(...);      \
  }

typedef struct _IO_FILE FILE;
// Functions, as a variable would become one of the module; in brackets, so that a source's own
// "extern FILE* stderr;" declares the same function once more.
__host__ FILE* baton_file();
#define stdin (baton_file())
#define stdout (baton_file())
#define stderr (baton_file())
#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define BUFSIZ 8192
BATON_HOST(int, fprintf)
BATON_HOST(int, vfprintf)
BATON_HOST(int, sprintf)
BATON_HOST(int, snprintf)
BATON_HOST(int, vsnprintf)
BATON_HOST(int, fscanf)
BATON_HOST(int, scanf)
BATON_HOST(int, sscanf)
BATON_HOST(int, fclose)
BATON_HOST(int, fflush)
BATON_HOST(int, feof)
BATON_HOST(int, ferror)
BATON_HOST(int, fseek)
BATON_HOST(int, fgetc)
BATON_HOST(int, getc)
BATON_HOST(int, getchar)
BATON_HOST(int, ungetc)
BATON_HOST(int, fputc)
BATON_HOST(int, putc)
BATON_HOST(int, putchar)
BATON_HOST(int, puts)
BATON_HOST(int, fputs)
BATON_HOST(int, remove)
BATON_HOST(int, rename)
BATON_HOST(int, setvbuf)
BATON_HOST(long, ftell)
BATON_HOST(size_t, fread)
BATON_HOST(size_t, fwrite)
BATON_HOST(char*, fgets)
BATON_HOST(void, perror)
BATON_HOST(int, ffs)
BATON_HOST(int, ffsl)
BATON_HOST(int, ffsll)
BATON_HOST(double, cbrtl)
BATON_HOST(double, expl)
BATON_HOST(double, fabsl)
BATON_HOST(double, fmaxl)
BATON_HOST(double, fminl)
BATON_HOST(double, logl)
BATON_HOST(double, powl)
BATON_HOST(double, sqrtl)
BATON_HOST(void, rewind)
BATON_HOST(FILE*, fopen)
BATON_HOST(FILE*, freopen)
BATON_HOST(FILE*, tmpfile)

#define RAND_MAX 2147483647
BATON_HOST(int, atoi)
BATON_HOST(int, rand)
BATON_HOST(int, rand_r)
BATON_HOST(int, system)
BATON_HOST(int, atexit)
BATON_HOST(int, setenv)
BATON_HOST(int, posix_memalign)
BATON_HOST(long, atol)
BATON_HOST(long, strtol)
BATON_HOST(long, random)
BATON_HOST(long, lrand48)
BATON_HOST(long long, atoll)
BATON_HOST(long long, strtoll)
BATON_HOST(unsigned long, strtoul)
BATON_HOST(unsigned long long, strtoull)
BATON_HOST(double, atof)
BATON_HOST(double, strtod)
BATON_HOST(double, drand48)
BATON_HOST(float, strtof)
BATON_HOST(char*, getenv)
BATON_HOST(void*, calloc)
BATON_HOST(void*, realloc)
BATON_HOST(void*, aligned_alloc)
BATON_HOST(void*, memalign)
BATON_HOST(void*, bsearch)
BATON_HOST(void, exit)
BATON_HOST(void, abort)
BATON_HOST(void, srand)
BATON_HOST(void, srand48)
BATON_HOST(void, srandom)
BATON_HOST(void, qsort)

BATON_HOST(int, strcmp)
BATON_HOST(int, strncmp)
BATON_HOST(int, strcasecmp)
BATON_HOST(int, strncasecmp)
BATON_HOST(int, memcmp)
BATON_HOST(size_t, strlen)
BATON_HOST(size_t, strspn)
BATON_HOST(size_t, strcspn)
BATON_HOST(char*, strcpy)
BATON_HOST(char*, strncpy)
BATON_HOST(char*, strcat)
BATON_HOST(char*, strncat)
BATON_HOST(char*, strchr)
BATON_HOST(char*, strrchr)
BATON_HOST(char*, strstr)
BATON_HOST(char*, strtok)
BATON_HOST(char*, strdup)
BATON_HOST(char*, strerror)
BATON_HOST(void*, memmove)
BATON_HOST(void*, memchr)

typedef long long int time_t;  // as CUDA's own headers have it without a host
struct timespec {
  long tv_sec;
  long tv_nsec;
};
struct timeval {
  long tv_sec;
  long tv_usec;
};
struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};
#ifndef CLOCKS_PER_SEC
#define CLOCKS_PER_SEC 1000000
#endif
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
BATON_HOST(time_t, time)
BATON_HOST(time_t, mktime)
BATON_HOST(double, difftime)
BATON_HOST(tm*, localtime)
BATON_HOST(tm*, gmtime)
BATON_HOST(char*, ctime)
BATON_HOST(char*, asctime)
BATON_HOST(int, timespec_get)
BATON_HOST(int, clock_gettime)
BATON_HOST(int, nanosleep)
BATON_HOST(int, gettimeofday)

#include <baton_host_cuda.h>
