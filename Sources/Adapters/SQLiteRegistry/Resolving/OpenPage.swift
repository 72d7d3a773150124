import Essentials
import PushCore

/// The page of one request while it is being filled.
///
/// It holds all that a row is looked at for, so that filling it touches nothing else.
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
    /// Where the next page begins, once it is known that there is one.
    private(set) var next: AudienceCursor?
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

    /// Puts a device into the page, unless it is the one to leave out.
    ///
    /// - Parameters:
    ///   - device: the device.
    ///   - position: where the page goes on if it ends with this device.
    mutating func add(_ device: consuming Recipient, at position: Int64) {
        guard !device.deviceID.hasBytes(of: excludedDeviceID), takesPlace(position) else { return }
        if !isCounting { devices.append(device) }
    }

    /// Puts the device of a row with the columns of `RecipientRow` into the page, unless it is the one to leave out; it
    /// is read only if it is wanted.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on the row; its first column is the probe's. If devices are counted and nobody
    ///     is left out, the row of the device is all that is needed.
    ///   - position: where the page goes on if it ends with this device.
    ///   - registry: whose statement it is.
    /// - Returns: false if the page was full, so that the device belongs to the next one, or if the device lies behind
    ///   what was asked for.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    mutating func addRow(
        _ row: Statement, at position: Int64, of registry: SQLiteRegistry
    ) throws(RegistryError) -> Bool {
        isAnswered = true
        if let excludedDeviceID, !isBeyond(position), row.isText(RecipientRow.deviceIDColumn + 1, excludedDeviceID) {
            return true
        }
        guard takesPlace(position) else { return false }
        if !isCounting { devices.append(try registry.decodeRecipient(row, firstColumn: 1, app: app).recipient) }
        return true
    }

    /// Takes a place for a device, if it is asked for; a full page says where the next one begins instead.
    private mutating func takesPlace(_ position: Int64) -> Bool {
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
