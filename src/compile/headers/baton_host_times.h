#pragma once
// What sys/timeb.h and sys/times.h hold for the host parts of a .cu file.
#ifdef BATON_HOST_CODE

struct timeb {
  time_t time;
  unsigned short millitm;
};
struct tms {
  clock_t tms_utime, tms_stime, tms_cutime, tms_cstime;
};
BATON_HOST(int, ftime)
BATON_HOST(clock_t, times)

#endif
