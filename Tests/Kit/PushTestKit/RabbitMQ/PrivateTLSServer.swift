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
        // Another program may take a free port before the server has it.
        for _ in 0..<Self.attemptsMaximum {
            let port = try FreePorts.find(1)[0]
            let process = try Self.start(certificate, port)
            if Self.listens(process) {
                (self.port, self.process) = (port, process)
                return
            }
            Self.end(process)
        }
        throw PrivateServerFailure("openssl s_server did not start")
    }

    private static let attemptsMaximum = 5

    private static func start(
        _ certificate: RabbitMQCertificate, _ port: UInt16
    ) throws -> SupervisedProcess.Started {
        let server =
            "openssl s_server -accept 127.0.0.1:\(port) -cert \(certificate.certificateFile) "
            + "-key \(certificate.keyFile) -www"
        // The shell outlives the server only until our end of its standard input closes. It keeps none of the server's
        // standard output, which ends with the server.
        return try SupervisedProcess.start(
            ["/bin/sh", "-c", "\(server) </dev/null 2>&1 & exec >/dev/null 2>&1; read -r line; kill $!; wait $!"],
            environment: ["PATH": "/usr/bin:/bin"])
    }

    private static func listens(_ process: SupervisedProcess.Started) -> Bool {
        while let line = SupervisedProcess.readLine(process.standardOutput) {
            if line.hasPrefix("ACCEPT") { return true }
        }
        return false
    }

    private static func end(_ process: SupervisedProcess.Started) {
        close(process.standardInput)
        SupervisedProcess.waitForEnd(process.processIdentifier)
        close(process.standardOutput)
    }

    deinit { Self.end(process) }
}
