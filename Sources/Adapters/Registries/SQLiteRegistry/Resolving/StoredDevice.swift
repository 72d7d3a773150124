import Essentials
import Notifications
import RegistryCore

/// The numbers of a stored device, its app, pool and identity.
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
    /// Whether its address had a rest when it was read.
    var hasAddressRest: Bool
}
