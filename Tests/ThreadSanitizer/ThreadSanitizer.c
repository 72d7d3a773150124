// Lets ThreadSanitizer see that Swift's `Mutex` was locked, where a thread had to wait for it.
//
// Taking a free mutex is inlined and seen; waiting for one happens in libswiftSynchronization, which is not built with
// the sanitizer. So all that a waiting thread then touches would be reported as a race. Without the sanitizer this file
// is empty.

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <stdint.h>

#include "ThreadSanitizer.h"

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"

void __tsan_acquire(void *address);

// `Synchronization._MutexHandle._lockSlow(UInt32)`.
__attribute__((swiftcall)) void apus_lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex)
    __asm__(LOCK_SLOW);

typedef __attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex);

__attribute__((swiftcall)) void apus_lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
    static lock_slow *found;
    lock_slow *next = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!next) {
        next = (lock_slow *)dlsym(RTLD_NEXT, LOCK_SLOW);
        __atomic_store_n(&found, next, __ATOMIC_RELAXED);
    }
    next(thread, mutex);
    __tsan_acquire(mutex);
}

#endif
#endif
