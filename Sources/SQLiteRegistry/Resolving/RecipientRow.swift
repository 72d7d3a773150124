import PushCore

/// A recipient as it was read, with its number.
struct RecipientRow {
    /// The columns of `device d` that `SQLiteRegistry.decodeRecipient` reads.
    static let columns = "d.id, d.device_id, d.platform, d.token, d.app"

    /// The recipient.
    var recipient: Recipient
    /// The row of the device.
    var row: Int64
}
