import Notifications
import PushCore

extension SQLiteRegistry {
    /// Reads the columns of `DeviceRow.columns`, and the identity's name from the column that follows them.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on a row.
    ///   - first: where the columns begin.
    /// - Returns: the device with its numbers.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    func decodeDevice(_ row: Statement, from first: Int32 = 0) throws(RegistryError) -> DeviceRow {
        let app = row.integer(first + 1)
        let pool = row.optionalInteger(first + 2)
        var poolName: String?
        if let pool { poolName = try pools.name(of: pool) }
        let device = try Device(
            row, from: first + 4, app: try apps.name(of: app), identityPoolID: poolName,
            identityID: pool == nil ? nil : row.optionalText(first + DeviceRow.columnCount))
        let stored = StoredDevice(
            row: row.integer(first), app: app, pool: pool, identity: row.optionalInteger(first + 3),
            userID: device.userID)
        return DeviceRow(device: device, stored: stored)
    }

    /// Reads the columns of `RecipientRow.columns`, which begin at 1.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on a row.
    ///   - app: the app, if it is known from the question; else the row says it.
    /// - Returns: the recipient with its number.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    func decodeRecipient(_ row: Statement, app: String? = nil) throws(RegistryError) -> RecipientRow {
        let name: String
        if let app { name = app } else { name = try apps.name(of: row.integer(5)) }
        return RecipientRow(recipient: try Recipient(row, from: 2, app: name), row: row.integer(1))
    }
}
