#pragma once
// What POSIX's, C's character and OpenMP's headers hold for the host parts of a .cu file, but for
// those with names that sources are likely to give to something else.
#ifdef BATON_HOST_CODE

#define _POSIX_VERSION 200809L
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
struct DIR;
struct dirent {
  char d_name[256];
};
typedef unsigned long pthread_t;
struct pthread_attr_t {};
struct pthread_mutex_t {};
struct pthread_cond_t {};
struct pthread_barrier_t {};
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
// As with stderr, a source may say "extern int optind;".
__host__ int* baton_host_number();
__host__ char** baton_host_text();
#define errno (*baton_host_number())
#define optarg (*baton_host_text())
#define optind (*baton_host_number())
#define opterr (*baton_host_number())
#define optopt (*baton_host_number())
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 32
#define MAP_FAILED ((void*)-1)
BATON_HOST(int, getrusage)
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
BATON_HOST(DIR*, opendir)
BATON_HOST(dirent*, readdir)
BATON_HOST(int, closedir)
BATON_HOST(void*, mmap)
BATON_HOST(int, munmap)
BATON_HOST(int, pthread_create)
BATON_HOST(int, pthread_join)
BATON_HOST(int, pthread_mutex_init)
BATON_HOST(int, pthread_mutex_lock)
BATON_HOST(int, pthread_mutex_unlock)
BATON_HOST(int, pthread_mutex_destroy)
BATON_HOST(int, pthread_barrier_init)
BATON_HOST(int, pthread_barrier_wait)
BATON_HOST(void, pthread_exit)
BATON_HOST(pthread_t, pthread_self)
BATON_HOST(int, omp_get_num_threads)
BATON_HOST(int, omp_get_max_threads)
BATON_HOST(int, omp_get_thread_num)
BATON_HOST(int, omp_get_num_procs)
BATON_HOST(void, omp_set_num_threads)
BATON_HOST(double, omp_get_wtime)

#endif
