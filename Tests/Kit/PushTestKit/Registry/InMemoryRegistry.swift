public import ChangeEvents
import Essentials
public import Notifications
public import RegistryCore

/// A registry that is simple enough to be obviously right: every answer is computed by looking at everything.
///
/// It serves as the oracle that real registries are compared with, and as a stand-in where a test is not about the
/// registry. Belongs to one thread at a time, as every `Registry`.
public final class InMemoryRegistry: Registry {
    struct Entry {
        var device: Device
        /// Grows with each device that is added: the order of pages.
        var number: Int64
        var datasets: Set<String> = []
        var includesFuture = false
        var topics: Set<ByteText> = []
        var badge = 0
        /// The last events that counted on the badge, the newest first.
        var badgeEvents: [EventDigest] = []
        var tokens: [TokenKind: FurtherToken] = [:]
        /// The waiting messages for the device's client, and the time of its last request.
        var messages: [CourierMessage] = []
        var askedAtMilliseconds: Int64 = 0

        /// Tells its address from others of the app.
        var key: [UInt8] { AddressKey(device.token, device.platform).bytes }

        var owner: Owner? {
            guard let pool = device.identityPoolID, let identity = device.identityID else { return nil }
            return Owner(pool: pool, identity: identity)
        }
    }

    struct Owner: Hashable {
        var pool: String
        var identity: String

        init(pool: String, identity: String) {
            self.pool = pool
            self.identity = identity
        }

        init(_ key: DatasetKey) {
            self.init(pool: key.identityPoolID, identity: key.identityID)
        }
    }

    var entries = NamedEntries<Entry>()
    var knownDatasets: [Owner: Set<String>] = [:]
    var records = InMemorySubscriptions()
    var fanOuts = InMemoryFanOuts()
    var deadLetters = InMemoryDeadLetters()
    var operations = InMemoryOperations()
    var campaigns = InMemoryCampaigns()
    var history = InMemoryHistory()
    /// The oldest first.
    var eventMemory: [EventMemoryBlock] = []
    private var lastNumber: Int64 = 0

    /// If set, every call throws it: a registry that is out of reach.
    public var failure: RegistryError?

    /// If set, the next claim of subscriptions is made and then throws it, once: a commit whose answer was lost.
    public var failureAfterClaim: RegistryError?

    /// If set, a fan-out that is to begin throws it: a registry that cannot be written.
    public var failureOfFanOuts: RegistryError?

    /// Creates an empty registry.
    public init() {}

    // MARK: Audiences

