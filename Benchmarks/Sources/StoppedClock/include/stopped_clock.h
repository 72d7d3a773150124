#ifndef APUS_STOPPED_CLOCK_H
#define APUS_STOPPED_CLOCK_H

#include <time.h>

/// The time of a clock when it was asked for the first time.
int clock_gettime(clockid_t clock, struct timespec *now);

#endif
