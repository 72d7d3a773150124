/// A key with the value that is in force, fit to be printed.
public struct EffectiveValue: Hashable, Sendable {
    /// The full name of the key.
    public let key: String
    /// The value as TOML and JSON write it; passwords are redacted.
    public let literal: String
    /// Where it came from.
    public let origin: ConfigurationOrigin
}