    /// Finds the devices to notify for a batch of audiences.
    public func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage] {
        try check()
        return requests.map { page($0, limit: max(limit, 1)) }
    }

    /// Counts the devices of one page of a whole audience, and finds where it ends.
    public func measure(
        _ audience: Audience, after cursor: AudienceCursor?, limit: Int
    ) throws(RegistryError) -> AudienceExtent {
        try check()
        let page = page(AudienceRequest(audience: audience, cursor: cursor), limit: max(limit, 1))
        return AudienceExtent(deviceCount: page.devices.count, next: page.next)
    }

    private func page(_ request: AudienceRequest, limit: Int) -> AudiencePage {
        let early = request.asOfFanOut.flatMap { numbersBefore($0, in: request.audience) }
        let remaining = members(request.audience).sorted { $0.position < $1.position }.filter { member in
            let device = member.recipient
            guard member.position > request.cursor?.position ?? -1 else { return false }
            guard member.position <= request.through?.position ?? .max else { return false }
            if let early, !early.contains(entries[device.deviceID]?.number ?? 0) { return false }
            guard !device.deviceID.hasBytes(of: request.excludedDeviceID) else { return false }
            guard let only = request.onlyDeviceIDs else { return true }
            if case .tokens = request.audience {
                let tokens = only.compactMap { DeviceToken(hexadecimal: $0) }
                return only.contains { $0.hasBytes(of: device.deviceID) } || tokens.contains(device.token)
            }
            return only.contains { $0.hasBytes(of: device.deviceID) }
        }
        let devices = remaining.prefix(limit)
        let next = remaining.count > limit ? devices.last.map { AudienceCursor(position: $0.position) } : nil
        var page = AudiencePage(devices: devices.map(\.recipient), next: next)
        if case .dataset(let key) = request.audience, request.onlyDeviceIDs == nil, !devices.isEmpty {
            page.isOfKnownDataset = knownDatasets[Owner(key)]?.contains(key.datasetName) ?? false
        }
        return page
    }

    /// The numbers of the devices that an audience had when a fan-out began; nil for audiences that are lists.
    private func numbersBefore(_ fanOut: Int64, in audience: Audience) -> Set<Int64>? {
        switch audience {
        case .devices, .tokens: return nil
        case .dataset, .topic, .identities, .users:
            guard let before = fanOuts.befores[fanOut] else { return nil }
            return Set(before.members(audience).compactMap { before.entries[$0.recipient.deviceID]?.number })
        }
    }

    func members(_ audience: Audience) -> [(position: Int64, recipient: Recipient)] {
        switch audience {
        case .dataset(let key):
            let isKnown = knownDatasets[Owner(key)]?.contains(key.datasetName) ?? false
            return entries.values.filter { entry in
                guard RegistryRules.isDatasetName(key.datasetName), entry.owner == Owner(key) else { return false }
                return isKnown ? entry.datasets.contains(key.datasetName) : entry.includesFuture
            }.map { ($0.number, Recipient($0.device)) }
        case .topic(let topic, let app):
            let users = records.topicUsers[InMemorySubscriptions.Topic(app: app, name: ByteText(topic))] ?? []
            return entries.values.filter { entry in
                entry.device.app == app
                    && (entry.topics.contains(ByteText(topic))
                        || entry.device.userID.map { users.contains(ByteText($0)) } ?? false)
            }
            .map { ($0.number, Recipient($0.device)) }
        case .identities(let identities, let app):
            return members(of: identities, app: app) { $0.identityID }
        case .users(let users, let app):
            return members(of: users, app: app) { $0.userID }
        case .devices(let deviceIDs, let app):
            return unique(deviceIDs.map(ByteText.init)).compactMap { index, deviceID in
                guard let entry = entries[deviceID.text], entry.device.app == app else { return nil }
                return (Int64(index), Recipient(entry.device))
            }
        case .tokens(let tokens, let app):
            return unique(tokens).map { index, token in
                let key = AddressKey(ofUnknownPlatform: token).bytes
                let entry = entries.values.first { $0.device.app == app && $0.key == key }
                return (Int64(index), entry.map { Recipient($0.device) } ?? Recipient(unregistered: token, app: app))
            }
        }
    }

    private func members(
        of owners: [String], app: String, owner: (Device) -> String?
    ) -> [(position: Int64, recipient: Recipient)] {
        unique(owners.map(ByteText.init)).flatMap { index, name in
            entries.values.filter { $0.device.app == app && name.text.hasBytes(of: owner($0.device)) }
                .map { (position: Int64(index) << 40 + $0.number, recipient: Recipient($0.device)) }
        }
    }

    private func unique<Element: Hashable>(_ list: [Element]) -> [(Int, Element)] {
        var seen: Set<Element> = []
        return list.enumerated().filter { seen.insert($0.element).inserted }.map { ($0.offset, $0.element) }
    }

    // MARK: Devices

    /// Adds or renews devices and subscribes them, all or none.
    public func register(_ registrations: [DeviceRegistration], keepsApps: Bool) throws(RegistryError) -> Int {
        try check()
        for registration in registrations { try RegistryRules.check(registration) }
        let (before, learned, firstNumber) = (self.entries, knownDatasets, lastNumber)
        for registration in registrations {
            if keepsApps, let old = entries[registration.device.deviceID], old.device.app != registration.device.app {
                (entries, knownDatasets) = (before, learned)
                throw RegistryError.deviceOfAnotherApp
            }
            store(registration)
        }
        return entries.values.count { $0.number > firstNumber }
    }

    private func store(_ registration: DeviceRegistration) {
        let device = registration.device
        let key = AddressKey(device.token, device.platform).bytes
        for other in entries.values
        where other.key == key && other.device.app == device.app
            && !other.device.deviceID.hasBytes(of: device.deviceID)
        {
            entries[other.device.deviceID] = nil
        }
        var entry = entries[device.deviceID] ?? Entry(device: device, number: nextNumber())
        let old = entry
        entry.device = device
        if old.owner != entry.owner {
            entry.datasets = []
            entry.includesFuture = false
        }
        if old.device.app != device.app { entry.topics = [] }
        if old.device.app != device.app || !device.platform.isAPNs { entry.tokens = [:] }
        entries[device.deviceID] = entry
        for name in registration.datasetNames { addSubscription(device.deviceID, name) }
        entries[device.deviceID]?.topics.formUnion(registration.topics.map(ByteText.init))
        for token in registration.furtherTokens { give(token) }
    }

    private func nextNumber() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    /// Removes a device and its subscriptions.
    public func removeDevice(_ deviceID: String) throws(RegistryError) -> Bool {
        try check()
        return entries.removeValue(forKey: deviceID) != nil
    }

    /// Removes devices whose token is dead.
    public func prune(_ deadTokens: [DeadToken]) throws(RegistryError) -> Int {
        try check()
        var removed = pruneFurtherTokens(deadTokens)
        for dead in deadTokens where dead.kind == .alert {
            let key = AddressKey(dead.token, dead.platform).bytes
            let found = entries.values.first { entry in
                entry.device.app == dead.app && entry.device.platform == dead.platform && entry.key == key
            }
            guard let device = found?.device, device.registeredAtMilliseconds < dead.deadSinceMilliseconds ?? .max
            else { continue }
            if let successor = dead.successor {
                let successorKey = AddressKey(successor, dead.platform).bytes
                guard entries.values.contains(where: { $0.device.app == dead.app && $0.key == successorKey }) else {
                    entries[device.deviceID]?.device.token = successor
                    continue
                }
            }
            entries[device.deviceID] = nil
            removed += 1
        }
        return removed
    }

    /// One device, or nil.
    public func device(_ deviceID: String) throws(RegistryError) -> Device? {
        try check()
        return entries[deviceID]?.device
    }

    /// The device of an app that has an address, or nil.
    public func device(at token: DeviceToken, platform: Platform, app: String) throws(RegistryError) -> Device? {
        try check()
        let key = AddressKey(token, platform).bytes
        return entries.values.first { $0.device.app == app && $0.key == key }?.device
    }

    /// Devices in the order of their identifiers.
    public func devices(
        matching filter: DeviceFilter, after deviceID: String?, limit: Int
    ) throws(RegistryError) -> [Device] {
        try check()
        let matching = entries.values.map(\.device).filter { device in
            (filter.app == nil || device.app == filter.app)
                && (filter.identityID == nil || device.identityID == filter.identityID)
                && (filter.userID == nil || device.userID.hasBytes(of: filter.userID))
                && (deviceID.map { Self.isOrdered($0, before: device.deviceID) } ?? true)
        }
        return Array(matching.sorted { Self.isOrdered($0.deviceID, before: $1.deviceID) }.prefix(max(limit, 0)))
    }

    // Bytes, as databases compare; Swift's own order of strings is another for some texts.
    private static func isOrdered(_ left: String, before right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// How many devices there are.
    public func deviceCount() throws(RegistryError) -> Int {
        try check()
        return entries.count
    }

    // MARK: Subscriptions

    /// Remembers datasets, and subscribes the devices that wait for datasets to come.
    public func recordDatasets(_ datasets: [DatasetKey]) throws(RegistryError) {
        try check()
        for key in datasets where RegistryRules.isDatasetName(key.datasetName) { learn(Owner(key), key.datasetName) }
    }

    private func learn(_ owner: Owner, _ name: String) {
        guard knownDatasets[owner, default: []].insert(name).inserted else { return }
        for entry in entries.values where entry.owner == owner && entry.includesFuture {
            entries[entry.device.deviceID]?.datasets.insert(name)
        }
    }

    private func addSubscription(_ deviceID: String, _ name: String) {
        guard let owner = entries[deviceID]?.owner else { return }
        learn(owner, name)
        entries[deviceID]?.datasets.insert(name)
    }

    /// Subscribes a device to a dataset of its identity.
    public func subscribe(_ deviceID: String, toDataset datasetName: String) throws(RegistryError) {
        try check()
        try RegistryRules.checkDatasetName(datasetName)
        _ = try ownerOfDevice(deviceID)
        addSubscription(deviceID, datasetName)
    }

    /// Ends a dataset subscription.
    public func unsubscribe(_ deviceID: String, fromDataset datasetName: String) throws(RegistryError) -> Bool {
        try check()
        return entries[deviceID]?.datasets.remove(datasetName) != nil
    }

    /// Subscribes a device to all known datasets of its identity, or some of them.
    public func subscribeToAllDatasets(
        _ deviceID: String, names: [String]?, includingFuture: Bool
    ) throws(RegistryError) -> [String] {
        try check()
        let known = knownDatasets[try ownerOfDevice(deviceID)] ?? []
        for name in names ?? [] where !known.contains(name) {
            throw RegistryError(.notFound, "No dataset \"\(name)\" is known.")
        }
        entries[deviceID]?.datasets.formUnion(names ?? Array(known))
        entries[deviceID]?.includesFuture = includingFuture
        return try datasetSubscriptions(of: deviceID).datasetNames
    }

    /// The dataset subscriptions of a device.
    public func datasetSubscriptions(of deviceID: String) throws(RegistryError) -> DatasetSubscriptions {
        try check()
        guard let entry = entries[deviceID] else { throw RegistryError.noDevice(deviceID) }
        return DatasetSubscriptions(datasetNames: entry.datasets.sorted(), includesFuture: entry.includesFuture)
    }

    /// Subscribes a device to a topic of its app.
    public func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError) {
        try check()
        try RegistryRules.checkTopic(topic)
        guard entries[deviceID] != nil else { throw RegistryError.noDevice(deviceID) }
        entries[deviceID]?.topics.insert(ByteText(topic))
    }

    /// Ends a topic subscription.
    public func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool {
        try check()
        return entries[deviceID]?.topics.remove(ByteText(topic)) != nil
    }

    private func ownerOfDevice(_ deviceID: String) throws(RegistryError) -> Owner {
        guard let entry = entries[deviceID] else { throw RegistryError.noDevice(deviceID) }
        guard let owner = entry.owner else { throw RegistryError.withoutIdentity(deviceID) }
        return owner
    }

    func check() throws(RegistryError) {
        if let failure { throw failure }
    }
}

/// Values by name, names being told apart by their bytes, as databases do.
struct NamedEntries<Value> {
    private var entries: [ByteText: Value] = [:]

    var values: Dictionary<ByteText, Value>.Values { entries.values }
    var count: Int { entries.count }

    subscript(name: String) -> Value? {
        get { entries[ByteText(name)] }
        set { entries[ByteText(name)] = newValue }
    }

    subscript(name: String, default standard: @autoclosure () -> Value) -> Value {
        get { entries[ByteText(name)] ?? standard() }
        set { entries[ByteText(name)] = newValue }
    }

    mutating func removeValue(forKey name: String) -> Value? { entries.removeValue(forKey: ByteText(name)) }
}
