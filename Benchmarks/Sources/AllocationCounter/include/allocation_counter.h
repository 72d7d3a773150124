#ifndef APUS_ALLOCATION_COUNTER_H
#define APUS_ALLOCATION_COUNTER_H

#include <stdint.h>

/// How many times memory was allocated in this process: malloc, calloc, realloc, memalign and their kin.
uint64_t apus_allocation_count(void);

#endif
