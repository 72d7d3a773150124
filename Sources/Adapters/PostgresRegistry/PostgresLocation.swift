public import PushCore

/// What a URL says about where a registry is, as far as it may be said aloud.
public struct PostgresLocation: Hashable, Sendable {
    /// Host, port and database.
    public let place: String
    /// Whether a password is written in it.
    public let holdsPassword: Bool
    /// Whether the server is on this machine.
    public let isLocal: Bool
    /// Whether the server has to show a certificate for its name (libpq's `sslmode=verify-full`).
    public let verifiesServer: Bool

    /// Reads a URL; nothing is connected.
    ///
    /// - Parameter url: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full`.
    /// - Throws: `RegistryError` with `.invalid`, which does not quote the URL.
    public init(url: String) throws(RegistryError) {
        let address = try Address(url: url)
        place = address.description
        holdsPassword = address.options.contains { $0.keyword == "password" || $0.keyword == "sslpassword" }
        let hosts = address.options.filter { $0.keyword == "host" || $0.keyword == "hostaddr" }
            .flatMap { $0.value.split(separator: ",") }
        isLocal = hosts.allSatisfy { host in
            host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
                || host.hasPrefix("127.")
        }
        verifiesServer = address.options.contains { $0.keyword == "sslmode" && $0.value == "verify-full" }
    }
}
