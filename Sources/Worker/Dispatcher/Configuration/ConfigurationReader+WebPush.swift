import ServiceClient
import WebPushTransport

extension ConfigurationReader {
    /// Reads `[webpush]`.
    mutating func readWebPush() -> Configuration.WebPush {
        Configuration.WebPush(
            encryptionThreads: integer(.webPushEncryptionThreads), knownHosts: readPushHosts(.webPushKnownHosts),
            onlyKnownHosts: boolean(.webPushOnlyKnownHosts), trustedHosts: readPushHosts(.webPushTrustedHosts),
            proxy: readProxy(.webPushProxy), caFile: readCertificateFile(.webPushCAFile))
    }

    /// Whether the app says how it reaches browsers.
    func usesWebPush(app index: Int) -> Bool { isGiven(.appWebPushKeyFile, app: index) }

    /// Reads `[app.webpush]`; nil if the app does not push to browsers.
    mutating func readAppWebPush(app index: Int) -> Configuration.AppWebPush? {
        let file = resolved(text(.appWebPushKeyFile, app: index), of: .appWebPushKeyFile, app: index)
        let subject = text(.appWebPushSubject, app: index)
        guard let file else { return nil }
        do throws(VAPIDError) {
            _ = try VAPIDSubject(subject)
        } catch {
            fail(
                .appWebPushSubject, app: index, error.message,
                "give mailto:NAME@HOST or https://HOST/PATH by which a push service reaches you")
        }
        if checksFile(of: .appWebPushKeyFile) { checkVAPIDKey(file, app: index) }
        return Configuration.AppWebPush(keyFile: file, subject: subject)
    }

    private mutating func checkVAPIDKey(_ path: String, app index: Int) {
        do throws(ServiceError) {
            _ = try VAPIDKey(path: path)
        } catch {
            fail(
                .appWebPushKeyFile, app: index, error.message,
                "make a key with 'openssl ecparam -name prime256v1 -genkey -noout -out \(path)'",
                isTransient: error.code == .systemFailed)
        }
        if ConfigurationFile.isReadableByOthers(path) {
            warn(.appWebPushKeyFile, app: index, "other users can read \(path)", "run 'chmod 600 \(path)'")
        }
    }

    private mutating func readPushHosts(_ key: ConfigurationKey) -> [String] {
        let hosts = texts(key).map { $0.lowercased() }
        for host in hosts where !Self.isName(host, allowing: ".-:", countMaximum: 253) {
            fail(key, "\(host.quoted) is invalid", "give host names, for example push.example.com or .example.com")
        }
        return hosts
    }
}
