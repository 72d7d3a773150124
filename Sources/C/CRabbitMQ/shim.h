#pragma once
// rabbitmq-c has moved its headers, and warns where they were: Debian 13 has 0.15, Debian 12 has 0.11.
#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/framing.h>
#include <rabbitmq-c/ssl_socket.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#endif
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

// Method numbers and property flags are macros with casts, which Swift does not import.
enum {
    CRABBITMQ_CONNECTION_CLOSE = 0x000A0032,
    CRABBITMQ_CONNECTION_CLOSE_OK = 0x000A0033,
    CRABBITMQ_CONNECTION_BLOCKED = 0x000A003C,
    CRABBITMQ_CONNECTION_UNBLOCKED = 0x000A003D,
    CRABBITMQ_CHANNEL_FLOW = 0x00140014,
    CRABBITMQ_CHANNEL_FLOW_OK = 0x00140015,
    CRABBITMQ_CHANNEL_CLOSE = 0x00140028,
    CRABBITMQ_CHANNEL_CLOSE_OK = 0x00140029,
    CRABBITMQ_BASIC_QOS = 0x003C000A,
    CRABBITMQ_BASIC_CONSUME = 0x003C0014,
    CRABBITMQ_BASIC_CANCEL = 0x003C001E,
    CRABBITMQ_BASIC_CANCEL_OK = 0x003C001F,
    CRABBITMQ_BASIC_PUBLISH = 0x003C0028,
    CRABBITMQ_BASIC_RETURN = 0x003C0032,
    CRABBITMQ_BASIC_DELIVER = 0x003C003C,
    CRABBITMQ_BASIC_GET_OK = 0x003C0047,
    CRABBITMQ_BASIC_GET_EMPTY = 0x003C0048,
    CRABBITMQ_BASIC_ACK = 0x003C0050,
    CRABBITMQ_BASIC_NACK = 0x003C0078,
};
_Static_assert(CRABBITMQ_CONNECTION_BLOCKED == AMQP_CONNECTION_BLOCKED_METHOD, "method number");
_Static_assert(CRABBITMQ_CONNECTION_UNBLOCKED == AMQP_CONNECTION_UNBLOCKED_METHOD, "method number");
_Static_assert(CRABBITMQ_CONNECTION_CLOSE == AMQP_CONNECTION_CLOSE_METHOD, "method number");
_Static_assert(CRABBITMQ_CONNECTION_CLOSE_OK == AMQP_CONNECTION_CLOSE_OK_METHOD, "method number");
_Static_assert(CRABBITMQ_CHANNEL_FLOW == AMQP_CHANNEL_FLOW_METHOD, "method number");
_Static_assert(CRABBITMQ_CHANNEL_FLOW_OK == AMQP_CHANNEL_FLOW_OK_METHOD, "method number");
_Static_assert(CRABBITMQ_CHANNEL_CLOSE == AMQP_CHANNEL_CLOSE_METHOD, "method number");
_Static_assert(CRABBITMQ_CHANNEL_CLOSE_OK == AMQP_CHANNEL_CLOSE_OK_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_QOS == AMQP_BASIC_QOS_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_CONSUME == AMQP_BASIC_CONSUME_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_CANCEL == AMQP_BASIC_CANCEL_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_CANCEL_OK == AMQP_BASIC_CANCEL_OK_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_PUBLISH == AMQP_BASIC_PUBLISH_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_RETURN == AMQP_BASIC_RETURN_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_DELIVER == AMQP_BASIC_DELIVER_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_GET_OK == AMQP_BASIC_GET_OK_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_GET_EMPTY == AMQP_BASIC_GET_EMPTY_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_ACK == AMQP_BASIC_ACK_METHOD, "method number");
_Static_assert(CRABBITMQ_BASIC_NACK == AMQP_BASIC_NACK_METHOD, "method number");

