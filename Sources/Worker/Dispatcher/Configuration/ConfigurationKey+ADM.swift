import TOML

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
