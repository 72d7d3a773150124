#pragma once
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// The functions below are macros or variadic in OpenSSL, and Swift imports neither.

static inline int copenssl_require_tls12(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// A write may take a part of the buffer, and may be repeated from another address with the same bytes; a read takes
// from the socket what is there, not one record header at a time.
static inline void copenssl_configure_transfer(SSL_CTX *context, size_t read_buffer_bytes) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_clear_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, read_buffer_bytes);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    // HTTP/2 forbids renegotiation (RFC 9113 section 9.2.1).
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}

// A silent connection gives its buffers back.
static inline void copenssl_release_buffers(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_default_read_buffer_len(context, 16 * 1024 + 512);
}

static inline int copenssl_set_server_name(SSL *session, const char *name) {
    return (int)SSL_set_tlsext_host_name(session, name);
}

static inline int copenssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline EVP_PKEY *copenssl_generate_p256_key(void) { return EVP_EC_gen("P-256"); }

static inline EVP_PKEY *copenssl_generate_rsa_key(size_t bits) { return EVP_RSA_gen(bits); }

static inline long copenssl_memory_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

static inline int copenssl_error_reason(unsigned long code) { return ERR_GET_REASON(code); }

// `X509V3_EXT_conf_nid` takes a typed hash table that Swift cannot name; none is needed here.
static inline int copenssl_add_extension(X509 *certificate, int identifier, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, identifier, value);
    if (extension == NULL) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}
