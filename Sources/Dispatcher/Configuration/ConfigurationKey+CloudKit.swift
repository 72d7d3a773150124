extension ConfigurationKey {
    static let registryServerKeys = ConfigurationKey(
        section: "registry", name: "server_keys", kind: .strings, standard: texts([]),
        comment: """
            The keys that servers sign their CloudKit Web Services requests with (server-to-server), each
            "ID APP read FILE" or "ID APP write FILE", where FILE holds the public key as PEM; a fifth
            word names the user on whose behalf they are, else it is the ID. They reach the public
            database only, as with Apple. Default: none.
            """)
    static let registryAllowedOrigins = ConfigurationKey(
        section: "registry", name: "allowed_origins", kind: .strings, standard: texts([]),
        comment: """
            The origins whose pages may use CloudKit Web Services in a browser (CORS), each
            https://HOST or https://HOST:PORT, or "*" for every page. Default: none.
            """)
}
