import Essentials

/// The numbers under which a device and what it belongs to are stored.
struct StoredDevice: Equatable {
    /// The row of the device.
    var row: Int64
    /// Its app.
    var app: Int64
    /// Its pool, if it has an identity.
    var pool: Int64?
    /// Its identity.
    var identity: Int64?
    /// The name of its user, if it has one.
    @ByBytes var userID: String?
}
