#pragma once

#include <getopt.h>

// One step of getopt_long. Its state is in global variables, which Swift 6 refuses to read, so the step copies out
// what it said. Not safe for two threads at once: the caller holds a lock from `ccommandline_getopt_reset` to the last step.
struct ccommandline_getopt_step {
    int code;             // what getopt_long returned; -1 at the end of the options
    int offending_code;   // `optopt`
    int next_index;       // `optind`
    const char *argument; // `optarg`, or NULL
};

void ccommandline_getopt_reset(void);
struct ccommandline_getopt_step ccommandline_getopt_next(
    int count, char **arguments, const char *short_options, const struct option *long_options);

// The process's environment: a variable of the C library that Swift 6 refuses to read. Read it before any thread starts.
char *const *ccommandline_environment(void);
