#pragma once

// The compiler's built-in function, which Swift cannot call: asks for the cache line of an address and does not wait.
static inline void apus_prefetch(const void *address) { __builtin_prefetch(address); }
