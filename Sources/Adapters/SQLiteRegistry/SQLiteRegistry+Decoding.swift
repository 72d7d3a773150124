import Notifications
import PushCore

extension SQLiteRegistry {
    /// Reads the columns of `DeviceRow.columns`, and the identity's name from the column that follows them.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on a row.
    ///   - firstColumn: where the columns begin.
    /// - Returns: the device with its numbers.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    func decodeDevice(_ row: Statement, firstColumn: Int32) throws(RegistryError) -> DeviceRow {
        let stored = StoredDevice(
            row: row.integer(firstColumn), app: row.integer(firstColumn + 4),
            pool: row.optionalInteger(firstColumn + 5), identity: row.optionalInteger(firstColumn + 6),
            userID: row.optionalText(firstColumn + 7))
        let (platform, token) = try decodeAddress(row, platformColumn: firstColumn + 2, device: stored.row)
        var poolName: String?
        var identityName: String?
        if let pool = stored.pool {
            poolName = try pools.name(of: pool)
            identityName = row.optionalText(firstColumn + DeviceRow.columnCount)
        }
        let device = Device(
            deviceID: row.text(firstColumn + 1), platform: platform, token: token,
            app: try apps.name(of: stored.app), identityPoolID: poolName, identityID: identityName,
            userID: stored.userID, registeredAtMilliseconds: row.integer(firstColumn + 8))
        return DeviceRow(device: device, stored: stored)
    }

    /// Reads the columns of `RecipientRow.columns`.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on a row.
    ///   - firstColumn: where the columns begin.
    ///   - app: the app, if it is known from the question; else the row says it.
    /// - Returns: the recipient with its number.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    func decodeRecipient(
        _ row: Statement, firstColumn: Int32, app: String? = nil
    ) throws(RegistryError) -> RecipientRow {
        let number = row.integer(firstColumn)
        let (platform, token) = try decodeAddress(row, platformColumn: firstColumn + 2, device: number)
        let name: String
        if let app { name = app } else { name = try apps.name(of: row.integer(firstColumn + 4)) }
        let recipient = Recipient(
            deviceID: row.text(firstColumn + 1), platform: platform, token: token, app: name)
        return RecipientRow(recipient: recipient, row: number)
    }

    /// Reads the platform, and the token from the column that follows it.
    func decodeAddress(
        _ row: Statement, platformColumn: Int32, device: Int64
    ) throws(RegistryError) -> (Platform, DeviceToken) {
        guard let platform = Platform(registryNumber: row.integer(platformColumn)),
            let token = DeviceToken(bytes: row.bytes(platformColumn + 1))
        else {
            throw RegistryError(
                .corrupt,
                RegistryError.corruptMessage(
                    path: connection.path, reason: "row \(device) of the table device has a bad platform or token"))
        }
        return (platform, token)
    }
}
