#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// curl_easy_setopt takes its value as a variable argument, which Swift cannot pass; so a whole request is one call.
struct ccurl_request {
    const char *url;
    // Empty for none, or for those that the URL itself names.
    const char *user;
    const char *password;
    // Empty for none.
    const char *bearer_token;
    // Empty for the system's trust anchors alone.
    const char *ca_file;
    // Empty for none.
    const char *proxy;
    long timeout_milliseconds;
    size_t bytes_maximum;
    // NULL for a GET.
    const char *form;
};

struct ccurl_answer {
    long status;
    // The header's value, 0 for none; libcurl reads dates as well.
    long retry_after_seconds;
    // To be freed by the caller.
    char *body;
    size_t count;
    size_t bytes_maximum;
    char problem[CURL_ERROR_SIZE];
};

static size_t ccurl_take(char *bytes, size_t size, size_t count, void *context) {
    struct ccurl_answer *answer = context;
    size_t more = size * count;
    if (more > answer->bytes_maximum - answer->count) return 0;
    char *body = realloc(answer->body, answer->count + more);
    if (body == NULL) return 0;
    memcpy(body + answer->count, bytes, more);
    answer->body = body;
    answer->count += more;
    return more;
}

// Sends a GET, or a POST of a form, and waits for the whole answer. Returns 0, or a code of libcurl, which `problem` explains.
static inline int ccurl_exchange(const struct ccurl_request *request, struct ccurl_answer *answer) {
    memset(answer, 0, sizeof *answer);
    answer->bytes_maximum = request->bytes_maximum;
    CURL *handle = curl_easy_init();
    if (handle == NULL) return CURLE_OUT_OF_MEMORY;
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, answer->problem);
    curl_easy_setopt(handle, CURLOPT_URL, request->url);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_PROXY, request->proxy);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, request->timeout_milliseconds);
    curl_easy_setopt(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "apus");
    if (request->user[0] != 0) {
        curl_easy_setopt(handle, CURLOPT_USERNAME, request->user);
        curl_easy_setopt(handle, CURLOPT_PASSWORD, request->password);
    }
    if (request->bearer_token[0] != 0) {
        curl_easy_setopt(handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(handle, CURLOPT_XOAUTH2_BEARER, request->bearer_token);
    }
    if (request->ca_file[0] != 0) curl_easy_setopt(handle, CURLOPT_CAINFO, request->ca_file);
    if (request->form != NULL) curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request->form);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, ccurl_take);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, (void *)answer);
    CURLcode code = curl_easy_perform(handle);
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_off_t retry_after = 0;
    curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &retry_after);
    // A date that has passed is a negative number in old versions.
    if (retry_after > 0) answer->retry_after_seconds = retry_after < 86400 ? (long)retry_after : 86400;
    curl_easy_cleanup(handle);
    if (code != CURLE_OK && answer->problem[0] == 0) {
        strncpy(answer->problem, curl_easy_strerror(code), sizeof answer->problem - 1);
    }
    return (int)code;
}

// One POST of the multi interface. The callbacks get `context`.
struct ccurl_post {
    const char *url;
    // "http" or "https", the URL's own.
    const char *scheme;
    struct curl_slist *headers;
    curl_off_t body_count;
    // Empty for the system's trust anchors alone.
    const char *ca_file;
    // Empty for none.
    const char *proxy;
    // `Proxy-Authorization: …`, for the proxy alone; null for none.
    struct curl_slist *proxy_headers;
    // 1 to end when the connection is made, before anything is sent.
    long connects_only;
    // 1 to use no connection that there is.
    long is_fresh;
    long connect_timeout_milliseconds;
    long connection_age_seconds_maximum;
    void *context;
    // Null for libcurl's own.
    curl_opensocket_callback open_socket;
    curl_read_callback read;
    curl_write_callback write_header;
    curl_write_callback write_body;
    // Of CURL_ERROR_SIZE bytes.
    char *problem;
};

static inline CURLcode ccurl_set_post(CURL *handle, const struct ccurl_post *post) {
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, post->problem);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, post->context);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, post->scheme);
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
    // Without this, the end of a request waits for its look-up of a name.
    curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "apus");
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, post->connect_timeout_milliseconds);
    curl_easy_setopt(handle, CURLOPT_MAXAGE_CONN, post->connection_age_seconds_maximum);
    curl_easy_setopt(handle, CURLOPT_PROXY, post->proxy);
    curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(handle, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    curl_easy_setopt(handle, CURLOPT_PROXYHEADER, post->proxy_headers);
    if (post->open_socket != NULL) {
        curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, post->open_socket);
        curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, post->context);
    }
    if (post->ca_file[0] != 0) curl_easy_setopt(handle, CURLOPT_CAINFO, post->ca_file);
    curl_easy_setopt(handle, CURLOPT_CONNECT_ONLY, post->connects_only);
    curl_easy_setopt(handle, CURLOPT_FRESH_CONNECT, post->is_fresh);
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    // The body comes from a callback, and nothing can rewind it: libcurl cannot send it twice on its own account.
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, post->body_count);
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, post->read);
    curl_easy_setopt(handle, CURLOPT_READDATA, post->context);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, post->write_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, post->context);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, post->write_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, post->context);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, post->headers);
    return curl_easy_setopt(handle, CURLOPT_URL, post->url);
}

// Copies the address of a socket that is to be opened. Returns 4 or 16, and 0 for any other family.
static inline size_t ccurl_address_bytes(const struct curl_sockaddr *address, uint8_t bytes[16]) {
    if (address->family == AF_INET && address->addrlen >= sizeof(struct sockaddr_in)) {
        memcpy(bytes, &((const struct sockaddr_in *)(const void *)&address->addr)->sin_addr, 4);
        return 4;
    }
    if (address->family == AF_INET6 && address->addrlen >= sizeof(struct sockaddr_in6)) {
        memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)&address->addr)->sin6_addr, 16);
        return 16;
    }
    return 0;
}

// Opens a socket as libcurl does by itself.
static inline curl_socket_t ccurl_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// The `context` of a POST.
static inline void *ccurl_context(CURL *handle) {
    char *context = NULL;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &context);
    return context;
}

// How many connections were made for it.
static inline long ccurl_connection_count(CURL *handle) {
    long count = 0;
    curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &count);
    return count;
}

static inline CURLMcode ccurl_set_multi(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context,
    long host_connections_maximum, long connections_maximum) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, host_connections_maximum);
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections_maximum);
    return curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, connections_maximum);
}
