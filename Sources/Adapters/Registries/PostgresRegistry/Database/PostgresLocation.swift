import PostgreSQL
public import RegistryCore

/// The printable parts of a URL of a registry.
public struct PostgresLocation: Hashable, Sendable {
    /// Host, port and database.
    public let address: String
    /// Whether a password is written in it.
    public let holdsPassword: Bool
    /// Whether the server is on this machine.
    public let isLocal: Bool
    /// Whether the server has to show a certificate for its name (libpq's `sslmode=verify-full`).
    public let verifiesServer: Bool

    /// Parses a URL, without connecting.
    ///
    /// - Parameter url: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full`.
    /// - Throws: `RegistryError` with `.invalid`, which does not quote the URL.
    public init(url: String) throws(RegistryError) {
        let address = try ServerAddress(ofRegistry: url)
        self.address = address.description
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

extension ServerAddress {
    /// Reads the URL of a registry.
    ///
    /// - Throws: `RegistryError` with `.invalid`; its message does not quote the URL.
    init(ofRegistry url: String) throws(RegistryError) {
        do throws(ServerAddressFault) { try self.init(url: url) } catch {
            switch error {
            case .unreadable: throw Self.unreadable
            case .unknownParameter(let name): throw Self.unknown(name)
            }
        }
    }

    private static func unknown(_ parameter: String) -> RegistryError {
        let advice =
            switch parameter {
            case "schema", "currentSchema", "search_path": "; the tables are in the schema \(Schema.name) in any case"
            case "sslcertmode", "sslnegotiation", "require_auth": "; a newer libpq knows it"
            default: ""
            }
        return RegistryError(
            .invalid,
            "The URL of the registry has the parameter \(parameter), which libpq does not know: remove it\(advice). "
                + "The parameters are those of PostgreSQL's documentation, \"Parameter Key Words\".")
    }

    private static var unreadable: RegistryError {
        RegistryError(
            .invalid,
            "The URL of the registry cannot be read. Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE and, behind "
                + "a question mark, libpq's parameters, for example sslmode=verify-full; write special characters of "
                + "the password as % and two hexadecimal digits (@ is %40, / is %2F).")
    }
}
