#pragma once

// Linux interfaces that Swift's Glibc module does not export, or exports as macros.

#include <pthread.h>
#include <signal.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

// EPOLLIN and its siblings are members of an anonymous enum, which Swift imports with a type of its own.
static inline uint32_t clinux_epollin_each_edge(void) { return EPOLLIN | (uint32_t)EPOLLET; }
static inline uint32_t clinux_epollout(void) { return EPOLLOUT; }
static inline uint32_t clinux_epollerr(void) { return EPOLLERR; }
static inline uint32_t clinux_epollhup(void) { return EPOLLHUP; }
static inline uint32_t clinux_epollrdhup(void) { return EPOLLRDHUP; }

// `data` is a union, and the structure is packed on x86-64: both are awkward from Swift.
static inline int clinux_epoll_control(int epoll_fd, int operation, int fd, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll_fd, operation, fd, &event);
}
static inline uint64_t clinux_epoll_token(const struct epoll_event *event) { return event->data.u64; }
static inline uint32_t clinux_epoll_events(const struct epoll_event *event) { return event->events; }

static inline int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
static inline int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

// The arguments of `main`, the program's name first. Swift's runtime looks for them beside the environment on the
// stack, and finds none if a preloaded library has moved the environment (libfaketime, libfakechroot).
char *const *clinux_arguments(int *count);

// `pthread_setname_np` needs _GNU_SOURCE, which Swift's Glibc module is not built with.
int clinux_set_thread_name(const char *name);

// A signal handler may do next to nothing, so this one writes the number of the signal, as one byte, to a pipe. The
// answer is the end to read from, or -1 with errno. A second call gives the same pipe, for more signals.
int clinux_signal_pipe(const int *signals, int count);

// <malloc.h> is not part of Swift's Glibc module. Blocks from the first size on are the system's own, and go back to it
// when they are freed; of the second size is what may be free at the end of a heap.
static inline void clinux_return_large_blocks(int block_bytes, int free_bytes) {
    mallopt(M_MMAP_THRESHOLD, block_bytes);
    mallopt(M_TRIM_THRESHOLD, free_bytes);
}