// The login takes variable arguments, which Swift cannot pass.
static inline amqp_rpc_reply_t crabbitmq_login(
    amqp_connection_state_t state, const char *vhost, int frame_max, int heartbeat, const amqp_table_t *properties,
    const char *user, const char *password) {
    return amqp_login_with_properties(
        state, vhost, 1, frame_max, heartbeat, properties, AMQP_SASL_METHOD_PLAIN, user, password);
}

// OpenSSL's error about a certificate: librabbitmq only says that the handshake failed.
static inline int *crabbitmq_certificate_error(void) {
    static _Thread_local int error;
    return &error;
}
static inline int crabbitmq_note_certificate_error(int is_good, struct x509_store_ctx_st *context) {
    extern int X509_STORE_CTX_get_error(const struct x509_store_ctx_st *);
    if (!is_good) *crabbitmq_certificate_error() = X509_STORE_CTX_get_error(context);
    return is_good;
}
// The error of the last handshake on this thread, or NULL if the certificate was not what failed.
static inline const char *crabbitmq_certificate_error_text(void) {
    extern const char *X509_verify_cert_error_string(long);
    int error = *crabbitmq_certificate_error();
    return error == 0 ? NULL : X509_verify_cert_error_string(error);
}

// librabbitmq 0.11 sets neither the system's trust anchors nor a minimum version of TLS; both go through OpenSSL's own
// context. The declarations are OpenSSL's, repeated so that this module does not export all of OpenSSL.
static inline int crabbitmq_harden_tls(amqp_socket_t *socket) {
    extern int SSL_CTX_set_default_verify_paths(struct ssl_ctx_st *);
    extern long SSL_CTX_ctrl(struct ssl_ctx_st *, int, long, void *);
    extern void SSL_CTX_set_verify(struct ssl_ctx_st *, int, int (*)(int, struct x509_store_ctx_st *));
    enum { set_minimum_version = 123, tls_1_2 = 0x0303 };  // SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION
    enum { verify_peer = 1 };                              // SSL_VERIFY_PEER
    struct ssl_ctx_st *context = (struct ssl_ctx_st *)amqp_ssl_socket_get_context(socket);
    amqp_ssl_socket_set_verify_peer(socket, 1);
    amqp_ssl_socket_set_verify_hostname(socket, 1);
    *crabbitmq_certificate_error() = 0;
    SSL_CTX_set_verify(context, verify_peer, crabbitmq_note_certificate_error);
    return SSL_CTX_set_default_verify_paths(context) == 1 && SSL_CTX_ctrl(context, set_minimum_version, tls_1_2, NULL) == 1;
}

// The names of TCP's options are macros or enumeration members of a header that Swift's Glibc module leaves out.
static inline void crabbitmq_bound_silence(int fd, unsigned user_timeout_milliseconds) {
    int idle_seconds = 15, interval_seconds = 5, probes = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_seconds, sizeof interval_seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_milliseconds, sizeof user_timeout_milliseconds);
}

// `struct timeval` is defined by whichever C module is loaded first, which Swift's rule of member visibility refuses to
// see; so durations are passed as numbers.
static inline int crabbitmq_connect(amqp_socket_t *socket, const char *host, int port, int seconds) {
    struct timeval timeout = {.tv_sec = seconds};
    return amqp_socket_open_noblock(socket, host, port, &timeout);
}
static inline void crabbitmq_set_timeouts(amqp_connection_state_t state, int handshake_seconds, int call_seconds) {
    struct timeval handshake = {.tv_sec = handshake_seconds}, call = {.tv_sec = call_seconds};
    amqp_set_handshake_timeout(state, &handshake);
    amqp_set_rpc_timeout(state, &call);
}
static inline int crabbitmq_wait_frame(amqp_connection_state_t state, amqp_frame_t *frame, int milliseconds) {
    struct timeval timeout = {.tv_sec = milliseconds / 1000, .tv_usec = (milliseconds % 1000) * 1000};
    return amqp_simple_wait_frame_noblock(state, frame, &timeout);
}
