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

extension SQLiteRegistry {
    /// Reads the columns of `DeviceRow.columns`.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on a row.
    ///   - firstColumn: where the columns begin.
    ///   - identity: the name of the identity, if the question named it; else it is read from the column that follows.
    /// - Returns: the device with its numbers.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    func decodeDevice(
        _ row: Statement, firstColumn: Int32, identity: String? = nil
    ) throws(RegistryError) -> DeviceRow {
        let stored = StoredDevice(
            row: row.integer(firstColumn), app: row.integer(firstColumn + 4),
            pool: row.optionalInteger(firstColumn + 5), identity: row.optionalInteger(firstColumn + 6))
        let platform = Platform(registryNumber: row.integer(firstColumn + 2))
        guard let platform, let token = DeviceToken(bytes: row.bytes(firstColumn + 3)) else {
            throw RegistryError(
                .corrupt,
                RegistryError.corruptMessage(
                    path: connection.path, reason: "row \(stored.row) of the table device has a bad platform or token"))
        }
        var device = Device(
            deviceID: row.text(firstColumn + 1), platform: platform, token: token,
            app: try apps.name(of: stored.app), userID: row.optionalText(firstColumn + 7),
            registeredAtMilliseconds: row.integer(firstColumn + 8))
        if let pool = stored.pool {
            device.identityPoolID = try pools.name(of: pool)
            device.identityID = identity ?? row.optionalText(firstColumn + DeviceRow.columnCount)
        }
        return DeviceRow(device: device, stored: stored)
    }
}
