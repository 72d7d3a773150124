import TOML

/// The value of a key as it was written.
struct RawValue: Sendable {
    /// How it was written.
    enum Content: Sendable {
        /// In the file, with a type.
        case typed(TOMLNode.Value)
        /// In the environment or on the command line, as mere text.
        case text(String)
    }

    /// The value as it was written.
    let content: Content
    /// Where.
    let origin: ConfigurationOrigin
}
