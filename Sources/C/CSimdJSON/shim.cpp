// Without exceptions simdjson reports everything as error codes: nothing may be thrown across the border to Swift.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <memory>
#include <new>

#include "CSimdJSON.h"

struct apus_json_parser {
    std::unique_ptr<simdjson::dom::parser> parser;
    size_t depth_maximum;
    size_t retained_bytes;
};

static constexpr size_t smallest_capacity = 4096;

// Doubling keeps slowly growing documents from reallocating at each parse.
static size_t capacity_for(size_t count) {
    size_t capacity = smallest_capacity;
    while (capacity < count) {
        capacity *= 2;
    }
    return capacity;
}

static bool replace_parser(apus_json_parser *parser, size_t capacity) {
    parser->parser.reset(new (std::nothrow) simdjson::dom::parser());
    return parser->parser && parser->parser->allocate(capacity, parser->depth_maximum) == simdjson::SUCCESS;
}

apus_json_parser *apus_json_parser_create(size_t depth_maximum, size_t retained_bytes) {
    // The first document brings the buffers: many parsers never see one.
    return new (std::nothrow) apus_json_parser{nullptr, depth_maximum, retained_bytes};
}

void apus_json_parser_destroy(apus_json_parser *parser) {
    delete parser;
}

size_t apus_json_parser_capacity(const apus_json_parser *parser) {
    return parser->parser ? parser->parser->capacity() : 0;
}

void apus_json_parser_relinquish(apus_json_parser *parser, size_t retained_bytes) {
    if (apus_json_parser_capacity(parser) > capacity_for(retained_bytes) || retained_bytes == 0) {
        parser->parser.reset();
    }
}

apus_json_outcome apus_json_parse(
    apus_json_parser *parser, const uint8_t *bytes, size_t count, apus_json_document *document) {
    size_t wanted = capacity_for(count);
    size_t present = apus_json_parser_capacity(parser);
    // simdjson needs about fourteen bytes of buffer for each byte of a document, and never shrinks by itself.
    bool holds_too_much = present > capacity_for(parser->retained_bytes) && count <= parser->retained_bytes;
    if ((wanted > present || holds_too_much) && !replace_parser(parser, wanted)) {
        parser->parser.reset();
        return APUS_JSON_OUT_OF_MEMORY;
    }
    simdjson::error_code error = parser->parser->parse(bytes, count, true).error();
    if (error == simdjson::MEMALLOC || error == simdjson::CAPACITY) {
        return APUS_JSON_OUT_OF_MEMORY;
    }
    if (error != simdjson::SUCCESS) {
        return APUS_JSON_INVALID;
    }
    document->tape = parser->parser->doc.tape.get();
    document->strings = parser->parser->doc.string_buf.get();
    return APUS_JSON_SUCCESS;
}
