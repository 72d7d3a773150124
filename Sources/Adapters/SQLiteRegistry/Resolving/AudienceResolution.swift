import PushCore

/// The work of one call of `resolve`: gathers the requests of each kind into probes, asks, and fills the pages.
final class AudienceResolution {
    /// A number that no row has: what a name stands for that the registry does not know.
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
        return pages.map { AudiencePage(devices: $0.devices, next: $0.next) }
    }

    /// Counts what would be the answer to the one request.
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

    /// Puts a device into the page of a request, unless it is the one to leave out.
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
