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
