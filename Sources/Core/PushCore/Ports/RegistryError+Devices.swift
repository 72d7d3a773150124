extension RegistryError {
    /// Says that the registry has no such device.
    public static func noDevice(_ deviceID: String) -> RegistryError {
        RegistryError(
            .notFound,
            "The registry has no device \"\(deviceID.prefix(RegistryRules.nameBytesMaximum))\". "
                + "'apus device list' shows its devices.")
    }

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
