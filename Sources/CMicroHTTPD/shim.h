#pragma once
#include <microhttpd.h>
#include <stdint.h>

// MHD_start_daemon takes its options as variable arguments, which Swift cannot pass, and its flags and option names are
// separate enumerations, which Swift cannot combine. The limits are the caller's.
struct cmicrohttpd_limits {
    unsigned int connections;
    unsigned int idle_seconds;
    size_t connection_bytes;
};

// Starts a server with a thread of its own on a socket that listens already; the daemon closes it when it stops.
static inline struct MHD_Daemon *cmicrohttpd_start(
    int listening_socket, struct cmicrohttpd_limits limits, MHD_AccessHandlerCallback handler, void *context) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, handler, context, MHD_OPTION_LISTEN_SOCKET,
        listening_socket, MHD_OPTION_CONNECTION_LIMIT, limits.connections, MHD_OPTION_CONNECTION_TIMEOUT,
        limits.idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.connection_bytes, MHD_OPTION_END);
}

// The type of the answer differs between versions of the library (an int before 0.9.71).
static inline enum MHD_Result cmicrohttpd_yes(void) { return MHD_YES; }
static inline enum MHD_Result cmicrohttpd_no(void) { return MHD_NO; }

// Copies the body. Returns NULL without memory.
static inline struct MHD_Response *cmicrohttpd_response(const void *body, size_t length) {
    // The library copies in this mode; its interface lacks the const.
    return MHD_create_response_from_buffer(length, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
}
