/// What may be done with a registry file, and whether it is made.
public enum RegistryOpenMode: Hashable, Sendable {
    /// The file must be there, in the current schema; nothing is written.
    case readOnly
    /// The file must be there; an older schema is brought up to date.
    case readWrite
    /// As `readWrite`, and a file that is missing is made.
    case create
}
