/// What may be done with a registry, and whether it is made.
public enum RegistryOpenMode: Hashable, Sendable {
    /// It must be there; nothing is written.
    case readOnly
    /// It must be there.
    case existing
    /// As `existing` for a file; in a database of a server that has no registry one is made.
    case readWrite
    /// As `readWrite`, and a file that is missing is made.
    case create
}
