#define _GNU_SOURCE
#include "CLinux.h"

int clinux_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }
