import Essentials
public import Notifications
import RegistryCore

/// The combined effect of a batch of registrations, so that a few statements apply it at once.
///
/// Each registration takes its token from any other device of the app, and renews its device or adds one; a change of
/// identity or app ends subscriptions. The plan plays this through for the devices that the batch touches.
public struct RegistrationPlan {
    /// A device that the batch touches.
    private struct Slot {
        /// The device as it will be.
        var stored: StoredDevice
        /// Its address and app in the table; nil if it is not there yet.
        let former: TokenKey?
        /// The registration to write; nil as long as the batch only found the device.
        var registration: NumberedRegistration?
        var isRemoved = false
        var losesDatasets = false
        var losesTopics = false
        var losesOwnTopics = false
        var losesTokens = false
        var changesUser = false
        var changesIdentity = false
        var datasetNames: [String] = []
        var topics: [String] = []

        var isNew: Bool { former == nil }
    }

    private struct TokenKey: Hashable {
        let token: [UInt8]
        let app: Int64
    }

    // Identifiers are compared by their bytes, as the database does, and not as equal texts.
    private var slots: [Slot] = []
    private var slotsByDevice: [ByteText: Int] = [:]
    private var slotsByToken: [TokenKey: Int] = [:]
    private var isLearned: Set<DatasetKey> = []
    /// The further tokens that come with the devices.
    private(set) var tokens = TokenPlan()
    /// The datasets that the batch names, known afterwards.
    public private(set) var learnedDatasets: [DatasetKey] = []

    /// Plays a batch through.
    ///
    /// - Parameters:
    ///   - registrations: the batch, in order.
    ///   - stored: every device in the table that has an identifier, or a token and app, of the batch.
    public init(_ registrations: [NumberedRegistration], stored: [StoredDevice]) {
        for device in stored where slotsByDevice[ByteText(device.deviceID)] == nil {
            add(Slot(stored: device, former: TokenKey(token: device.token, app: device.app)))
        }
        for registration in registrations { apply(registration) }
    }

    private mutating func add(_ slot: Slot) {
        slotsByDevice[ByteText(slot.stored.deviceID)] = slots.count
        slotsByToken[TokenKey(token: slot.stored.token, app: slot.stored.app)] = slots.count
        slots.append(slot)
    }

    private mutating func apply(_ new: NumberedRegistration) {
        let name = ByteText(new.device.deviceID)
        let token = TokenKey(token: AddressKey(new.device.token, new.device.platform).bytes, app: new.app)
        if let other = slotsByToken[token], slotsByDevice[name] != other { remove(other) }
        if let index = slotsByDevice[name] {
            renew(index, new, token)
        } else {
            let stored = StoredDevice(
                row: 0, deviceID: new.device.deviceID, token: token.token, app: new.app, pool: new.pool,
                identity: new.identity, userID: new.device.userID, hasStoredAddress: false)
            add(Slot(stored: stored, former: nil, registration: new))
        }
        guard let index = slotsByDevice[name] else { return }
        slots[index].datasetNames += new.datasetNames
        slots[index].topics += new.topics
        for further in new.tokens { tokens.add(further, app: new.app) }
        learn(new)
    }

    private mutating func renew(_ index: Int, _ new: NumberedRegistration, _ token: TokenKey) {
        var slot = slots[index]
        let (old, isWhole) = (slot.stored, new.badge != nil)
        slotsByToken[TokenKey(token: old.token, app: old.app)] = nil
        if old.identity != new.identity { slot.changesIdentity = true }
        if old.identity != new.identity || old.pool != new.pool || isWhole {
            slot.losesDatasets = true
            slot.datasetNames = []
        }
        if old.app != new.app { slot.losesTopics = true }
        if isWhole { slot.losesOwnTopics = true }
        if old.app != new.app || isWhole { slot.topics = [] }
        if old.app != new.app || !new.device.platform.isAPNs || isWhole {
            slot.losesTokens = true
            tokens.lost(old.deviceID)
        }
        if !old.userID.hasBytes(of: new.device.userID) || old.app != new.app { slot.changesUser = true }
        slot.registration = new
        slot.stored.userID = new.device.userID
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
        slotsByDevice[ByteText(slots[index].stored.deviceID)] = nil
        slotsByToken[TokenKey(token: slots[index].stored.token, app: slots[index].stored.app)] = nil
    }

    private mutating func learn(_ new: NumberedRegistration) {
        guard let pool = new.device.identityPoolID, let identity = new.device.identityID else { return }
        for name in new.datasetNames where name != NumberedRegistration.futureDatasets {
            let key = DatasetKey(identityPoolID: pool, identityID: identity, datasetName: name)
            if isLearned.insert(key).inserted { learnedDatasets.append(key) }
        }
    }

