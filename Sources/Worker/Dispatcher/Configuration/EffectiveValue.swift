/// A key with the value that is in force, fit to be printed.
public struct EffectiveValue: Hashable, Sendable {
    /// The full name of the key.
    public let key: String
    /// The value as TOML and JSON write it; passwords are redacted.
    public let literal: String
    /// The value with its passwords, for telling whether it has changed.
    let exact: Secret
    /// When a change has an effect on a running process.
    let effect: ConfigurationKey.Effect
    /// Where it came from.
    public let origin: ConfigurationOrigin
}
