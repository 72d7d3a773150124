public import ChangeEvents
import Essentials
import Notifications
public import RegistryCore

extension SQLiteRegistry {
    /// Finds the devices to notify for a batch of audiences.
    public func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage] {
        guard !requests.isEmpty else { return [] }
        return try reading { () throws(RegistryError) in
            let resolution = AudienceResolution(registry: self, requests: requests, limit: max(limit, 1))
            return try resolution.resolve()
        }
    }

    /// Counts the devices of one page of a whole audience, and finds where it ends.
    public func measure(
        _ audience: Audience, after cursor: AudienceCursor?, limit: Int
    ) throws(RegistryError) -> AudienceExtent {
        try reading { () throws(RegistryError) in
            let resolution = AudienceResolution(
                registry: self, requests: [AudienceRequest(audience: audience, cursor: cursor)], limit: max(limit, 1),
                isCounting: true)
            return try resolution.measure()
        }
    }
}

/// The work of one call of `resolve`: gathers the requests of each kind into probes, asks, and fills the pages.
final class AudienceResolution {
    /// A number that no row has; it stands for unknown names.
    static let unknown: Int64 = -1

    let registry: SQLiteRegistry
    let requests: [AudienceRequest]
    let buffer = ProbeBuffer()
    /// Whether devices are counted and not read.
    let isCounting: Bool
    private var pages: [OpenPage]

    /// Creates the work.
    init(registry: SQLiteRegistry, requests: [AudienceRequest], limit: Int, isCounting: Bool = false) {
        self.registry = registry
        self.requests = requests
        self.isCounting = isCounting
        pages = requests.map { OpenPage($0, limit: limit, isCounting: isCounting) }
    }

    /// Answers every request.
    func resolve() throws(RegistryError) -> [AudiencePage] {
        try fillPages()
        return pages.map(\.page)
    }

    /// Counts the entries of the answer to the one request.
    func measure() throws(RegistryError) -> AudienceExtent {
        try fillPages()
        return AudienceExtent(deviceCount: pages[0].deviceCount, next: pages[0].next)
    }

    private func fillPages() throws(RegistryError) {
        var kinds = RequestKinds()
        for (index, request) in requests.enumerated() { kinds.add(request, index: index) }
        try resolveDatasets(kinds.datasets)
        try resolveTopics(kinds.topics)
        try resolveIdentities(kinds.identities)
        try resolveUsers(kinds.users)
        try resolveDevices(kinds.devices)
        try resolveTokens(kinds.tokens)
        try resolveOnly(kinds.onlyAmongDatasets, isMember: datasetMembers)
        try resolveOnly(kinds.onlyAmongTopics, isMember: topicMembers)
        try resolveOnly(kinds.onlyAmongOwners, isMember: ownerMembers)
    }

    /// Where a request goes on; 0 at its beginning.
    func position(_ request: Int) -> Int64 { max(requests[request].cursor?.position ?? 0, 0) }

    /// The number of the fan-out that memberships must be older than; greater than all if they need not be.
    func asOfFanOut(_ request: Int) -> Int64 { requests[request].asOfFanOut ?? .max }

    /// Whether a position lies behind the last that a request asks for.
    func isBeyond(_ end: Int64, request: Int) -> Bool { pages[request].isBeyond(end) }

    /// Whether the page of a request has all it may have, so that looking further is of no use.
    func isComplete(_ request: Int) -> Bool { pages[request].next != nil }

    /// Whether a row was found for a request, if only of a device that is left out.
    func isAnswered(_ request: Int) -> Bool { pages[request].isAnswered }

    /// Adds a device to the page of a request, unless the request excludes it.
    ///
    /// - Parameters:
    ///   - device: the device.
    ///   - request: the request.
    ///   - end: where the page goes on if it ends with this device.
    func add(_ device: consuming Recipient, request: Int, end: Int64) { pages[request].add(device, at: end) }

