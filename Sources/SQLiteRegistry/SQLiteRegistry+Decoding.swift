import PushCore

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
        var poolName: String?
        var identityName: String?
        if let pool = stored.pool {
            poolName = try pools.name(of: pool)
            identityName = identity ?? row.optionalText(firstColumn + DeviceRow.columnCount)
        }
        let device = Device(
            deviceID: row.text(firstColumn + 1), platform: platform, token: token,
            app: try apps.name(of: stored.app), identityPoolID: poolName, identityID: identityName,
            userID: row.optionalText(firstColumn + 7), registeredAtMilliseconds: row.integer(firstColumn + 8))
        return DeviceRow(device: device, stored: stored)
    }
}
