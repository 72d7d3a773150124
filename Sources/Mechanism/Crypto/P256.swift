import COpenSSL

/// Keys on the curve P-256 (FIPS 186-4 appendix D.1.2.3, secp256r1) from and to their bare numbers.
enum P256 {
    /// The length of a scalar, the private half.
    static let scalarBytes = copenssl_p256_scalar_bytes
    /// The length of an uncompressed point, the public half.
    static let pointBytes = copenssl_p256_point_bytes

    /// Makes a public key of an uncompressed point; the caller frees it.
    static func publicKey(point: [UInt8]) throws(CryptoError) -> OpaquePointer {
        try requireForm(ofPoint: point)
        ERR_clear_error()
        guard let key = copenssl_p256_public_key(point) else { throw notOnCurve() }
        return key
    }

    /// Makes a private key of its scalar, and computes the public half; the caller frees it.
    static func privateKey(scalar: [UInt8]) throws(CryptoError) -> OpaquePointer {
        guard scalar.count == scalarBytes else {
            throw CryptoError(
                .keyInvalid, "the private key has \(scalar.count) bytes; a scalar of P-256 has \(scalarBytes)")
        }
        ERR_clear_error()
        guard let key = copenssl_p256_private_key(scalar) else {
            _ = OpenSSLErrors.take()
            throw CryptoError(
                .keyInvalid, "the private key is no scalar of P-256: it must be above 0 and below the curve's order")
        }
        return key
    }

    /// The uncompressed point of a key: 65 bytes.
    static func point(of key: OpaquePointer) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        var point = [UInt8](repeating: 0, count: pointBytes)
        guard copenssl_p256_get_point(key, &point) == 1 else {
            throw OpenSSLErrors.failure(of: "EVP_PKEY_get_octet_string_param")
        }
        return point
    }

    /// The scalar of a private key: 32 bytes, a secret.
    static func scalar(of key: OpaquePointer) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        var scalar = [UInt8](repeating: 0, count: scalarBytes)
        guard copenssl_p256_get_scalar(key, &scalar) == 1 else {
            throw OpenSSLErrors.failure(of: "EVP_PKEY_get_bn_param")
        }
        return scalar
    }

    /// Refuses bytes that are no uncompressed point, wherever it would lie.
    static func requireForm(ofPoint point: [UInt8]) throws(CryptoError) {
        guard point.count == pointBytes, point[0] == 4 else {
            let first = point.first.map { ", the first of them \($0)" } ?? ""
            throw CryptoError(
                .keyInvalid,
                "the public key has \(point.count) bytes\(first); "
                    + "an uncompressed point of P-256 has \(pointBytes), the first of them 4")
        }
    }

    /// The error for a point that OpenSSL did not take.
    static func notOnCurve() -> CryptoError {
        CryptoError(
            .keyInvalid, "the public key is no point on the curve P-256 (\(OpenSSLErrors.take())); ask for it again")
    }
}