    // MARK: The outcome

    /// How many devices are new.
    public var addedCount: Int { kept.count(where: \.isNew) }

    /// Whether a device of one app goes over to another.
    public var changesApps: Bool { slots.contains(where: \.losesTopics) }

    /// The rows of devices that keep their place, and whose address in the table another device gets.
    ///
    /// A database that compares addresses row by row needs other ones there until all are written.
    public var rowsGivingWay: [Int64] {
        slots.indices.filter { index in
            guard let former = slots[index].former, !slots[index].isRemoved, let heir = slotsByToken[former]
            else { return false }
            return heir != index
        }.map { slots[$0].stored.row }
    }

    /// The rows of devices that another one took the token from.
    var removedRows: [Int64] { slots.filter { $0.isRemoved && !$0.isNew }.map(\.stored.row) }

    /// The rows of devices whose dataset subscriptions end.
    var rowsLosingDatasets: [Int64] { rows(where: \.losesDatasets) }

    /// The rows of devices whose topic subscriptions end, and their subscriptions to records.
    var rowsLosingTopics: [Int64] { rows(where: \.losesTopics) }

    /// The rows of devices whose own topic subscriptions end, while those of their users stay.
    var rowsLosingOwnTopics: [Int64] { rows { $0.losesOwnTopics && !$0.losesTopics } }

    /// The rows of devices whose further tokens end.
    var rowsLosingTokens: [Int64] { rows(where: \.losesTokens) }

    /// The rows of devices whose addresses have no rest any more.
    var rowsLosingStoredAddresses: [Int64] {
        rows { $0.stored.hasStoredAddress && $0.registration.map { $0.storedAddress == nil } ?? false }
    }

    /// The rows of devices that had another user, or app.
    var rowsChangingUser: [Int64] { rows(where: \.changesUser) }

    /// The rests of addresses, by the device's identifier.
    var storedAddresses: [(deviceID: String, rest: StoredAddress)] {
        kept.compactMap { slot in slot.registration?.storedAddress.map { (slot.stored.deviceID, $0) } }
    }

    /// The identifiers of devices that get their user's topics.
    var inheritors: [String] {
        identifiers { $0.stored.userID != nil && ($0.changesUser || $0.isNew) }
    }

    /// The identifiers of devices that are new to their user in their app.
    public var newcomersToUsers: [String] { identifiers { $0.isNew || $0.changesUser } }

    /// The identifiers of devices that are new to their identity in their app.
    public var newcomersToIdentities: [String] { identifiers { $0.isNew || $0.changesIdentity || $0.losesTopics } }

    /// The devices that are in the table and renewed, with their rows.
    var renewed: [(row: Int64, registration: NumberedRegistration)] {
        kept.compactMap { slot in slot.isNew ? nil : slot.registration.map { (slot.stored.row, $0) } }
    }

    /// The devices that are new, in the order in which they are added.
    var added: [NumberedRegistration] { kept.compactMap { $0.isNew ? $0.registration : nil } }

    /// The devices whose badges are set; a new one has 0 as it is.
    var badges: [(deviceID: String, badge: Int)] {
        kept.compactMap { slot in
            guard let badge = slot.registration?.badge, !slot.isNew || badge != 0 else { return nil }
            return (slot.stored.deviceID, badge)
        }
    }

    /// Subscriptions to datasets, by the device's identifier.
    public var datasetSubscriptions: [DeviceSubscription] {
        kept.flatMap { slot in slot.datasetNames.map { DeviceSubscription(slot.stored.deviceID, to: $0) } }
    }

    /// Subscriptions to topics, by the device's identifier.
    public var topicSubscriptions: [DeviceSubscription] {
        kept.flatMap { slot in slot.topics.map { DeviceSubscription(slot.stored.deviceID, to: $0) } }
    }

    /// The topics of these subscriptions, with their apps, each once.
    public var topics: [AppTopic] {
        var seen: Set<[ByteText]> = []
        return kept.flatMap { slot in slot.topics.map { AppTopic($0, app: slot.registration?.device.app ?? "") } }
            .filter { seen.insert([ByteText($0.name), ByteText($0.app)]).inserted }
    }

    /// The slots of devices that stay; nearly always these are all, and no slot is copied.
    private var kept: [Slot] { slots.contains(where: \.isRemoved) ? slots.filter { !$0.isRemoved } : slots }

    private func identifiers(where condition: (Slot) -> Bool) -> [String] {
        kept.compactMap { condition($0) ? $0.stored.deviceID : nil }
    }

    private func rows(where condition: (Slot) -> Bool) -> [Int64] {
        kept.compactMap { !$0.isNew && condition($0) ? $0.stored.row : nil }
    }
}
