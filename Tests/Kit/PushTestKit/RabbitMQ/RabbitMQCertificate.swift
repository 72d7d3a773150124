import Glibc

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

    /// Makes a certificate that is its own authority, in a temporary folder, with the `openssl` command.
    ///
    /// - Parameter host: the DNS name that it is for.
    /// - Returns: the files; `remove` deletes them.
    /// - Throws: `PrivateServerFailure` with what `openssl` printed.
    public static func make(host: String) async throws -> RabbitMQCertificate {
        let folder = try TemporaryFolder.makeUnowned(for: "certificate")
        let made = RabbitMQCertificate(certificateFile: "\(folder)/certificate.pem", keyFile: "\(folder)/key.pem")
        let result = try await SupervisedProcess.run(
            [
                "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days", "2", "-subj", "/CN=\(host)", "-addext", "subjectAltName=DNS:\(host)", "-keyout",
                made.keyFile, "-out", made.certificateFile,
            ],
            environment: ["PATH": "/usr/bin:/bin"])
        guard result.status == 0 else { throw PrivateServerFailure("openssl failed: \(result.output)") }
        return made
    }

    /// Deletes the files of a certificate that was made.
    public func remove() {
        unlink(certificateFile)
        unlink(keyFile)
        rmdir(String(certificateFile.prefix { $0 != "." }.dropLast("/certificate".count)))
    }
}
