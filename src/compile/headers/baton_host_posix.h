#pragma once
// What POSIX's, C's character and OpenMP's headers hold for the host parts of a .cu file.
#ifdef BATON_HOST_CODE

typedef long ssize_t;
typedef long off_t;
struct timezone {
  int tz_minuteswest;
  int tz_dsttime;
};
struct rusage {
  timeval ru_utime;
  timeval ru_stime;
  long ru_maxrss;
};
struct stat {
  unsigned st_mode;
  off_t st_size;
};
struct sched_param {
  int sched_priority;
};
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define RUSAGE_SELF 0
#define SCHED_FIFO 1
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_TRUNC 01000
#define S_IRUSR 0400
#define S_IWUSR 0200
#define SIGINT 2
#define SIGTERM 15
#define errno (*(int*)0)
BATON_HOST(int, clock_gettime)
BATON_HOST(int, getrusage)
BATON_HOST(int, nanosleep)
BATON_HOST(int, sleep)
BATON_HOST(int, usleep)
BATON_HOST(int, open)
BATON_HOST(int, close)
BATON_HOST(int, fstat)
BATON_HOST(int, stat)
BATON_HOST(int, mkdir)
BATON_HOST(int, access)
BATON_HOST(int, unlink)
BATON_HOST(int, getpid)
BATON_HOST(int, getopt)
BATON_HOST(int, getopt_long)
BATON_HOST(int, sched_setscheduler)
BATON_HOST(int, isatty)
BATON_HOST(ssize_t, read)
BATON_HOST(ssize_t, write)
BATON_HOST(ssize_t, lseek)
BATON_HOST(long, sysconf)
BATON_HOST(void, _exit)
BATON_HOST(int, isspace)
BATON_HOST(int, isdigit)
BATON_HOST(int, isalpha)
BATON_HOST(int, isalnum)
BATON_HOST(int, isupper)
BATON_HOST(int, islower)
BATON_HOST(int, isprint)
BATON_HOST(int, toupper)
BATON_HOST(int, tolower)
BATON_HOST(int, omp_get_num_threads)
BATON_HOST(int, omp_get_max_threads)
BATON_HOST(int, omp_get_thread_num)
BATON_HOST(int, omp_get_num_procs)
BATON_HOST(void, omp_set_num_threads)
BATON_HOST(double, omp_get_wtime)

#endif
