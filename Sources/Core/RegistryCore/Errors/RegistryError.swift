/// A failure of the registry, and its remedy.
public struct RegistryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure, by what the caller can do.
    public enum Code: String, Sendable {
        /// Locked or out of reach for the moment: the same call may succeed later.
        case unavailable
        /// The store cannot be written: its file, its folder or its disk says no.
        case readOnly
        /// The store is damaged.
        case corrupt
        /// The store was migrated by a newer Apus, and this one cannot use it any more.
        case newerSchema
        /// The store lacks a migration that this Apus needs.
        case olderSchema
        /// No such device or dataset.
        case notFound
        /// The caller's values are not acceptable.
        case invalid
        /// It would be more than may be kept (`RegistryQuota`).
        case quotaExceeded
        /// Anything else that the store reports.
        case failed
    }

    /// The kind of failure.
    public let code: Code
    /// The problem, its location and the remedy, for people.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

extension RegistryError {
    /// Says that the registry has no such device.
    public static func noDevice(_ deviceID: String) -> RegistryError {
        RegistryError(
            .notFound,
            "The registry has no device \"\(deviceID.prefix(RegistryRules.nameBytesMaximum))\". "
                + "'apus device list' shows its devices.")
    }

    /// Says that a device cannot be registered, because it belongs to another app.
    public static let deviceOfAnotherApp = RegistryError(.invalid, "Another app has a device of this identifier.")

    /// Says that the identity of a device has no such dataset yet.
    public static func noDataset(_ name: String, of deviceID: String) -> RegistryError {
        RegistryError(
            .notFound,
            "The registry knows no dataset \"\(name)\" of the identity of device \"\(deviceID)\". It learns of one "
                + "from the first change event, or by subscribing to it by name.")
    }

    /// Says that a device cannot subscribe to datasets.
    public static func withoutIdentity(_ deviceID: String) -> RegistryError {
        RegistryError(
            .invalid,
            "Device \"\(deviceID.prefix(RegistryRules.nameBytesMaximum))\" has no identity, and datasets belong to an "
                + "identity: register it with an identity pool and an identity first.")
    }
}