    /// Runs a query for the probes that were gathered, forgets them, and puts the devices that it finds into the pages.
    ///
    /// - Parameters:
    ///   - query: answers the columns of `RecipientRow`.
    ///   - position: where a page goes on that ends with a row.
    /// - Throws: `RegistryError` if the store cannot answer.
    func fill(from query: AudienceQuery, position: (Probe, Int64) -> Int64) throws(RegistryError) {
        let probes = buffer.probes
        // Moved out, so that a row is not paid for with checks of who else may look at the pages.
        var pages: [OpenPage] = []
        swap(&pages, &self.pages)
        defer {
            swap(&pages, &self.pages)
            buffer.removeAll()
        }
        try query.run(buffer) { index, row throws(RegistryError) in
            let probe = probes[index]
            let end = position(probe, row.integer(RecipientRow.rowColumn + 1))
            return try pages[probe.request].addRow(row, at: end, of: registry)
        }
    }

    /// Runs a query for the probes that were gathered and forgets them.
    func run(
        _ query: AudienceQuery, row: (Probe, Statement) throws(RegistryError) -> Bool
    ) throws(RegistryError) {
        defer { buffer.removeAll() }
        try query.run(buffer) { index, statement throws(RegistryError) in
            try row(buffer.probes[index], statement)
        }
    }

    /// Runs a query that finds at most one device for each probe.
    ///
    /// - Returns: the probes in order, with their finds.
    func lookUp(_ query: AudienceQuery) throws(RegistryError) -> [(probe: Probe, found: DeviceRow?)] {
        var answers = buffer.probes.map { (probe: $0, found: DeviceRow?.none) }
        defer { buffer.removeAll() }
        try query.run(buffer) { index, statement throws(RegistryError) in
            answers[index].found = try registry.decodeDevice(statement, from: 1)
            return true
        }
        return answers
    }
}

/// Audiences of devices that belong to something named: identities, users, topics.
extension AudienceResolution {
    /// Finds the subscribers of topics.
    func resolveTopics(_ indices: [Int]) throws(RegistryError) {
        try scan(indices, isCounting ? registry.countingQueries.topicSubscribers : registry.queries.topicSubscribers) {
            audience in
            guard case .topic(let topic, let app) = audience else { return nil }
            return ([topic], app)
        }
    }

    /// Finds the devices of identities.
    func resolveIdentities(_ indices: [Int]) throws(RegistryError) {
        try scan(indices, isCounting ? registry.countingQueries.identityDevices : registry.queries.identityDevices) {
            audience in
            guard case .identities(let identities, let app) = audience else { return nil }
            return (identities, app)
        }
    }

    /// Finds the devices of users.
    func resolveUsers(_ indices: [Int]) throws(RegistryError) {
        try scan(indices, isCounting ? registry.countingQueries.userDevices : registry.queries.userDevices) {
            audience in
            guard case .users(let users, let app) = audience else { return nil }
            return (users, app)
        }
    }

    private func scan(
        _ indices: [Int], _ query: AudienceQuery,
        names: (Audience) -> (names: [String], app: String)?
    ) throws(RegistryError) {
        for index in indices {
            guard let (list, app) = names(requests[index].audience) else { continue }
            let appNumber = try registry.apps.identifier(of: app) ?? Self.unknown
            let start = OwnerPosition(encoded: position(index))
            for element in FirstOccurrences<ByteText>(of: list, from: start.element) {
                if buffer.isFull { try fill(from: query) }
                if isComplete(index) { break }
                if isBeyond(OwnerPosition(element: element, row: 0).encoded, request: index) { break }
                let after = element == start.element ? start.row : 0
                buffer.append(
                    request: index, element: element, name: list[element].utf8,
                    numbers: (appNumber, after, asOfFanOut(index), 0))
            }
        }
        try fill(from: query)
    }

    private func fill(from query: AudienceQuery) throws(RegistryError) {
        try fill(from: query) { probe, row in OwnerPosition(element: probe.element, row: row).encoded }
    }
}

extension AudienceResolution {
    /// Finds the subscribers of datasets.
    func resolveDatasets(_ indices: [Int]) throws(RegistryError) {
        guard !indices.isEmpty else { return }
        try scanDatasets(indices, registry.queries.datasetSubscribers)
        for index in indices where !pages[index].devices.isEmpty { pages[index].isOfKnownDataset = true }
        // There is no subscriber by name: the dataset may be new, and then subscribers to future datasets count.
        let remaining = indices.filter { !isAnswered($0) }
        guard !remaining.isEmpty else { return }
        try scanDatasets(remaining, registry.queries.futureSubscribers)
    }

