#pragma once
// What getopt.h holds for the host parts of a .cu file.
#ifdef BATON_HOST_CODE

#include <baton_host_posix.h>

struct option {
  const char* name;
  int has_arg;
  int* flag;
  int val;
};
enum { no_argument, required_argument, optional_argument };
BATON_HOST(int, getopt_long)

#endif
