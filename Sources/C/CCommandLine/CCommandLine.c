#define _GNU_SOURCE
#include "CCommandLine.h"
#include <stddef.h>
#include <unistd.h>

void ccommandline_getopt_reset(void) {
    // 0 rather than 1 makes glibc forget a cluster of short options that an earlier scan left half read.
    optind = 0;
    opterr = 0;
}

struct ccommandline_getopt_step ccommandline_getopt_next(
    int count, char **arguments, const char *short_options, const struct option *long_options) {
    struct ccommandline_getopt_step step;
    optarg = NULL;
    optopt = 0;
    step.code = getopt_long(count, arguments, short_options, long_options, NULL);
    step.offending_code = optopt;
    step.next_index = optind;
    step.argument = optarg;
    return step;
}

char *const *ccommandline_environment(void) { return environ; }
