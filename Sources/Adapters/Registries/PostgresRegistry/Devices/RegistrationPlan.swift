import Essentials
import Notifications
import RegistryCore
import RegistrySQL

/// The combined effect of a batch of registrations, so that a few statements apply it at once.
///
/// Each registration takes its token from any other device of the app, and renews its device or adds one; a change of
/// identity or app ends subscriptions. The plan plays this through for the devices that the batch touches.
struct RegistrationPlan {
    /// A device that the batch touches.
    private struct Slot {
        var stored: StoredDevice
        /// The registration to write; nil as long as the batch only found the device.
        var registration: NumberedRegistration?
        var isRemoved = false
        var losesDatasets = false
        var losesTopics = false
        var losesTokens = false
        var changesUser = false
        var changesIdentity = false
        var datasetNames: [String] = []
        var topics: [String] = []
    }

    private struct TokenKey: Hashable {
        let token: [UInt8]
        let app: Int64
    }

    /// Stands for the row of a device that is not in the table yet.
    private static let noRow: Int64 = 0

    // Identifiers are compared by their bytes, as the database does, and not as equal texts.
    private var slots: [Slot] = []
    private var slotsByDevice: [[UInt8]: Int] = [:]
    private var slotsByToken: [TokenKey: Int] = [:]
    private var isLearned: Set<DatasetKey> = []
    /// The further tokens that come with the devices.
    private(set) var tokens = TokenPlan()
    /// The datasets that the batch names, known afterwards.
    private(set) var learnedDatasets: [DatasetKey] = []

    /// Plays a batch through.
    ///
    /// - Parameters:
    ///   - registrations: the batch, in order.
    ///   - stored: every device in the table that has an identifier, or a token and app, of the batch.
    init(_ registrations: [NumberedRegistration], stored: [StoredDevice]) {
        for device in stored { add(Slot(stored: device)) }
        for registration in registrations { apply(registration) }
    }

    private mutating func add(_ slot: Slot) {
        slotsByDevice[Array(slot.stored.deviceID.utf8)] = slots.count
        slotsByToken[TokenKey(token: slot.stored.token, app: slot.stored.app)] = slots.count
        slots.append(slot)
    }

    private mutating func apply(_ new: NumberedRegistration) {
        let device = new.registration.device
        let name = Array(device.deviceID.utf8)
        let token = TokenKey(token: AddressKey(device.token, device.platform).bytes, app: new.app)
        if let other = slotsByToken[token], slotsByDevice[name] != other { remove(other) }
        if let index = slotsByDevice[name] {
            renew(index, new, token)
        } else {
            let stored = StoredDevice(
                row: Self.noRow, deviceID: device.deviceID, token: token.token, app: new.app, pool: new.pool,
                identity: new.identity, userID: device.userID, hasAddressRest: false)
            add(Slot(stored: stored, registration: new))
        }
        guard let index = slotsByDevice[name] else { return }
        slots[index].datasetNames += new.registration.datasetNames
        slots[index].topics += new.registration.topics
        for further in new.registration.furtherTokens { tokens.add(further, app: new.app) }
        learn(new.registration)
    }

    private mutating func renew(_ index: Int, _ new: NumberedRegistration, _ token: TokenKey) {
        var slot = slots[index]
        slotsByToken[TokenKey(token: slot.stored.token, app: slot.stored.app)] = nil
        if slot.stored.identity != new.identity { slot.changesIdentity = true }
        if slot.stored.identity != new.identity || slot.stored.pool != new.pool {
            slot.losesDatasets = true
            slot.datasetNames = []
        }
        if slot.stored.app != new.app {
            slot.losesTopics = true
            slot.topics = []
        }
        if slot.stored.app != new.app || !new.registration.device.platform.isAPNs {
            slot.losesTokens = true
            tokens.lost(slot.stored.deviceID)
        }
        let userID = new.registration.device.userID
        if !slot.stored.userID.hasBytes(of: userID) || slot.stored.app != new.app { slot.changesUser = true }
        slot.registration = new
        slot.stored.userID = userID
        slot.stored.token = token.token
        slot.stored.app = new.app
        slot.stored.pool = new.pool
        slot.stored.identity = new.identity
        slots[index] = slot
        slotsByToken[token] = index
    }

    private mutating func remove(_ index: Int) {
        slots[index].isRemoved = true
        tokens.lost(slots[index].stored.deviceID)
        slotsByDevice[Array(slots[index].stored.deviceID.utf8)] = nil
        slotsByToken[TokenKey(token: slots[index].stored.token, app: slots[index].stored.app)] = nil
    }

    private mutating func learn(_ registration: DeviceRegistration) {
        guard let pool = registration.device.identityPoolID, let identity = registration.device.identityID
        else { return }
        for name in registration.datasetNames {
            let key = DatasetKey(identityPoolID: pool, identityID: identity, datasetName: name)
            if isLearned.insert(key).inserted { learnedDatasets.append(key) }
        }
    }

    // MARK: The outcome

    /// The rows of devices that another one took the token from.
    var removedRows: [Int64] { slots.filter { $0.isRemoved && $0.stored.row != Self.noRow }.map(\.stored.row) }

