public import Essentials

/// A token with which a backend uses the registry's API, as the registry keeps it: the token itself is not in it.
public struct APIToken: Hashable, Sendable {
    /// The permission of a token.
    public enum Permission: String, CaseIterable, Hashable, Sendable {
        /// To look.
        case read
        /// To look and to change.
        case write
        /// To publish events, and nothing else.
        case publish

        /// Whether it allows what needs another.
        public func includes(_ needed: Permission) -> Bool { self == needed || (self == .write && needed == .read) }
    }

    /// The name that operators gave it, 1 to 256 bytes.
    @ByBytes public var name: String
    /// The SHA-256 of the token, 32 bytes.
    public var digest: [UInt8]
    /// The app that it is for; nil for all apps.
    public var app: String?
    /// The permission.
    public var permission: Permission
    /// When it was made, in milliseconds since 1970.
    public var createdAtMilliseconds: Int64

    /// Creates a token's record.
    public init(name: String, digest: [UInt8], app: String?, permission: Permission, createdAtMilliseconds: Int64) {
        self.name = name
        self.digest = digest
        self.app = app
        self.permission = permission
        self.createdAtMilliseconds = createdAtMilliseconds
    }
}
