import ChangeEvents
import Essentials
import Notifications
import RegistryCore
import RegistrySQL

/// The page of one request while it is being filled.
///
/// It holds all values that each row is checked against, so that filling it touches nothing else.
struct OpenPage {
    private let limit: Int
    /// Whether devices are counted and not read.
    private let isCounting: Bool
    private let excludedDeviceID: String?
    /// The last position that is asked for.
    private let last: Int64
    /// The app of all devices; nil if each row says its own.
    private let app: String?
    /// Where the page ends so far.
    private var end: Int64 = 0

    /// The devices so far; none if they are counted.
    private(set) var devices: [Recipient] = []
    /// How many there are.
    private(set) var deviceCount = 0
    /// The start of the next page, once its existence is known.
    private(set) var next: AudienceCursor?
    /// Whether the devices subscribed to a dataset by its name.
    var isOfKnownDataset = false
    /// Whether there was a row, if only of a device that is left out.
    private(set) var isAnswered = false

    /// Begins the page of a request.
    init(_ request: AudienceRequest, limit: Int, isCounting: Bool) {
        self.limit = limit
        self.isCounting = isCounting
        excludedDeviceID = request.excludedDeviceID
        last = request.through?.position ?? .max
        app =
            switch request.audience {
            case .dataset: nil
            case .devices(_, let app), .tokens(_, let app), .identities(_, let app), .users(_, let app),
                .topic(_, let app):
                app
            }
    }

    /// Whether a position lies behind the last that is asked for.
    func isBeyond(_ position: Int64) -> Bool { position > last }

    /// Adds a device to the page, unless the page excludes it.
    ///
    /// - Parameters:
    ///   - device: the device.
    ///   - position: where the page goes on if it ends with this device.
    mutating func add(_ device: consuming Recipient, at position: Int64) {
        guard !device.deviceID.hasBytes(of: excludedDeviceID), reserveSlot(position) else { return }
        if !isCounting { devices.append(device) }
    }

    /// Adds the device of a row with the columns of `RecipientRow` to the page, unless the page excludes it; reads it
    /// only if it is wanted.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on the row; its first column is the probe's. If devices are counted and none is
    ///     excluded, only the row of the device is needed.
    ///   - position: where the page goes on if it ends with this device.
    ///   - registry: the registry of the statement.
    /// - Returns: false if the page was full, so that the device belongs to the next one, or if the device lies beyond
    ///   the range.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    mutating func addRow(
        _ row: Statement, at position: Int64, of registry: SQLiteRegistry
    ) throws(RegistryError) -> Bool {
        isAnswered = true
        if let excludedDeviceID, !isBeyond(position), row.isText(RecipientRow.deviceIDColumn + 1, excludedDeviceID) {
            return true
        }
        guard reserveSlot(position) else { return false }
        if !isCounting { devices.append(try registry.decodeRecipient(row, app: app).recipient) }
        return true
    }

    /// The page, as far as it is filled.
    var page: AudiencePage {
        var page = AudiencePage(devices: devices, next: next)
        page.isOfKnownDataset = isOfKnownDataset
        return page
    }

    /// Takes a slot for a device, if it is asked for; a full page says where the next one begins instead.
    private mutating func reserveSlot(_ position: Int64) -> Bool {
        if isBeyond(position) { return false }
        guard deviceCount < limit else {
            next = AudienceCursor(position: end)
            return false
        }
        deviceCount += 1
        end = position
        return true
    }
}

/// A recipient as it was read, with its number.
struct RecipientRow {
    /// The columns of `device d` that `SQLiteRegistry.decodeRecipient` reads.
    static let columns = columnsOfKnownApp + ", d.app"
    /// The columns that it reads when the question names the app.
    static let columnsOfKnownApp = "d.id, \(Recipient.readColumns)"

    /// The index of the device's row among the columns.
    static let rowColumn: Int32 = 0
    /// The index of the device's identifier among the columns.
    static let deviceIDColumn: Int32 = 1

    /// The recipient.
    var recipient: Recipient
    /// The row of the device.
    var row: Int64
}

/// A device as it was read, with its numbers.
struct DeviceRow {
    /// The columns of `device d` that `SQLiteRegistry.decodeDevice` reads; the identity's name follows them where it is
    /// not known from the question.
    static let columns = "d.id, d.app, d.identity_pool, d.identity, \(Device.readColumns)"

    /// How many columns that are.
    static let columnCount: Int32 = 4 + Device.readColumnCount

    /// The device.
    var device: Device
    /// Its row.
    var row: Int64
    /// The number of its app.
    var app: Int64
    /// The number of its identity.
    var identity: Int64?
}

/// One row of a question to the database: a part of one request.
struct Probe {
    /// The request, by its index in the batch.
    var request: Int
    /// The index in the request's own list, or 0.
    var element: Int
    /// Where the probe's text or bytes lie in the buffer; empty if it has none.
    var name: Range<Int>
    /// The numbers that the query takes; as many as it takes, the rest is ignored.
    var numbers: (Int64, Int64, Int64, Int64)
}

/// The probes of one statement's run, with their texts in one piece of memory that is used again and again.
final class ProbeBuffer {
    /// As many rows as the largest statement has.
    static let probesMaximum = 256

    private(set) var probes = ContiguousArray<Probe>()
    private(set) var names = ContiguousArray<UInt8>()

    /// Whether another probe fits.
    var isFull: Bool { probes.count >= Self.probesMaximum }

    /// Adds a probe.
    func append(
        request: Int, element: Int = 0, name: some Sequence<UInt8>,
        numbers: (Int64, Int64, Int64, Int64) = (0, 0, 0, 0)
    ) {
        let start = names.count
        names.append(contentsOf: name)
        probes.append(Probe(request: request, element: element, name: start..<names.count, numbers: numbers))
    }

    /// Forgets the probes and keeps the memory.
    func removeAll() {
        probes.removeAll(keepingCapacity: true)
        names.removeAll(keepingCapacity: true)
    }
}

/// The requests of a batch, by index, sorted into the kinds that are asked for together.
struct RequestKinds {
    var datasets: [Int] = []
    var topics: [Int] = []
    var identities: [Int] = []
    var users: [Int] = []
    var devices: [Int] = []
    var tokens: [Int] = []
    var onlyAmongDatasets: [Int] = []
    var onlyAmongTopics: [Int] = []
    var onlyAmongOwners: [Int] = []

    /// Sorts one request in.
    ///
    /// A few devices of an audience that may be large are looked up by their identifiers and then asked whether they
    /// belong to it; for audiences that are a list of devices anyway, the list is shortened instead.
    mutating func add(_ request: AudienceRequest, index: Int) {
        let isWhole = request.onlyDeviceIDs == nil
        switch request.audience {
        case .dataset: if isWhole { datasets.append(index) } else { onlyAmongDatasets.append(index) }
        case .topic: if isWhole { topics.append(index) } else { onlyAmongTopics.append(index) }
        case .identities: if isWhole { identities.append(index) } else { onlyAmongOwners.append(index) }
        case .users: if isWhole { users.append(index) } else { onlyAmongOwners.append(index) }
        case .devices: devices.append(index)
        case .tokens: tokens.append(index)
        }
    }
}