    /// The rows of devices whose dataset subscriptions end.
    var rowsLosingDatasets: [Int64] { kept { $0.losesDatasets && $0.stored.row != Self.noRow }.map(\.stored.row) }

    /// The rows of devices whose topic subscriptions end, and their subscriptions to records.
    var rowsLosingTopics: [Int64] { kept { $0.losesTopics && $0.stored.row != Self.noRow }.map(\.stored.row) }

    /// The rows of devices whose further tokens end.
    var rowsLosingTokens: [Int64] { kept { $0.losesTokens && $0.stored.row != Self.noRow }.map(\.stored.row) }

    /// The rows of devices whose addresses have no rest any more.
    var rowsLosingAddressRests: [Int64] {
        kept { $0.stored.hasAddressRest && $0.registration.map { $0.addressRest == nil } ?? false }.map(\.stored.row)
    }

    /// The rests of addresses, by the device's identifier.
    var addressRests: [(deviceID: String, rest: AddressRest)] {
        kept { _ in true }.compactMap { slot in
            slot.registration?.addressRest.map { (slot.stored.deviceID, $0) }
        }
    }

    /// The rows of devices that had another user, or app.
    var rowsChangingUser: [Int64] { kept { $0.changesUser && $0.stored.row != Self.noRow }.map(\.stored.row) }

    /// The identifiers of devices that get their user's topics.
    var inheritors: [String] {
        kept { $0.stored.userID != nil && ($0.changesUser || $0.stored.row == Self.noRow) }.map(\.stored.deviceID)
    }

    /// The identifiers of devices that are new to their user in their app.
    var newcomersToUsers: [String] {
        kept { $0.stored.row == Self.noRow || $0.changesUser }.map(\.stored.deviceID)
    }

    /// The identifiers of devices that are new to their identity in their app.
    var newcomersToIdentities: [String] {
        kept { $0.stored.row == Self.noRow || $0.changesIdentity || $0.losesTopics }.map(\.stored.deviceID)
    }

    /// The identifiers of devices that are new to their app, identity or user.
    var newcomers: [String] {
        kept { slot in
            slot.stored.row == Self.noRow || slot.losesDatasets || slot.losesTopics || slot.changesUser
        }.map(\.stored.deviceID)
    }

    /// The devices that are in the table and renewed, with their rows.
    var renewed: [(row: Int64, NumberedRegistration)] {
        kept { $0.stored.row != Self.noRow }.compactMap { slot in slot.registration.map { (slot.stored.row, $0) } }
    }

    /// The devices that are new, in the order in which they are added.
    var added: [NumberedRegistration] { kept { $0.stored.row == Self.noRow }.compactMap(\.registration) }

    /// Subscriptions to datasets, by the device's identifier.
    var datasetSubscriptions: [(deviceID: String, name: String)] {
        kept { _ in true }.flatMap { slot in slot.datasetNames.map { (slot.stored.deviceID, $0) } }
    }

    /// Subscriptions to topics, by the device's identifier.
    var topicSubscriptions: [(deviceID: String, name: String)] {
        kept { _ in true }.flatMap { slot in slot.topics.map { (slot.stored.deviceID, $0) } }
    }

    /// The topics of these subscriptions, with their apps.
    var topics: [(name: String, app: String)] {
        kept { _ in true }.flatMap { slot in
            let app = slot.registration?.registration.device.app ?? ""
            return slot.topics.map { ($0, app) }
        }
    }

    private func kept(_ condition: (Slot) -> Bool) -> [Slot] { slots.filter { !$0.isRemoved && condition($0) } }
}

/// A registration with the numbers of the names in it.
struct NumberedRegistration {
    let registration: DeviceRegistration
    let app: Int64
    let pool: Int64?
    let identity: Int64?

    /// The part of the address that does not fit into its key.
    var addressRest: AddressRest? { AddressRest(registration.device.token, registration.device.platform) }
}

/// A stored device, with the numbers of its app, pool and identity.
struct StoredDevice {
    /// The row of the device.
    var row: Int64
    /// Its identifier.
    var deviceID: String
    /// The key of its address.
    var token: [UInt8]
    /// Its app.
    var app: Int64
    /// Its pool, if it has an identity.
    var pool: Int64?
    /// Its identity.
    var identity: Int64?
    /// Its user.
    var userID: String?
    /// Whether its address had a rest when it was read.
    var hasAddressRest: Bool

    /// The columns of `device d` that `init` reads.
    static let columns = "d.id, \(Recipient.readColumns), d.app, d.identity_pool, d.identity, d.user_id"

    /// Reads a row.
    init(_ row: Row) {
        self.row = row.integer(0)
        deviceID = row.text(1)
        token = row.bytes(3)
        app = row.integer(4)
        pool = row.optionalInteger(5)
        identity = row.optionalInteger(6)
        userID = row.optionalText(7)
        hasAddressRest = Recipient.hasAddressRest(row, from: 1)
    }

    /// Creates a value.
    init(
        row: Int64, deviceID: String, token: [UInt8], app: Int64, pool: Int64?, identity: Int64?, userID: String?,
        hasAddressRest: Bool
    ) {
        self.row = row
        self.deviceID = deviceID
        self.token = token
        self.app = app
        self.pool = pool
        self.identity = identity
        self.userID = userID
        self.hasAddressRest = hasAddressRest
    }
}
