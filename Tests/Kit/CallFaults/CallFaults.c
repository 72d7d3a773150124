#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CallFaults.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { KIND_NONE, KIND_READ, KIND_WRITE, KIND_SYNC, KIND_THREAD };
enum manner { AS_RESET, AS_CUT, AS_END, AS_SHORT, AS_AGAIN, AS_FULL, AS_BROKEN };

static enum kind wanted_kind = KIND_NONE;
static enum manner manner = AS_RESET;
static unsigned wanted_port;
static const char *wanted_file;
static const char *report_path, *while_path;
static unsigned long first_failing, failing_count;
static atomic_ulong counted;

unsigned long call_faults_counted(void) { return atomic_load(&counted); }

static const char *text(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static unsigned long number(const char *name, unsigned long otherwise) {
    const char *value = text(name);
    return value ? strtoul(value, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void prepare(void) {
    static const char *const manners[] = {"reset", "cut", "end", "short", "again", "full", "broken"};
    const char *kind = text("CALL_FAULT_CALL");
    const char *as = text("CALL_FAULT_AS");
    if (!kind) return;
    for (unsigned index = 0; as && index < sizeof manners / sizeof *manners; index++)
        if (!strcmp(as, manners[index])) manner = (enum manner)index;
    wanted_port = (unsigned)number("CALL_FAULT_PORT", 0);
    wanted_file = text("CALL_FAULT_FILE");
    report_path = text("CALL_FAULT_REPORT");
    while_path = text("CALL_FAULT_WHILE");
    first_failing = number("CALL_FAULT_KTH", 0);
    failing_count = number("CALL_FAULT_TIMES", 1);
    if (text("CALL_FAULT_ONCE") && report_path && !access(report_path, F_OK)) return;
    // Last: until here no call is looked at.
    wanted_kind = !strcmp(kind, "read")    ? KIND_READ
                  : !strcmp(kind, "write") ? KIND_WRITE
                  : !strcmp(kind, "sync")  ? KIND_SYNC
                  : !strcmp(kind, "thread") ? KIND_THREAD
                                            : KIND_NONE;
}

// Whether calls on this descriptor are those that are counted.
static bool is_wanted(int descriptor) {
    if (wanted_kind == KIND_THREAD) return true;
    if (wanted_port) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        if (getpeername(descriptor, (struct sockaddr *)&address, &length)) return false;
        if (address.ss_family == AF_INET)
            return ntohs(((struct sockaddr_in *)&address)->sin_port) == wanted_port;
        return address.ss_family == AF_INET6 && ntohs(((struct sockaddr_in6 *)&address)->sin6_port) == wanted_port;
    }
    if (wanted_file) {
        char link[64], path[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(link, path, sizeof path - 1);
        if (length <= 0) return false;
        path[length] = 0;
        return strstr(path, wanted_file) != NULL;
    }
    return false;
}

static void report(unsigned long call) {
    if (!report_path) return;
    int descriptor = open(report_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0) return;
    dprintf(descriptor, "%lu\n", call);
    close(descriptor);
}

// Counts a call; the answer is whether it has to fail.
static bool strikes(enum kind kind, int descriptor) {
    if (kind != wanted_kind || !first_failing) return false;
    int saved = errno;
    bool is_on = !while_path || !access(while_path, F_OK);
    bool fails = false;
    if (is_on && is_wanted(descriptor)) {
        unsigned long call = atomic_fetch_add(&counted, 1) + 1;
        fails = call >= first_failing && call - first_failing < failing_count;
        if (fails) report(call);
    }
    errno = saved;
    return fails;
}

static ssize_t fail(int code) {
    errno = code;
    return -1;
}

// The result of a call that fails before anything is done.
static ssize_t failure(int descriptor) {
    switch (manner) {
    case AS_RESET:
    case AS_CUT:
        shutdown(descriptor, SHUT_RDWR);
        return fail(ECONNRESET);
    case AS_END:
        shutdown(descriptor, SHUT_RDWR);
        return 0;
    case AS_AGAIN: return fail(EAGAIN);
    case AS_FULL: return fail(ENOSPC);
    default: return fail(EIO);
    }
}

// The next definition of a function, which is the C library's.
#define NEXT(name)                                                                                                     \
    static __typeof__(&name) found;                                                                                    \
    __typeof__(&name) next = __atomic_load_n(&found, __ATOMIC_RELAXED);                                                \
    if (!next) {                                                                                                       \
        next = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                                             \
        __atomic_store_n(&found, next, __ATOMIC_RELAXED);                                                              \
    }

// A read is made first, to know whether there was something; what it read is lost with the connection.
#define READ(name, arguments, shorter)                                                                                 \
    do {                                                                                                               \
        NEXT(name);                                                                                                    \
        if (wanted_kind != KIND_READ) return next arguments;                                                           \
        if (manner == AS_SHORT && count > 1 && strikes(KIND_READ, descriptor)) return next shorter;                    \
        ssize_t result = next arguments;                                                                               \
        if (result < 0 || manner == AS_SHORT) return result;                                     \
        return strikes(KIND_READ, descriptor) ? failure(descriptor) : result;                                          \
    } while (0)

// A write is not made, or only half of it.
#define WRITE(name, arguments, shorter)                                                                                \
    do {                                                                                                               \
        NEXT(name);                                                                                                    \
        if (!strikes(KIND_WRITE, descriptor)) return next arguments;                                                   \
        if ((manner == AS_CUT || manner == AS_SHORT) && count > 1) {                                                   \
            ssize_t result = next shorter;                                                                             \
            if (manner == AS_SHORT) return result;                                                                     \
        }                                                                                                              \
        return manner == AS_SHORT ? next arguments : failure(descriptor);                                              \
    } while (0)

ssize_t read(int descriptor, void *buffer, size_t count) {
    READ(read, (descriptor, buffer, count), (descriptor, buffer, count / 2));
}

ssize_t recv(int descriptor, void *buffer, size_t count, int flags) {
    READ(recv, (descriptor, buffer, count, flags), (descriptor, buffer, count / 2, flags));
}

ssize_t pread64(int descriptor, void *buffer, size_t count, off64_t offset) {
    READ(pread64, (descriptor, buffer, count, offset), (descriptor, buffer, count / 2, offset));
}

ssize_t pread(int descriptor, void *buffer, size_t count, off_t offset) {
    READ(pread, (descriptor, buffer, count, offset), (descriptor, buffer, count / 2, offset));
}

ssize_t write(int descriptor, const void *buffer, size_t count) {
    WRITE(write, (descriptor, buffer, count), (descriptor, buffer, count / 2));
}

ssize_t send(int descriptor, const void *buffer, size_t count, int flags) {
    WRITE(send, (descriptor, buffer, count, flags), (descriptor, buffer, count / 2, flags));
}

ssize_t pwrite64(int descriptor, const void *buffer, size_t count, off64_t offset) {
    WRITE(pwrite64, (descriptor, buffer, count, offset), (descriptor, buffer, count / 2, offset));
}

ssize_t pwrite(int descriptor, const void *buffer, size_t count, off_t offset) {
    WRITE(pwrite, (descriptor, buffer, count, offset), (descriptor, buffer, count / 2, offset));
}

// Of several buffers, the half is the first.
ssize_t writev(int descriptor, const struct iovec *buffers, int count) {
    WRITE(writev, (descriptor, buffers, count), (descriptor, buffers, 1));
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
    struct msghdr half = *message;
    size_t count = half.msg_iovlen;
    half.msg_iovlen = 1;
    WRITE(sendmsg, (descriptor, message, flags), (descriptor, &half, flags));
}

int fdatasync(int descriptor) {
    NEXT(fdatasync);
    return strikes(KIND_SYNC, descriptor) ? (int)failure(descriptor) : next(descriptor);
}

int fsync(int descriptor) {
    NEXT(fsync);
    return strikes(KIND_SYNC, descriptor) ? (int)failure(descriptor) : next(descriptor);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREADS_ARE_WATCHED
#endif
#endif

#ifndef THREADS_ARE_WATCHED
// Threads of Swift's own pool are not counted: without one of them nothing of the process runs.
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    NEXT(pthread_create);
    Dl_info caller;
    bool is_counted = wanted_kind == KIND_THREAD && dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
                      !strstr(caller.dli_fname, "libdispatch");
    return is_counted && strikes(KIND_THREAD, -1) ? EAGAIN : next(thread, attributes, body, argument);
}
#endif
