#pragma once
#include <stdlib.h>
#include <utf8proc.h>

// The options are an enumeration whose values are combined with `|`, which Swift imports as a type of its own.
static inline ssize_t apus_utf8proc_map(
    const uint8_t *text, ssize_t count, uint8_t **result, unsigned options) {
    return utf8proc_map(text, count, result, (utf8proc_option_t)options);
}
static inline unsigned apus_utf8proc_canonical(void) { return UTF8PROC_STABLE | UTF8PROC_COMPOSE; }
static inline unsigned apus_utf8proc_folded(void) { return UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD; }
static inline unsigned apus_utf8proc_search(void) {
    return UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK;
}