    /// The numbers of a dataset's pool and name.
    ///
    /// - Returns: nil if this can be no dataset's name, so that it has no subscriber.
    func numbers(_ key: DatasetKey) throws(RegistryError) -> (pool: Int64, name: Int64)? {
        let name = try registry.datasetNames.identifier(of: key.datasetName)
        if name == nil || name == Schema.futureDatasets {
            guard RegistryRules.isDatasetName(key.datasetName) else { return nil }
        }
        return (try registry.pools.identifier(of: key.identityPoolID) ?? Self.unknown, name ?? Self.unknown)
    }

    private func scanDatasets(_ indices: [Int], _ query: AudienceQuery) throws(RegistryError) {
        for index in indices {
            guard case .dataset(let key) = requests[index].audience, let numbers = try numbers(key) else { continue }
            buffer.append(
                request: index, name: key.identityID.utf8,
                numbers: (numbers.pool, numbers.name, position(index), asOfFanOut(index)))
            if buffer.isFull { try fill(from: query) { _, row in row } }
        }
        try fill(from: query) { _, row in row }
    }
}

/// Audiences that are lists of devices or tokens; a page goes on at an index of the list.
extension AudienceResolution {
    /// Finds devices by their identifiers.
    func resolveDevices(_ indices: [Int]) throws(RegistryError) {
        for index in indices {
            guard case .devices(let list, let app) = requests[index].audience else { continue }
            let appNumber = try registry.apps.identifier(of: app) ?? Self.unknown
            let only = requests[index].onlyDeviceIDs.map { Set($0.map(ByteText.init)) }
            for element in FirstOccurrences<ByteText>(of: list, from: Int(position(index))) {
                if let only, !only.contains(ByteText(list[element])) { continue }
                if buffer.isFull { try fillDevices() }
                if isComplete(index) || isBeyond(Int64(element + 1), request: index) { break }
                buffer.append(request: index, element: element, name: list[element].utf8, numbers: (appNumber, 0, 0, 0))
            }
        }
        try fillDevices()
    }

    private func fillDevices() throws(RegistryError) {
        for (probe, found) in try lookUp(registry.queries.deviceOfApp) {
            guard let found, !isComplete(probe.request) else { continue }
            add(Recipient(found.device), request: probe.request, end: Int64(probe.element + 1))
        }
    }

    /// Finds devices by their tokens, and makes up devices for tokens that no device has.
    func resolveTokens(_ indices: [Int]) throws(RegistryError) {
        for index in indices {
            guard case .tokens(let list, let app) = requests[index].audience else { continue }
            let appNumber = try registry.apps.identifier(of: app) ?? Self.unknown
            let only = try requests[index].onlyDeviceIDs.map { ids throws(RegistryError) in
                try keys(meantBy: ids, app: appNumber)
            }
            for element in FirstOccurrences(of: list, from: Int(position(index))) {
                let key = AddressKey(ofUnknownPlatform: list[element]).bytes
                if let only, !only.contains(key) { continue }
                if buffer.isFull { try fillTokens() }
                if isComplete(index) || isBeyond(Int64(element + 1), request: index) { break }
                buffer.append(
                    request: index, element: element, name: key, numbers: (appNumber, 0, 0, 0))
            }
        }
        try fillTokens()
    }

    private func fillTokens() throws(RegistryError) {
        for (probe, found) in try lookUp(registry.queries.tokenOfApp) {
            guard !isComplete(probe.request), case .tokens(let list, let app) = requests[probe.request].audience
            else { continue }
            let device = found.map { Recipient($0.device) } ?? Recipient(unregistered: list[probe.element], app: app)
            add(device, request: probe.request, end: Int64(probe.element + 1))
        }
    }

    /// The keys of the tokens that identifiers of a token audience stand for: a registered device's, or the digits'
    /// own.
    private func keys(meantBy deviceIDs: [String], app: Int64) throws(RegistryError) -> Set<[UInt8]> {
        // Tokens of requests before this one wait in the buffer.
        try fillTokens()
        var keys = Set(deviceIDs.compactMap { DeviceToken(hexadecimal: $0)?.bytes })
        func flush() throws(RegistryError) {
            for (_, found) in try lookUp(registry.queries.deviceOfApp) {
                if let found { keys.insert(AddressKey(found.device.token, found.device.platform).bytes) }
            }
        }
        for deviceID in deviceIDs {
            buffer.append(request: 0, name: deviceID.utf8, numbers: (app, 0, 0, 0))
            if buffer.isFull { try flush() }
        }
        try flush()
        return keys
    }
}

