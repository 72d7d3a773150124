#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <stdint.h>

// Keys on P-256 from and to their bare numbers, and the context of an HMAC. A parameter keeps the address of its name,
// and the names are macros: in Swift they would be texts without an address that lasts.

enum { copenssl_p256_scalar_bytes = 32, copenssl_p256_point_bytes = 65 };

static inline EVP_PKEY *copenssl_p256_key(const uint8_t *point, uint8_t *native_scalar) {
    OSSL_PARAM parameters[4] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)"prime256v1", 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, copenssl_p256_point_bytes),
        OSSL_PARAM_construct_end(),
        OSSL_PARAM_construct_end(),
    };
    if (native_scalar != NULL) {
        parameters[2] =
            OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native_scalar, copenssl_p256_scalar_bytes);
    }
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    EVP_PKEY *key = NULL;
    if (context != NULL && EVP_PKEY_fromdata_init(context) == 1) {
        EVP_PKEY_fromdata(context, &key, native_scalar == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, parameters);
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

// A public key from its uncompressed point (SEC 1 section 2.3.3); NULL if that is not on the curve.
static inline EVP_PKEY *copenssl_p256_public_key(const uint8_t *point) { return copenssl_p256_key(point, NULL); }

// A private key from its scalar, the highest byte first, with the public half that belongs to it; NULL if the scalar is
// 0 or not below the order of the curve.
static inline EVP_PKEY *copenssl_p256_private_key(const uint8_t *scalar) {
    uint8_t point[copenssl_p256_point_bytes], native[copenssl_p256_scalar_bytes];
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *product = group == NULL ? NULL : EC_POINT_new(group);
    BIGNUM *number = BN_bin2bn(scalar, copenssl_p256_scalar_bytes, NULL);
    EVP_PKEY *key = NULL;
    if (product != NULL && number != NULL && !BN_is_zero(number) && BN_cmp(number, EC_GROUP_get0_order(group)) < 0
        && EC_POINT_mul(group, product, number, NULL, NULL, NULL) == 1
        && EC_POINT_point2oct(group, product, POINT_CONVERSION_UNCOMPRESSED, point, sizeof point, NULL) == sizeof point
        && BN_bn2nativepad(number, native, sizeof native) == sizeof native) {
        key = copenssl_p256_key(point, native);
    }
    OPENSSL_cleanse(native, sizeof native);
    BN_clear_free(number);
    EC_POINT_free(product);
    EC_GROUP_free(group);
    return key;
}

// Writes the uncompressed point of a key. A key file may hold the compressed one, and then that is what a key shows.
static inline int copenssl_p256_get_point(EVP_PKEY *key, uint8_t *point) {
    size_t length = 0;
    if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, copenssl_p256_point_bytes, &length) == 1
        && length == copenssl_p256_point_bytes) {
        return 1;
    }
    return EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed") == 1
        && EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, copenssl_p256_point_bytes, &length) == 1
        && length == copenssl_p256_point_bytes;
}

// Writes the scalar of a private key, the highest byte first.
static inline int copenssl_p256_get_scalar(const EVP_PKEY *key, uint8_t *scalar) {
    BIGNUM *number = NULL;
    int written = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1
        && BN_bn2binpad(number, scalar, copenssl_p256_scalar_bytes) == copenssl_p256_scalar_bytes;
    BN_clear_free(number);
    return written;
}

// A context for HMAC with SHA-256 that has no key yet; NULL if there is no memory.
static inline EVP_MAC_CTX *copenssl_new_hmac_context(void) {
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = hmac == NULL ? NULL : EVP_MAC_CTX_new(hmac);
    // The context keeps the algorithm.
    EVP_MAC_free(hmac);
    OSSL_PARAM parameters[2] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    if (context != NULL && EVP_MAC_CTX_set_params(context, parameters) != 1) {
        EVP_MAC_CTX_free(context);
        context = NULL;
    }
    return context;
}
