import PushCore

/// A device as it was read, with its numbers.
struct DeviceRow {
    /// The columns of `device d` that `SQLiteRegistry.decodeDevice` reads; the identity's name follows them where it is
    /// not known from the question.
    static let columns = """
        d.id, d.device_id, d.platform, d.token, d.app, d.identity_pool, d.identity, d.user_id, d.registered_at
        """

    /// How many columns that are.
    static let columnCount: Int32 = 9

    /// The device.
    var device: Device
    /// Its numbers.
    var stored: StoredDevice
}
