#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parser of simdjson with its buffers, reused from document to document. Not thread-safe.
typedef struct apus_json_parser apus_json_parser;

/// A parsed document as simdjson lays it out (doc/tape.md of simdjson): both pointers are good until the parser's next
/// call of `apus_json_parse` or its end.
///
/// Handing out the tape itself, instead of a function for each access, is what keeps a value access as cheap in Swift
/// as in C++: no call crosses the language border once the document is parsed.
typedef struct {
    /// One word each, the type in its top eight bits; numbers take a second word.
    const uint64_t *tape;
    /// The unescaped strings: four bytes of length, the bytes, a NUL.
    const uint8_t *strings;
} apus_json_document;

/// The result of a parse. simdjson does not say where the fault is.
typedef enum {
    APUS_JSON_SUCCESS = 0,
    APUS_JSON_INVALID = 1,
    APUS_JSON_OUT_OF_MEMORY = 2,
} apus_json_outcome;

/// Creates a parser, or answers NULL if there is no memory.
///
/// `retained_bytes` is the size of a document up to which the buffers are kept for the next one.
apus_json_parser *apus_json_parser_create(size_t depth_maximum, size_t retained_bytes);

/// Ends a parser and its document.
void apus_json_parser_destroy(apus_json_parser *parser);

/// The size of a document, in bytes, for which there are buffers now.
size_t apus_json_parser_capacity(const apus_json_parser *parser);

/// Gives the buffers back to the system if they are for more than `retained_bytes`, or if that is 0; there is no
/// document afterwards.
void apus_json_parser_relinquish(apus_json_parser *parser, size_t retained_bytes);

/// Parses a document; the bytes are copied and need no padding.
apus_json_outcome apus_json_parse(
    apus_json_parser *parser, const uint8_t *bytes, size_t count, apus_json_document *document);

#ifdef __cplusplus
}
#endif
