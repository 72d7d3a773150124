#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int argument_count = 0;
static char *const *argument_list = NULL;

// glibc hands the arguments of `main` to each constructor.
__attribute__((constructor)) static void remember_arguments(int count, char **arguments) {
    argument_count = count;
    argument_list = arguments;
}

char *const *clinux_arguments(int *count) {
    *count = argument_count;
    return argument_list;
}

int clinux_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

static int signal_pipe[2] = {-1, -1};

static void write_signal(int signal_number) {
    int saved_errno = errno;
    unsigned char byte = (unsigned char)signal_number;
    // A full pipe means that signals wait to be read already: this one can be dropped.
    ssize_t written = write(signal_pipe[1], &byte, 1);
    (void)written;
    errno = saved_errno;
}

int clinux_signal_pipe(const int *signals, int count) {
    if (signal_pipe[0] < 0 && pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    struct sigaction action = {.sa_handler = write_signal, .sa_flags = SA_RESTART};
    for (int index = 0; index < count; index++) {
        if (sigaction(signals[index], &action, NULL) != 0) return -1;
    }
    // A program that is started by a thread which blocks signals inherits that. One thread that does not is enough.
    sigset_t set;
    sigemptyset(&set);
    for (int index = 0; index < count; index++) sigaddset(&set, signals[index]);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return signal_pipe[0];
}
