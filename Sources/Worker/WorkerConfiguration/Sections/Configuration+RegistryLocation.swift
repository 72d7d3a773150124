import PostgreSQL
import TOML

extension Configuration {
    /// Where the registry is: `registry.url`.
    public enum RegistryLocation: Hashable, Sendable {
        /// An SQLite file.
        ///
        /// `sqlite:PATH`, default `sqlite:registry.db`.
        case sqlite(path: String)
        /// A PostgreSQL database.
        ///
        /// `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`.
        case postgres(url: Secret)
    }
}

extension ConfigurationKey {
    static let registryURL = ConfigurationKey(
        section: "registry", name: "url", kind: .string, standard: .string("sqlite:registry.db"), isSecret: true,
        summary: "Store of devices and subscriptions.",
        details: """
            sqlite:PATH, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full for several machines. \
            With a standby: …@HOST1,HOST2/DATABASE?target_session_attrs=read-write.
            """,
        effect: .afterRestart)
}

extension ConfigurationReader {
    /// Reads `registry.url`.
    mutating func readRegistry() -> Configuration.RegistryLocation {
        let url = text(.registryURL)
        let scheme = url.prefix { $0 != ":" }
        var path = String(url.dropFirst(scheme.count + 1))
        if path.hasPrefix("//") { path.removeFirst(2) }
        let remedy = "write sqlite:PATH, for example sqlite:/var/lib/apus/registry.db, or postgresql://…"
        if scheme == "postgres" || scheme == "postgresql" {
            checkPostgresURL(url, of: .registryURL)
            return .postgres(url: Secret(url))
        }
        if scheme != "sqlite" || path.isEmpty {
            fail(.registryURL, "the URL does not begin with sqlite:, or has no path", remedy)
        } else if path == ":memory:" {
            fail(.registryURL, "a registry in memory would be empty in every process", remedy)
        }
        return .sqlite(path: resolved(path, of: .registryURL) ?? "")
    }

    /// Checks the URL of a PostgreSQL database.
    mutating func checkPostgresURL(_ url: String, of key: ConfigurationKey) {
        do throws(ServerAddressFault) {
            let address = try ServerAddress(url: url)
            if address.holdsPassword, case .file(let path, _) = origin(of: key),
                ConfigurationFile.isReadableByOthers(path)
            {
                warn(
                    key, "the file holds a password, and other users can read it",
                    "run 'chmod 600 \(path)', or use \(key.variable(app: nil))_FILE")
            }
            if !address.isLocal, !address.verifiesServer {
                warn(
                    key, "the connection to \(address.description) does not verify the server",
                    "add ?sslmode=verify-full, and &sslrootcert=FILE for a certificate authority of your own")
            }
        } catch {
            fail(
                key, "the PostgreSQL URL is malformed",
                "write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, special characters of the password as %XX")
        }
    }
}
