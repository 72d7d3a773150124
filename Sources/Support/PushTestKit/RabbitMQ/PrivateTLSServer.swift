import Glibc

/// A TLS server that shows a certificate and sends nothing else: enough for a client that must refuse it.
public final class PrivateTLSServer: Sendable {
    /// The port, on 127.0.0.1.
    public let port: UInt16
    private let process: SupervisedProcess.Started

    /// Starts the server, with `openssl s_server`, and waits until it listens.
    ///
    /// - Parameter certificate: the certificate to show.
    /// - Throws: `PrivateServerFailure` if it cannot be started.
    public init(certificate: RabbitMQCertificate) throws {
        port = try FreePorts.find(1)[0]
        let server =
            "openssl s_server -accept 127.0.0.1:\(port) -cert \(certificate.certificateFile) "
            + "-key \(certificate.keyFile) -www"
        // The shell outlives the server only until our end of its standard input closes.
        process = try SupervisedProcess.start(
            ["/bin/sh", "-c", "\(server) </dev/null 2>&1 & read -r line; kill $!; wait $!"],
            environment: ["PATH": "/usr/bin:/bin"])
        while let line = SupervisedProcess.readLine(process.standardOutput) {
            if line.hasPrefix("ACCEPT") { return }
        }
        throw PrivateServerFailure("openssl s_server did not start")
    }

    deinit {
        close(process.standardInput)
        SupervisedProcess.waitForEnd(process.processIdentifier)
        close(process.standardOutput)
    }
}
