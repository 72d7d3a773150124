import PushCore

/// The work of one call of `resolve`: gathers the requests of each kind into probes, asks, and fills the pages.
final class AudienceResolution {
    /// A number that no row has: what a name stands for that the registry does not know.
    static let unknown: Int64 = -1

    let registry: SQLiteRegistry
    let requests: [AudienceRequest]
    let buffer = ProbeBuffer()
    private let limit: Int
    private var pages: [AudiencePage]
    /// Where each page ends so far.
    private var ends: [Int64]

    /// Creates the work.
    init(registry: SQLiteRegistry, requests: [AudienceRequest], limit: Int) {
        self.registry = registry
        self.requests = requests
        self.limit = limit
        pages = Array(repeating: AudiencePage(devices: []), count: requests.count)
        ends = Array(repeating: 0, count: requests.count)
    }

    /// Answers every request.
    func resolve() throws(RegistryError) -> [AudiencePage] {
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
        return pages
    }

    /// Where a request goes on; 0 at its beginning.
    func position(_ request: Int) -> Int64 { max(requests[request].cursor?.position ?? 0, 0) }

    /// The number of the fan-out that memberships must be older than; greater than all if they need not be.
    func asOfFanOut(_ request: Int) -> Int64 { requests[request].asOfFanOut ?? .max }

    /// Whether a position lies behind the last that a request asks for.
    func isBeyond(_ end: Int64, request: Int) -> Bool {
        guard let through = requests[request].through else { return false }
        return end > through.position
    }

    /// Whether the page of a request has all it may have, so that looking further is of no use.
    func isComplete(_ request: Int) -> Bool { pages[request].next != nil }

    /// Puts a device into the page of a request, unless it is the one to leave out.
    ///
    /// - Parameters:
    ///   - device: the device.
    ///   - request: the request.
    ///   - end: where the page goes on if it ends with this device.
    /// - Returns: false if the page was full, so that the device belongs to the next one, or if the device lies behind
    ///   what was asked for.
    @discardableResult
    func add(_ device: consuming Recipient, request: Int, end: Int64) -> Bool {
        if isBeyond(end, request: request) { return false }
        if device.deviceID == requests[request].excludedDeviceID { return true }
        guard pages[request].devices.count < limit else {
            pages[request].next = AudienceCursor(position: ends[request])
            return false
        }
        pages[request].devices.append(device)
        ends[request] = end
        return true
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
    /// - Returns: the probes in order, with what was found.
    func lookUp(_ query: AudienceQuery) throws(RegistryError) -> [(probe: Probe, found: DeviceRow?)] {
        var answers = buffer.probes.map { (probe: $0, found: DeviceRow?.none) }
        defer { buffer.removeAll() }
        try query.run(buffer) { index, statement throws(RegistryError) in
            answers[index].found = try registry.decodeDevice(statement, firstColumn: 1)
            return true
        }
        return answers
    }
}
