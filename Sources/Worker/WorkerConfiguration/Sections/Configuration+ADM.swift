import TOML

extension Configuration {
    /// An app's way to Amazon Device Messaging: `[app.adm]`.
    public struct ADM: Hashable, Sendable {
        /// The client identifier of the app's security profile.
        public var clientID: String
        /// The client secret.
        public var clientSecret: Secret
        /// Where messages are sent to, or nil for Amazon's host.
        public var endpoint: HostPort?
        /// Where access tokens are fetched, or nil for Amazon's address.
        public var tokenURL: String?
        /// The URL of the HTTP proxy to go through, or nil.
        public var proxy: Secret?
        /// A PEM file with an extra trust anchor, for a simulator, or nil.
        public var caFile: String?
    }
}

extension ConfigurationKey {
    static let admClientID = ConfigurationKey(
        section: "app.adm", name: "client_id", kind: .string, standard: .string(""),
        summary: "Client ID of the app's security profile; \"\" is no ADM.")
    static let admClientSecret = ConfigurationKey(
        section: "app.adm", name: "client_secret", kind: .string, standard: .string(""), isSecret: true,
        secretForm: .whole,
        summary: "Client secret that goes with it.")
    static let admEndpoint = ConfigurationKey(
        section: "app.adm", name: "endpoint", kind: .string, standard: .string(""),
        summary: "Another server for all of the app's messages, HOST:PORT.",
        details: "\"\" is api.amazon.com.")
    static let admTokenURL = ConfigurationKey(
        section: "app.adm", name: "token_url", kind: .string, standard: .string(""),
        summary: "Where access tokens are fetched, https://HOST:PORT/PATH.")
    static let admProxy = ConfigurationKey(
        section: "app.adm", name: "proxy", kind: .string, standard: .string(""), isSecret: true,
        summary: "HTTP proxy on the way to ADM and to the access tokens.",
        details: "As that of [app.apns].")
    static let admCAFile = ConfigurationKey(
        section: "app.adm", name: "ca_file", kind: .string, standard: .string(""),
        summary: "Extra trust anchor, PEM, for the simulator.")

    /// The keys of `[app.adm]`.
    static let adm = [admClientID, admClientSecret, admEndpoint, admTokenURL, admProxy, admCAFile]
}

extension ConfigurationReader {
    /// Reads `[app.adm]`; nil if the app does not use ADM.
    mutating func readADM(app index: Int) -> Configuration.ADM? {
        let clientID = text(.admClientID, app: index)
        let secret = text(.admClientSecret, app: index)
        let adm = Configuration.ADM(
            clientID: clientID, clientSecret: Secret(secret), endpoint: readEndpoint(.admEndpoint, app: index),
            tokenURL: readTokenURL(.admTokenURL, app: index), proxy: readProxy(.admProxy, app: index),
            caFile: readCertificateFile(.admCAFile, app: index))
        guard !clientID.isEmpty else { return nil }
        for (key, value) in [(ConfigurationKey.admClientID, clientID), (.admClientSecret, secret)] {
            guard !value.isEmpty, value.utf8.count <= 512, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
                fail(
                    key, app: index, value.isEmpty ? "missing" : "the value is invalid",
                    "give it as Amazon's developer console shows it, in the security profile of the app")
                continue
            }
        }
        return adm
    }
}
