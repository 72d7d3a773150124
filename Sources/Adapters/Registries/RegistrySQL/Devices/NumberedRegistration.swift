import Essentials
import Notifications
public import RegistryCore

/// A registration, or a record of everything that a device has, with the numbers of the names in it.
public struct NumberedRegistration {
    /// The name that stands for the datasets that an identity gets later; no dataset can have it.
    public static let futureDatasets = "*"

    /// The device.
    public let device: Device
    /// The datasets that it subscribes to.
    public let datasetNames: [String]
    /// The topics that it subscribes to.
    public let topics: [String]
    let tokens: [FurtherToken]
    /// The badge of a record, whose device loses all else that it had; nil if the device keeps it.
    let badge: Int?
    /// The number of its app.
    public var app: Int64 = 0
    /// The number of its identity's pool.
    public var pool: Int64?
    /// The number of its identity.
    public var identity: Int64?

    /// Takes a registration, which adds to the device that there is.
    public init(_ registration: DeviceRegistration) {
        device = registration.device
        datasetNames = registration.datasetNames
        topics = registration.topics
        tokens = registration.furtherTokens
        badge = nil
    }

    /// Takes a record, which replaces everything that the device has.
    public init(_ record: DeviceRecord) {
        device = record.device
        datasetNames = record.datasetNames + (record.includesFutureDatasets ? [Self.futureDatasets] : [])
        topics = record.topics
        tokens = record.tokens
        badge = record.badge
    }

    /// The part of the address that does not fit into its key.
    var storedAddress: StoredAddress? { StoredAddress(device.token, device.platform) }
}

/// A stored device, with the numbers of its app, pool and identity.
public struct StoredDevice {
    /// The row of the device.
    public let row: Int64
    /// Its identifier.
    public let deviceID: String
    /// The key of its address.
    var token: [UInt8]
    /// Its app.
    public internal(set) var app: Int64
    /// Its pool, if it has an identity.
    public internal(set) var pool: Int64?
    /// Its identity.
    public internal(set) var identity: Int64?
    var userID: String?
    /// Whether its address had a rest when it was read.
    let hasStoredAddress: Bool

    /// The columns of `device d` that `init(_:)` reads.
    public static let columns = "d.id, \(Recipient.readColumns), d.app, d.identity_pool, d.identity, d.user_id"

    /// Reads a row.
    public init(_ row: some RowReader) {
        self.init(
            row: row.integer(0), deviceID: row.text(1), token: row.bytes(3), app: row.integer(4),
            pool: row.optionalInteger(5), identity: row.optionalInteger(6), userID: row.optionalText(7),
            hasStoredAddress: Recipient.hasStoredAddress(row, from: 1))
    }

    init(
        row: Int64, deviceID: String, token: [UInt8], app: Int64, pool: Int64?, identity: Int64?, userID: String?,
        hasStoredAddress: Bool
    ) {
        self.row = row
        self.deviceID = deviceID
        self.token = token
        self.app = app
        self.pool = pool
        self.identity = identity
        self.userID = userID
        self.hasStoredAddress = hasStoredAddress
    }
}

/// A device's subscription to a dataset or a topic.
public struct DeviceSubscription {
    let deviceID: String
    let name: String

    /// Names a device and a dataset or a topic.
    public init(_ deviceID: String, to name: String) {
        self.deviceID = deviceID
        self.name = name
    }
}

/// A topic of an app.
public struct AppTopic {
    let name: String
    let app: String

    /// Names a topic and its app.
    public init(_ name: String, app: String) {
        self.name = name
        self.app = app
    }
}
