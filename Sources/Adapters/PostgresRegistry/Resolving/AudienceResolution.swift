import Essentials
import PushCore

/// The work of one call of `resolve`: gathers the requests of each kind into one statement, asks all statements in one
/// round trip, and fills the pages; long lists take several rounds.
final class AudienceResolution {
    let requests: [AudienceRequest]
    /// The most rows that a statement gives for one probe: a page and the sign that another follows.
    let rowsMaximum: Int64
    private let registry: PostgresRegistry
    private let limit: Int
    /// Whether devices are counted and not read.
    let isCounting: Bool
    private var counts: [Int]
    private var pages: [AudiencePage]
    /// Where each page ends so far.
    private var ends: [Int64]
    /// The app of the last recipient, whose text the next one shares if it is the same.
    private var lastApp = ""

    /// Creates the work.
    init(registry: PostgresRegistry, requests: [AudienceRequest], limit: Int, isCounting: Bool = false) {
        self.registry = registry
        self.requests = requests
        self.isCounting = isCounting
        counts = Array(repeating: 0, count: requests.count)
        self.limit = min(max(limit, 1), Int(Int32.max))
        rowsMaximum = Int64(self.limit) + 1
        pages = Array(repeating: AudiencePage(devices: []), count: requests.count)
        ends = Array(repeating: 0, count: requests.count)
    }

    /// Answers every request.
    func resolve() throws(RegistryError) -> [AudiencePage] {
        var questions = makeQuestions()
        while true {
            var calls: [Call] = []
            var callers: [Int] = []
            for index in questions.indices {
                guard let call = questions[index].next(unless: isComplete) else { continue }
                calls.append(call)
                callers.append(index)
            }
            guard !calls.isEmpty else { return pages }
            let answers = try registry.ask(calls)
            for (index, rows) in zip(callers, answers) { try fill(from: rows, questions[index]) }
        }
    }

    /// Counts what would be the answer to the one request.
    func measure() throws(RegistryError) -> AudienceExtent {
        let next = try resolve()[0].next
        return AudienceExtent(deviceCount: counts[0], next: next)
    }

    /// Where a request goes on; 0 at its beginning.
    func position(_ request: Int) -> Int64 { max(requests[request].cursor?.position ?? 0, 0) }

    /// Whether a position lies behind the last that a request asks for.
    func isBeyond(_ end: Int64, _ request: Int) -> Bool {
        guard let through = requests[request].through else { return false }
        return end > through.position
    }

    private func isComplete(_ request: Int) -> Bool { pages[request].next != nil }

    /// Puts the devices of an answer into their pages, and those that are made up between them.
    private func fill(from rows: Rows, _ question: AudienceQuestion) throws(RegistryError) {
        var row = 0
        for probe in question.asked {
            var isFound = false
            while row < rows.count, rows.integer(row, 0) == probe.request, rows.integer(row, 1) == probe.element {
                isFound = true
                if !isComplete(probe.request), question.isMember(probe, rows, row) {
                    let end = question.position(probe, rows.integer(row, 2))
                    try addRow(rows, row, request: probe.request, end: end)
                }
                row += 1
            }
            if !isFound, !isComplete(probe.request), let madeUp = question.makeUp(probe) {
                add(madeUp, request: probe.request, end: question.position(probe, 0))
            }
        }
    }

    /// Puts a device into the page of a request, unless it is the one to leave out or the page is full.
    private func add(_ device: consuming Recipient, request: Int, end: Int64) {
        guard !device.deviceID.hasBytes(of: requests[request].excludedDeviceID), takesPlace(request, end: end) else {
            return
        }
        if !isCounting { pages[request].devices.append(device) }
    }

    /// Does the same with the device of a row, which is read only if it is wanted.
    private func addRow(_ rows: Rows, _ row: Int, request: Int, end: Int64) throws(RegistryError) {
        if let excluded = requests[request].excludedDeviceID, rows.bytes(row, 3).elementsEqual(excluded.utf8) { return }
        guard takesPlace(request, end: end), !isCounting else { return }
        pages[request].devices.append(try decodeRecipient(rows, row))
    }

    /// Gives a device a place in the page of a request, if it is asked for and the page is not full.
    private func takesPlace(_ request: Int, end: Int64) -> Bool {
        if isBeyond(end, request) { return false }
        guard counts[request] < limit else {
            pages[request].next = AudienceCursor(position: ends[request])
            return false
        }
        counts[request] += 1
        ends[request] = end
        return true
    }

    private func decodeRecipient(_ rows: Rows, _ row: Int) throws(RegistryError) -> Recipient {
        let (platform, token) = try registry.decodeAddress(rows, row, platformColumn: 4)
        if !rows.bytes(row, 6).elementsEqual(lastApp.utf8) { lastApp = rows.text(row, 6) }
        return Recipient(deviceID: rows.text(row, 3), platform: platform, token: token, app: lastApp)
    }
}
