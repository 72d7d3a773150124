extension Configuration {
    /// Where the registry is: `registry.url`.
    public enum RegistryLocation: Hashable, Sendable {
        /// An SQLite file.
        ///
        /// `sqlite:PATH`, default `sqlite:registry.db`.
        case sqlite(path: String)
    }
}
