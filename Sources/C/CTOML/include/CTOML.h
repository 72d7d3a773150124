#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A document is handed over as a walk: each node is one call, tables and arrays end with a call of their own.
// Strings are UTF-8, not terminated, and valid only during the call. `key` is null for elements of arrays.
enum ctoml_kind {
    CTOML_TABLE,
    CTOML_ARRAY,
    CTOML_END,
    CTOML_STRING,
    CTOML_INTEGER,
    CTOML_NUMBER,
    CTOML_BOOLEAN,
    CTOML_DATE_TIME
};

struct ctoml_node {
    enum ctoml_kind kind;
    const char *key;
    size_t key_length;
    uint32_t line; // of the key, or of the value where there is no key; from 1
    uint32_t column;
    const char *text; // of a string, a date or a time
    size_t text_length;
    int64_t integer; // of an integer; 0 or 1 for a boolean
    double number;
};

typedef void (*ctoml_visitor)(void *context, const struct ctoml_node *node);

struct ctoml_error {
    char message[256];
    uint32_t line;
    uint32_t column;
};

// Parses a document. Returns 1 if it was walked as a whole; 0 if not, and then `error` says why and nothing was walked.
int ctoml_parse(
    const char *text, size_t length, ctoml_visitor visitor, void *context, struct ctoml_error *error);

#ifdef __cplusplus
}
#endif
