import PushTestKit

extension TestConfiguration {
    /// Names the push services of a scenario to its workers.
    ///
    /// - Parameters:
    ///   - services: which there are.
    ///   - ports: where workers are to find them: a service's own ports, or those of proxies. Browsers' services, of
    ///     which each has a port, can have an HTTP proxy only.
    mutating func use(_ services: [ServiceKind], at ports: [ServiceKind: UInt16]) {
        var app = App(endpoint: nil)
        (app.name, app.bundleID) = (Population.app, Population.bundleID)
        app.outcomes = ["all"]
        for service in services {
            let port = ports[service]
            switch service {
            case .apns:
                app.endpoint = port.map { "127.0.0.1:\($0)" }
                app.anchor = "apns.pem"
            case .fcm:
                app.sections += Self.fcm(port: port ?? 0)
            case .webpush:
                app.sections += Self.browsers
                sections += Self.browserServices(proxyPort: port)
            }
        }
        apps = [app]
    }

    private static func fcm(port: UInt16) -> String {
        """

        [app.fcm]
        service_account_file = "account.json"
        endpoint = "127.0.0.1:\(port)"
        token_url = "https://127.0.0.1:\(port)/token"
        ca_file = "fcm.pem"
        """
    }

    private static let browsers = """

        [app.webpush]
        key_file = "vapid.pem"
        subject = "mailto:push@example.com"
        """

    private static func browserServices(proxyPort: UInt16?) -> String {
        """

        [webpush]
        trusted_hosts = ["localhost"]
        ca_file = "webpush.pem"
        \(proxyPort.map { "proxy = \"http://127.0.0.1:\($0)\"" } ?? "")
        """
    }
}
