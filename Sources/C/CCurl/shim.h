#pragma once
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

// curl_easy_setopt takes its value as a variable argument, which Swift cannot pass; so a whole request is one call.
struct ccurl_request {
    const char *url;
    // Empty for none, or for those that the URL itself names.
    const char *user;
    const char *password;
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
    // What the header says, 0 for nothing; libcurl reads dates as well.
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