/// Requests for a few devices of an audience that may be large; a page goes on at an index of `onlyDeviceIDs`.
extension AudienceResolution {
    /// Looks devices up by their identifiers and keeps those that belong to their audience.
    ///
    /// - Parameters:
    ///   - indices: requests with `onlyDeviceIDs`, all of one kind.
    ///   - isMember: tells for each answer whether its device belongs to its request's audience.
    /// - Throws: `RegistryError` if the store cannot answer.
    func resolveOnly(
        _ indices: [Int], isMember: ([(probe: Probe, found: DeviceRow?)]) throws(RegistryError) -> [Bool]
    ) throws(RegistryError) {
        func flush() throws(RegistryError) {
            let answers = try lookUp(registry.queries.device)
            for ((probe, found), belongs) in zip(answers, try isMember(answers)) {
                guard belongs, let found, !isComplete(probe.request) else { continue }
                add(Recipient(found.device), request: probe.request, end: Int64(probe.element + 1))
            }
        }
        for index in indices {
            let list = requests[index].onlyDeviceIDs ?? []
            for element in FirstOccurrences<ByteText>(of: list, from: Int(position(index))) {
                if buffer.isFull { try flush() }
                if isComplete(index) { break }
                buffer.append(request: index, element: element, name: list[element].utf8)
            }
        }
        try flush()
    }

    /// Which answers are devices of the identities or users of their request.
    func ownerMembers(_ answers: [(probe: Probe, found: DeviceRow?)]) throws(RegistryError) -> [Bool] {
        var owners: [Int: Set<ByteText>] = [:]
        return answers.map { probe, found in
            guard let device = found?.device else { return false }
            switch requests[probe.request].audience {
            case .identities(let identities, let app):
                let names = owners[probe.request] ?? Set(identities.map(ByteText.init))
                owners[probe.request] = names
                return device.app.hasBytes(of: app) && device.identityID.map { names.contains(ByteText($0)) } ?? false
            case .users(let users, let app):
                let names = owners[probe.request] ?? Set(users.map(ByteText.init))
                owners[probe.request] = names
                return device.app.hasBytes(of: app) && device.userID.map { names.contains(ByteText($0)) } ?? false
            default:
                return false
            }
        }
    }

    /// Which answers are devices that subscribed to the dataset of their request.
    func datasetMembers(_ answers: [(probe: Probe, found: DeviceRow?)]) throws(RegistryError) -> [Bool] {
        for (index, answer) in answers.enumerated() {
            guard let found = answer.found, case .dataset(let key) = requests[answer.probe.request].audience,
                found.device.identityID.hasBytes(of: key.identityID),
                found.device.identityPoolID.hasBytes(of: key.identityPoolID),
                let identity = found.identity, let numbers = try numbers(key)
            else { continue }
            buffer.append(
                request: index, name: EmptyCollection(),
                numbers: (found.row, identity, numbers.pool, numbers.name))
        }
        return try members(registry.queries.isDatasetSubscriber, count: answers.count)
    }

    /// Which answers are devices that subscribed to the topic of their request.
    func topicMembers(_ answers: [(probe: Probe, found: DeviceRow?)]) throws(RegistryError) -> [Bool] {
        for (index, answer) in answers.enumerated() {
            guard let found = answer.found, case .topic(let topic, let app) = requests[answer.probe.request].audience,
                found.device.app.hasBytes(of: app)
            else { continue }
            buffer.append(request: index, name: topic.utf8, numbers: (found.row, found.app, 0, 0))
        }
        return try members(registry.queries.isTopicSubscriber, count: answers.count)
    }

    /// Runs a query whose rows say that the probe with that `request` is a member.
    private func members(_ query: AudienceQuery, count: Int) throws(RegistryError) -> [Bool] {
        var isMember = Array(repeating: false, count: count)
        try run(query) { probe, _ in
            isMember[probe.request] = true
            return true
        }
        return isMember
    }
}
