/// A device as it is in the table, with the numbers of what it belongs to.
struct StoredDevice {
    /// The row of the device.
    var row: Int64
    /// Its identifier.
    var deviceID: String
    /// Its token.
    var token: [UInt8]
    /// Its app.
    var app: Int64
    /// Its pool, if it has an identity.
    var pool: Int64?
    /// Its identity.
    var identity: Int64?
    /// Its user.
    var userID: String?

    /// The columns of `device d` that `init` reads.
    static let columns = "d.id, d.device_id, d.token, d.app, d.identity_pool, d.identity, d.user_id"

    /// Reads a row.
    init(_ row: Row) {
        self.row = row.integer(0)
        deviceID = row.text(1)
        token = row.bytes(2)
        app = row.integer(3)
        pool = row.optionalInteger(4)
        identity = row.optionalInteger(5)
        userID = row.optionalText(6)
    }

    /// Creates a value.
    init(
        row: Int64, deviceID: String, token: [UInt8], app: Int64, pool: Int64?, identity: Int64?, userID: String?
    ) {
        self.row = row
        self.deviceID = deviceID
        self.token = token
        self.app = app
        self.pool = pool
        self.identity = identity
        self.userID = userID
    }
}
