import COpenSSL
import Glibc

/// The identity of a TLS server: a certificate chain and the private key of its first certificate.
public struct ServerIdentity: Sendable {
    /// The server's certificate, then its issuers up to the trust anchor, as PEM text.
    public let certificateChainPEM: String
    /// The private key of the first certificate as PEM text; a secret.
    public let privateKeyPEM: String

    /// Takes an identity that was made elsewhere; it is checked when a context is made of it.
    public init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Makes a new P-256 key and a certificate that it signs itself.
    ///
    /// The certificate may act as its own trust anchor (`CA:TRUE`), for simulators and tests.
    ///
    /// - Parameters:
    ///   - names: DNS names and IP addresses that the certificate is made out to, at least one.
    ///   - notBeforeSeconds: when it begins to be valid, in seconds since 1970.
    ///   - notAfterSeconds: when it ends to be valid, in seconds since 1970.
    /// - Returns: an identity for `TLSContext.server`.
    /// - Throws: `CryptoError` with `certificateInvalid` if a name or a date cannot stand in a certificate.
    public static func selfSigned(
        names: [String],
        notBeforeSeconds: Int64,
        notAfterSeconds: Int64
    ) throws(CryptoError) -> ServerIdentity {
        ERR_clear_error()
        guard let key = copenssl_generate_p256_key() else { throw OpenSSLErrors.failure(of: "EVP_EC_gen") }
        defer { EVP_PKEY_free(key) }
        guard let certificate = X509_new() else { throw OpenSSLErrors.failure(of: "X509_new") }
        defer { X509_free(certificate) }
        let isFilled =
            X509_set_version(certificate, 2) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), UInt64.random(in: 1...(1 << 62))) == 1
            && ASN1_TIME_set(X509_getm_notBefore(certificate), Int(notBeforeSeconds)) != nil
            && ASN1_TIME_set(X509_getm_notAfter(certificate), Int(notAfterSeconds)) != nil
            && X509_set_pubkey(certificate, key) == 1
        guard isFilled else {
            throw CryptoError(.certificateInvalid, "the certificate's dates cannot be used: \(OpenSSLErrors.take())")
        }
        try setNames(names, of: certificate)
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw OpenSSLErrors.failure(of: "X509_sign") }
        return ServerIdentity(
            certificateChainPEM: try PEM.text { PEM_write_bio_X509($0, certificate) },
            privateKeyPEM: try PEM.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
        )
    }

    private static func setNames(_ names: [String], of certificate: OpaquePointer) throws(CryptoError) {
        // A comma or a line end in a name would be read as more extension text.
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:*".utf8)
        guard let first = names.first, names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(allowed.contains) }) else {
            throw CryptoError(
                .certificateInvalid,
                "a certificate needs at least one DNS name or IP address, and no other"
            )
        }
        let alternatives = names.map { name in (IPAddress.isNumeric(name) ? "IP:" : "DNS:") + name }
        let commonName = Array(first.utf8.prefix(64))
        let subject = X509_get_subject_name(certificate)
        let isNamed =
            X509_NAME_add_entry_by_NID(
                subject,
                NID_commonName,
                MBSTRING_UTF8,
                commonName,
                Int32(commonName.count),
                -1,
                0
            ) == 1
            && X509_set_issuer_name(certificate, subject) == 1
            && copenssl_add_extension(certificate, NID_subject_alt_name, alternatives.joined(separator: ",")) == 1
            && copenssl_add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") == 1
            && copenssl_add_extension(certificate, NID_key_usage, "critical,digitalSignature,keyCertSign") == 1
            && copenssl_add_extension(certificate, NID_ext_key_usage, "serverAuth") == 1
            && copenssl_add_extension(certificate, NID_subject_key_identifier, "hash") == 1
        guard isNamed else {
            throw CryptoError(.certificateInvalid, "a name cannot stand in a certificate: \(OpenSSLErrors.take())")
        }
    }

    /// Gives a server's context this identity.
    func install(in context: OpaquePointer) throws(CryptoError) {
        let key = try PEM.privateKey(Array(privateKeyPEM.utf8))
        defer { EVP_PKEY_free(key) }
        try PEM.withReader(Array(certificateChainPEM.utf8)) { reader throws(CryptoError) in
            var count = 0
            while let certificate = PEM_read_bio_X509(reader, nil, { _, _, _, _ in 0 }, nil) {
                defer { X509_free(certificate) }
                let isTaken =
                    count == 0
                    ? SSL_CTX_use_certificate(context, certificate) == 1
                    : copenssl_add_chain_certificate(context, certificate) == 1
                guard isTaken else {
                    throw CryptoError(
                        .certificateInvalid,
                        "certificate \(count + 1) of the chain is refused: \(OpenSSLErrors.take())"
                    )
                }
                count += 1
            }
            let isAtEnd = OpenSSLErrors.firstIs(PEM_R_NO_START_LINE)
            let reasons = OpenSSLErrors.take()
            guard count > 0, isAtEnd else {
                throw CryptoError(
                    .certificateInvalid,
                    "the certificate chain cannot be read after \(count) certificates: \(reasons)"
                )
            }
        }
        guard SSL_CTX_use_PrivateKey(context, key) == 1, SSL_CTX_check_private_key(context) == 1 else {
            throw CryptoError(
                .certificateInvalid,
                "the private key is not that of the first certificate: \(OpenSSLErrors.take())"
            )
        }
    }
}

/// Tells addresses from names.
public enum IPAddress {
    /// Whether the text is an IPv4 or IPv6 address in its usual form.
    public static func isNumeric(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }
}
