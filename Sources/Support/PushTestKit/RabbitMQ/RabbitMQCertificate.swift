/// The certificate that a private RabbitMQ node shows on its TLS listener, as PEM files.
public struct RabbitMQCertificate: Sendable {
    /// The path of the certificate chain, the node's own certificate first.
    public let certificateFile: String
    /// The path of its private key.
    public let keyFile: String

    /// Names the two files; the node must be able to read them for as long as it runs.
    public init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}
