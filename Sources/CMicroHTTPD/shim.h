#pragma once
#include <microhttpd.h>
#include <poll.h>
#include <stdint.h>

// MHD_start_daemon takes its options as variable arguments, which Swift cannot pass, and its flags and option names are
// separate enumerations, which Swift cannot combine.
struct cmicrohttpd_options {
    int listening_socket;
    unsigned int connections;
    unsigned int idle_seconds;
    size_t connection_bytes;
    // PEM texts, or NULL for both without TLS; they have to last as long as the daemon.
    const char *certificate;
    const char *key;
};

struct cmicrohttpd_callbacks {
    void *context;
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
};

// Starts a server with a thread of its own on a socket that listens already; the daemon closes it when it stops.
// Returns NULL if there is no thread, or the certificate and its key do not serve.
static inline struct MHD_Daemon *cmicrohttpd_start(
    struct cmicrohttpd_options options, struct cmicrohttpd_callbacks callbacks) {
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options.certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options.key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    int uses_tls = options.certificate != NULL;
    unsigned int flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (uses_tls ? (unsigned int)MHD_USE_TLS : 0);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, callbacks.access, callbacks.context, MHD_OPTION_LISTEN_SOCKET, options.listening_socket,
        MHD_OPTION_CONNECTION_LIMIT, options.connections, MHD_OPTION_CONNECTION_TIMEOUT, options.idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options.connection_bytes, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks.target, callbacks.context, MHD_OPTION_NOTIFY_COMPLETED,
        callbacks.completed, callbacks.context, MHD_OPTION_ARRAY, uses_tls ? tls : tls + 3, MHD_OPTION_END);
}

// The type of the answer differs between versions of the library (an int before 0.9.71).
static inline enum MHD_Result cmicrohttpd_yes(void) { return MHD_YES; }
static inline enum MHD_Result cmicrohttpd_no(void) { return MHD_NO; }

// Copies the body. Returns NULL without memory.
static inline struct MHD_Response *cmicrohttpd_response(const void *body, size_t length) {
    // The library copies in this mode; its interface lacks the const.
    return MHD_create_response_from_buffer(length, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
}

// MHD_get_connection_info takes variable arguments. Returns NULL if the address is not known.
static inline const struct sockaddr *cmicrohttpd_client_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

// MHD_get_connection_info takes variable arguments, and POLLRDHUP is hidden without _GNU_SOURCE. Whether the client has
// closed its side, whatever it sent before.
static inline int cmicrohttpd_is_abandoned(struct MHD_Connection *connection) {
    enum { peer_closed = 0x2000 };  // POLLRDHUP
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == NULL) return 1;
    struct pollfd question = {.fd = info->connect_fd, .events = peer_closed};
    return poll(&question, 1, 0) > 0;
}

// MHD_HEADER_KIND is a macro around a deprecation check, which Swift does not import.
static inline void cmicrohttpd_each_field(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN iterator, void *context) {
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, iterator, context);
}
