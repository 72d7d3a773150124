// Lets ThreadSanitizer see that Swift's `Mutex` was locked and unlocked, where threads had to wait for it.
//
// Taking and leaving a free mutex is inlined and seen; waiting for one, and waking who waits, happens in
// libswiftSynchronization, which is not built with the sanitizer. So all that the threads then touch would be reported
// as a race. Without the sanitizer this file is empty.

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <stdint.h>

#include "ThreadSanitizer.h"

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// `Synchronization._MutexHandle._lockSlow(UInt32)` and `_unlockSlow()`.
SWIFT void apus_lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
SWIFT void apus_unlock_slow(SELF) __asm__(UNLOCK_SLOW);

// The next definition, which is the library's own.
static void *next(void **found, const char *name) {
    void *function = __atomic_load_n(found, __ATOMIC_RELAXED);
    if (!function) {
        function = dlsym(RTLD_NEXT, name);
        __atomic_store_n(found, function, __ATOMIC_RELAXED);
    }
    return function;
}

SWIFT void apus_lock_slow(uint32_t thread, SELF) {
    static void *found;
    typedef SWIFT void lock_slow(uint32_t thread, SELF);
    ((lock_slow *)next(&found, LOCK_SLOW))(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void apus_unlock_slow(SELF) {
    static void *found;
    typedef SWIFT void unlock_slow(SELF);
    __tsan_release(mutex);
    ((unlock_slow *)next(&found, UNLOCK_SLOW))(mutex);
}

#endif
#endif
