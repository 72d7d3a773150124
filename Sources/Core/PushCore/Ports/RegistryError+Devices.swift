extension RegistryError {
    /// Says that the registry has no such device.
    public static func noDevice(_ deviceID: String) -> RegistryError {
        RegistryError(
            .notFound,
            "The registry has no device \"\(deviceID.prefix(RegistryRules.nameBytesMaximum))\". "
                + "'apus device list' shows its devices.")
    }

    /// Says that a device cannot subscribe to datasets.
    public static func withoutIdentity(_ deviceID: String) -> RegistryError {
        RegistryError(
            .invalid,
            "Device \"\(deviceID.prefix(RegistryRules.nameBytesMaximum))\" has no identity, and datasets belong to an "
                + "identity: register it with an identity pool and an identity first.")
    }
}
