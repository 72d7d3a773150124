import COpenSSL

/// Reads and writes the text form of keys and certificates.
enum PEM {
    /// Runs `body` with a reader over the bytes, which OpenSSL sees but does not copy.
    static func withReader<Result>(
        _ bytes: [UInt8],
        _ body: (OpaquePointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        guard let length = Int32(exactly: bytes.count), let reader = BIO_new(BIO_s_mem()) else {
            throw OpenSSLErrors.failure(of: "BIO_new")
        }
        defer { BIO_free(reader) }
        guard length == 0 || BIO_write(reader, bytes, length) == length else {
            throw OpenSSLErrors.failure(of: "BIO_write")
        }
        return try body(reader)
    }

    /// The text that `body` writes.
    static func text(_ body: (OpaquePointer) -> Int32) throws(CryptoError) -> String {
        guard let writer = BIO_new(BIO_s_mem()) else { throw OpenSSLErrors.failure(of: "BIO_new") }
        defer { BIO_free(writer) }
        guard body(writer) == 1 else { throw OpenSSLErrors.failure(of: "PEM_write_bio") }
        var start: UnsafeMutablePointer<CChar>?
        let length = copenssl_memory_bytes(writer, &start)
        guard let start, length > 0 else { throw OpenSSLErrors.failure(of: "BIO_get_mem_data") }
        return start.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
    }

    /// Reads one private key, also from a text that `PEMText` can repair; the caller frees it.
    static func privateKey(_ bytes: [UInt8]) throws(CryptoError) -> OpaquePointer {
        guard !bytes.isEmpty else {
            throw CryptoError(.keyMissing, "the private key is empty; give the text of the key file (PEM)")
        }
        if let key = try readPrivateKey(bytes) { return key }
        if let repaired = PEMText.repaired(bytes), let key = try readPrivateKey(repaired) { return key }
        let reasons = OpenSSLErrors.take()
        let text = String(decoding: bytes, as: UTF8.self)
        let cause = PEMText.cause(bytes).map { "; \($0)" } ?? ""
        guard hasBlock("PRIVATE KEY", in: text) else {
            throw CryptoError(
                .keyMissing,
                "no private key found: the text has no complete '-----BEGIN PRIVATE KEY-----' block\(cause)"
            )
        }
        guard !text.contains("ENCRYPTED") else {
            throw CryptoError(.keyInvalid, "the private key is encrypted; give it without a pass phrase")
        }
        throw CryptoError(.keyInvalid, "the private key is damaged (\(reasons))\(cause); download or export it again")
    }

    private static func readPrivateKey(_ bytes: [UInt8]) throws(CryptoError) -> OpaquePointer? {
        ERR_clear_error()
        return try withReader(bytes) { reader in
            // Without a callback OpenSSL would ask for a pass phrase on the terminal of the process.
            PEM_read_bio_PrivateKey(reader, nil, { _, _, _, _ in 0 }, nil)
        }
    }

    /// Reads one public key (`BEGIN PUBLIC KEY`), also from a text that `PEMText` can repair; the caller frees it.
    static func publicKey(_ bytes: [UInt8]) throws(CryptoError) -> OpaquePointer {
        if let key = try readPublicKey(bytes) { return key }
        if let repaired = PEMText.repaired(bytes), let key = try readPublicKey(repaired) { return key }
        let reasons = OpenSSLErrors.take()
        throw CryptoError(
            hasBlock("PUBLIC KEY", in: String(decoding: bytes, as: UTF8.self)) ? .keyInvalid : .keyMissing,
            "no usable public key in the text (\(reasons)); it needs a '-----BEGIN PUBLIC KEY-----' block"
        )
    }

    private static func readPublicKey(_ bytes: [UInt8]) throws(CryptoError) -> OpaquePointer? {
        ERR_clear_error()
        return try withReader(bytes) { reader in PEM_read_bio_PUBKEY(reader, nil, { _, _, _, _ in 0 }, nil) }
    }

    /// Whether the text has the first and the last line of a block; OpenSSL's own errors do not tell.
    static func hasBlock(_ label: String, in text: String) -> Bool {
        text.contains("-----BEGIN ") && text.contains("-----END ") && text.contains(label + "-----")
    }
}
