import Crypto
import Glibc

/// Certificates for tests, and the files that make them trusted.
struct TestIdentity: Sendable {
    static let hour: Int64 = 3_600

    let identity: ServerIdentity
    /// Path of the certificate as a PEM file; it stays in the temporary directory of the test run.
    let certificateFile: String
    /// Path of the private key as a PEM file.
    let keyFile: String

    init(
        names: [String] = ["localhost", "127.0.0.1"], validFromSeconds: Int64 = -hour, validUntilSeconds: Int64 = hour
    ) throws {
        let now = Int64(time(nil))
        identity = try ServerIdentity.selfSigned(
            names: names, notBeforeSeconds: now + validFromSeconds, notAfterSeconds: now + validUntilSeconds)
        certificateFile = try Self.write(identity.certificateChainPEM)
        keyFile = try Self.write(identity.privateKeyPEM)
    }

    private static func write(_ text: String) throws -> String {
        var template = Array("/tmp/apus-http2-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw TestFailure("mkstemp failed") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw TestFailure("write failed") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the files.
    func remove() {
        unlink(certificateFile)
        unlink(keyFile)
    }

    func clientContext(protocols: [String] = ["h2"]) throws -> TLSContext {
        try TLSContext.client(extraTrustAnchorsFile: certificateFile, applicationProtocols: protocols)
    }

    func serverContext(protocols: [String] = ["h2"]) throws -> TLSContext {
        try TLSContext.server(identity, applicationProtocols: protocols)
    }
}
