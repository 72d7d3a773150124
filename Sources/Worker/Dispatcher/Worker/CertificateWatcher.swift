import EventLoop
import RegistryAPI
import StructuredLogging
import WorkerConfiguration

/// Reloads the certificate of the registry's API when its files change.
///
/// The files are looked at on a thread of its own. A pair that does not serve is logged once, and the old one stays.
final class CertificateWatcher: Sendable {
    /// Reads the files again and again, on the watcher's loop.
    private final class CertificateReader {
        let loop: EventLoop
        let paths: (certificate: String, key: String)
        let server: RegistryServer
        let intervalNanoseconds: UInt64
        let logger: Logger
        var seen: (certificate: String, key: String)?
        var failure: String?

        init(
            loop: EventLoop, paths: (certificate: String, key: String), server: RegistryServer,
            intervalNanoseconds: UInt64, logger: Logger
        ) {
            self.loop = loop
            self.paths = paths
            self.server = server
            self.intervalNanoseconds = intervalNanoseconds
            self.logger = logger
        }

        func look() {
            reread()
            loop.schedule(afterNanoseconds: intervalNanoseconds) { [weak self] in self?.look() }
        }

        func reread() {
            do {
                let texts = (certificate: try read(paths.certificate), key: try read(paths.key))
                // The first read always hands the files to the server, even if the server has begun with others.
                guard seen ?? ("", "") != texts else {
                    failure = nil
                    return
                }
                try server.replace(certificateChainPEM: texts.certificate, privateKeyPEM: texts.key)
                let isFirst = seen == nil
                seen = texts
                failure = nil
                guard !isFirst else { return }
                logger.log(.info, "registry.certificate.renewed", [.field("file", paths.certificate)])
            } catch {
                failed("\(error)")
            }
        }

        private func read(_ path: String) throws(ConfigurationFile.Failure) -> String {
            String(decoding: try ConfigurationFile.read(path), as: UTF8.self)
        }

        private func failed(_ reason: String) {
            guard reason != failure else { return }
            failure = reason
            logger.log(
                .error, "registry.certificate.refused",
                [
                    .field("file", paths.certificate), .field("reason", reason),
                    .field("hint", "the server goes on with the certificate that it has"),
                ])
        }
    }

    private let reader: LoopBound<CertificateReader>

    /// Begins to look at the files of a server that shows a certificate; nil if it speaks plain HTTP.
    ///
    /// - Parameters:
    ///   - configuration: names the files.
    ///   - server: the server that shows the certificate.
    ///   - intervalNanoseconds: how often the files are looked at.
    ///   - logger: where a renewal, or a pair that cannot be used, is logged.
    /// - Throws: `WorkerError` if there is no thread.
    init?(
        _ configuration: Configuration.RegistryAPI, of server: RegistryServer,
        intervalNanoseconds: UInt64 = 10_000_000_000, logger: Logger
    ) throws(WorkerError) {
        guard let certificate = configuration.certificateFile, let key = configuration.keyFile else { return nil }
        let loop: EventLoop
        do throws(EventLoopError) {
            loop = try EventLoop(name: "certificates")
        } catch {
            throw WorkerError(.unavailable, "certificates cannot be watched: \(error)")
        }
        reader = LoopBound(
            CertificateReader(
                loop: loop, paths: (certificate, key), server: server, intervalNanoseconds: intervalNanoseconds,
                logger: logger), to: loop)
        loop.submit { [reader] in reader.value.look() }
    }

    deinit { reader.loop.stopAndJoin() }
}
