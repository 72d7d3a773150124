// Stops all clocks. A program that is started with this library in LD_PRELOAD calls this function in place of the C
// library's: no timer of its own becomes due, however slowly it runs, so it does the same in every run.

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stopped_clock.h"

#define CLOCKS 16

int clock_gettime(clockid_t clock, struct timespec *now) {
    static struct timespec stopped[CLOCKS];
    if (clock < 0 || clock >= CLOCKS) return (int)syscall(SYS_clock_gettime, clock, now);
    // Two threads that ask at once for the first time may be told times that differ a little, which does no harm.
    if (stopped[clock].tv_sec == 0) syscall(SYS_clock_gettime, clock, &stopped[clock]);
    *now = stopped[clock];
    return 0;
}
