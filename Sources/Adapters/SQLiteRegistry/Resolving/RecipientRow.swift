import PushCore

/// A recipient as it was read, with its number.
struct RecipientRow {
    /// The columns of `device d` that `SQLiteRegistry.decodeRecipient` reads.
    static let columns = columnsOfKnownApp + ", d.app"
    /// Those that it reads if the app is known from the question.
    static let columnsOfKnownApp = "d.id, d.device_id, d.platform, d.token"

    /// The place of the device's row among the columns.
    static let rowColumn: Int32 = 0
    /// The place of the device's identifier among the columns.
    static let deviceIDColumn: Int32 = 1

    /// The recipient.
    var recipient: Recipient
    /// The row of the device.
    var row: Int64
}
