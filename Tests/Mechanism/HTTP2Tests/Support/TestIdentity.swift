import Crypto
import Glibc
import PushTestKit

/// Certificates for tests, and the files that make them trusted.
struct TestIdentity: Sendable {
    static let hour: Int64 = 3_600

    let identity: ServerIdentity
    /// Path of the certificate as a PEM file, which is there for as long as the identity is.
    let certificateFile: String
    /// Path of the private key as a PEM file.
    let keyFile: String
    private let folder: TemporaryFolder

    init(
        names: [String] = ["localhost", "127.0.0.1"], validFromSeconds: Int64 = -hour, validUntilSeconds: Int64 = hour
    ) throws {
        folder = try TemporaryFolder()
        let now = Int64(time(nil))
        identity = try ServerIdentity.selfSigned(
            names: names, notBeforeSeconds: now + validFromSeconds, notAfterSeconds: now + validUntilSeconds)
        certificateFile = try folder.write("certificate.pem", identity.certificateChainPEM)
        keyFile = try folder.write("key.pem", identity.privateKeyPEM)
    }

    func clientContext(protocols: [String] = ["h2"]) throws -> TLSContext {
        try withExtendedLifetime(folder) {
            try TLSContext.client(extraTrustAnchorsFile: certificateFile, applicationProtocols: protocols)
        }
    }

    func serverContext(protocols: [String] = ["h2"]) throws -> TLSContext {
        try TLSContext.server(identity, applicationProtocols: protocols)
    }
}
