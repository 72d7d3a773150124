import Essentials
import Notifications
public import RegistryCore

extension StoredAddress {
    /// The columns that a registration writes, the number of the device aside.
    public static let storedColumns: [StoredColumn<StoredAddress>] = [
        .bytes("address") { $0.address }, .bytes("push_keys") { $0.pushKeys },
        .integer("expires_at") { $0.expiresAtMilliseconds },
    ]

    /// The columns of `device d JOIN device_address x` that `init(_:from:)` reads.
    public static let readColumns = "x.address, x.push_keys, x.expires_at, d.registered_at"

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - first: where `readColumns` begin.
    public init(_ row: some RowReader, from first: Int32) {
        self.init(
            address: row.bytes(first), pushKeys: row.bytes(first + 1),
            expiresAtMilliseconds: row.optionalInteger(first + 2),
            registeredAtMilliseconds: row.optionalInteger(first + 3))
    }
}
