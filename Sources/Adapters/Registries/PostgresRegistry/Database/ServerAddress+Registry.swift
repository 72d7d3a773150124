import PostgreSQL
import RegistryCore

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
