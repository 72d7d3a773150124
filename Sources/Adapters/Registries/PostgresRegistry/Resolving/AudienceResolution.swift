public import ChangeEvents
import DispatchCore
import Essentials
import Notifications
import PostgreSQL
public import RegistryCore
import RegistrySQL

extension PostgresRegistry {
    /// Finds the devices to notify for a batch of audiences.
    public func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage] {
        guard !requests.isEmpty else { return [] }
        return try rereading { () throws(RegistryError) in
            try AudienceResolution(registry: self, requests: requests, limit: limit).resolve()
        }
    }

    /// Counts the devices of one page of a whole audience, and finds where it ends.
    public func measure(
        _ audience: Audience, after cursor: AudienceCursor?, limit: Int
    ) throws(RegistryError) -> AudienceExtent {
        let request = AudienceRequest(audience: audience, cursor: cursor)
        let resolution = AudienceResolution(registry: self, requests: [request], limit: limit, isCounting: true)
        return try resolution.measure()
    }
}

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

    /// Counts the entries of the answer to the one request.
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

    /// Adds the devices of an answer to their pages, and the made-up ones between them.
    private func fill(from rows: Rows, _ question: AudienceStatement) throws(RegistryError) {
        let rests = try registry.storedAddresses(in: rows, from: 3)
        var row = 0
        for probe in question.asked {
            var isFound = false
            while row < rows.count, rows.integer(row, 0) == probe.request, rows.integer(row, 1) == probe.element {
                isFound = true
                if !isComplete(probe.request), question.isMember(probe, rows, row) {
                    let end = question.position(probe, rows.integer(row, 2))
                    try addRow(rows, row, rests, request: probe.request, end: end, question)
                }
                row += 1
            }
            if !isFound, !isComplete(probe.request), let madeUp = question.makeUp(probe) {
                add(madeUp, request: probe.request, end: question.position(probe, 0))
            }
        }
    }

    /// Adds a device to the page of a request, unless the request excludes it or the page is full.
    private func add(_ device: consuming Recipient, request: Int, end: Int64) {
        guard !device.deviceID.hasBytes(of: requests[request].excludedDeviceID), reserveSlot(request, end: end) else {
            return
        }
        if !isCounting { pages[request].devices.append(device) }
    }

    /// Does the same with the device of a row, which is read only if it is wanted.
    private func addRow(
        _ rows: Rows, _ row: Int, _ rests: [Int: StoredAddress], request: Int, end: Int64, _ question: AudienceStatement
    ) throws(RegistryError) {
        if let excluded = requests[request].excludedDeviceID, rows.bytes(row, 3).elementsEqual(excluded.utf8) { return }
        guard reserveSlot(request, end: end), !isCounting else { return }
        pages[request].devices.append(try decodeRecipient(rows, row, rests))
        if question.isOfKnownDataset(rows, row) { pages[request].isOfKnownDataset = true }
    }

    /// Gives a device a slot in the page of a request, if it is asked for and the page is not full.
    private func reserveSlot(_ request: Int, end: Int64) -> Bool {
        if isBeyond(end, request) { return false }
        guard counts[request] < limit else {
            pages[request].next = AudienceCursor(position: ends[request])
            return false
        }
        counts[request] += 1
        ends[request] = end
        return true
    }

    private func decodeRecipient(
        _ rows: Rows, _ row: Int, _ rests: [Int: StoredAddress]
    ) throws(RegistryError) -> Recipient {
        if !rows.bytes(row, 6).elementsEqual(lastApp.utf8) { lastApp = rows.text(row, 6) }
        return try Recipient(rows[row], from: 3, app: lastApp) { () throws(RegistryError) in rests[row] }
    }
}

extension AudienceResolution {
    /// Sorts the requests into the statements that answer them; a statement without probes is not asked.
    ///
    /// A few devices of an audience that may be large are looked up by their identifiers; for audiences that are a list
    /// of devices anyway, the list is shortened instead.
    func makeQuestions() -> [AudienceStatement] {
        var datasets = datasetQuestion()
        var topics = ownerQuestion(AudienceCalls.topicSubscribers) { _, row in row }
        var identities = ownerQuestion(AudienceCalls.identityDevices, position: Self.ownerPosition)
        var users = ownerQuestion(AudienceCalls.userDevices, position: Self.ownerPosition)
        var devices = deviceQuestion()
        var tokens = tokenQuestion()
        var onlyAmongDatasets = onlyDatasetQuestion()
        var onlyAmongTopics = onlyTopicQuestion()
        var onlyAmongOwners = onlyOwnerQuestion()
        for (index, request) in requests.enumerated() {
            switch request.audience {
            case .dataset(let key):
                guard RegistryRules.isDatasetName(key.datasetName) else { continue }
                addProbes(index, whole: &datasets, only: &onlyAmongDatasets)
            case .topic: addProbes(index, whole: &topics, only: &onlyAmongTopics)
            case .identities(let names, _): addProbes(index, names, whole: &identities, only: &onlyAmongOwners)
            case .users(let names, _): addProbes(index, names, whole: &users, only: &onlyAmongOwners)
            case .devices(let names, _):
                let only = request.onlyDeviceIDs.map { Set($0.map(ByteText.init)) }
                addElements(index, of: names.map(ByteText.init), to: &devices) { only?.contains($0) ?? true }
            case .tokens(let list, _): addElements(index, of: list, to: &tokens)
            }
        }
        return [
            datasets, topics, identities, users, devices, tokens, onlyAmongDatasets, onlyAmongTopics, onlyAmongOwners,
        ]
    }

    // MARK: Probes

    /// Adds a request whose pages go on after a row.
    private func addProbes(_ index: Int, whole: inout AudienceStatement, only: inout AudienceStatement) {
        if let names = requests[index].onlyDeviceIDs {
            addElements(index, of: names.map(ByteText.init), to: &only)
        } else {
            whole.add(Probe(request: index, element: 0, after: position(index)))
        }
    }

    /// Adds a request for the devices of identities or users, whose pages go on after a row of one of them.
    private func addProbes(
        _ index: Int, _ owners: [String], whole: inout AudienceStatement, only: inout AudienceStatement
    ) {
        if let names = requests[index].onlyDeviceIDs {
            return addElements(index, of: names.map(ByteText.init), to: &only)
        }
        let start = OwnerPosition(encoded: position(index))
        for element in FirstOccurrences<ByteText>(of: owners, from: start.element) {
            if isBeyond(Self.ownerPosition(Probe(request: index, element: element, after: 0), 0), index) { break }
            whole.add(Probe(request: index, element: element, after: element == start.element ? start.row : 0))
        }
    }

    /// Adds the elements of a list whose pages go on at an index of it.
    private func addElements<Element: Hashable>(
        _ index: Int, of list: [Element], to question: inout AudienceStatement,
        where condition: (Element) -> Bool = { _ in true }
    ) {
        let start = Int(min(position(index), Int64(list.count)))
        for element in FirstOccurrences(of: list, from: start) where condition(list[element]) {
            if isBeyond(Int64(element + 1), index) { break }
            question.add(Probe(request: index, element: element, after: 0))
        }
    }

    private static func ownerPosition(_ probe: Probe, _ row: Int64) -> Int64 {
        OwnerPosition(element: probe.element, row: row).encoded
    }

    private static func elementPosition(_ probe: Probe, _ row: Int64) -> Int64 { Int64(probe.element + 1) }

    // MARK: Statements

    private func numbers(_ probes: [Probe]) -> [Parameter] {
        [.integers(probes.map { Int64($0.request) }), .integers(probes.map { Int64($0.element) })]
    }

    private func excluded(_ probes: [Probe]) -> Parameter {
        .optionalTexts(probes.map { requests[$0.request].excludedDeviceID })
    }

    /// For each probe the fan-out that memberships have to be older than; greater than all if they need not be.
    private func asOfFanOut(_ probes: [Probe]) -> Parameter {
        .integers(probes.map { requests[$0.request].asOfFanOut ?? .max })
    }

    private func only(_ probes: [Probe]) -> Parameter {
        .optionalTexts(probes.map { requests[$0.request].onlyDeviceIDs?[$0.element] })
    }

    private func datasetParameters(_ probes: [Probe]) -> [Parameter] {
        let keys = probes.map { probe -> DatasetKey? in
            if case .dataset(let key) = requests[probe.request].audience { key } else { nil }
        }
        return [
            .optionalTexts(keys.map { $0?.identityPoolID }), .optionalTexts(keys.map { $0?.identityID }),
            .optionalTexts(keys.map { $0?.datasetName }),
        ]
    }

    private func datasetQuestion() -> AudienceStatement {
        AudienceStatement { [self] probes in
            AudienceCalls.datasetSubscribers(
                numbers(probes) + [.integer(rowsMaximum)] + datasetParameters(probes) + [
                    .integers(probes.map(\.after)), excluded(probes), asOfFanOut(probes),
                ], isCounting: isCounting)
        } isOfKnownDataset: { rows, row in
            rows.integer(row, 7) != Schema.futureDatasets
        } position: { _, row in
            row
        }
    }

    /// A question whose probes are a name and an app each.
    private func ownerQuestion(
        _ call: @escaping ([Parameter], Bool) -> Call, position: @escaping (Probe, Int64) -> Int64
    ) -> AudienceStatement {
        AudienceStatement(
            call: { [self] probes in
                call(
                    numbers(probes) + [.integer(rowsMaximum), names(probes), apps(probes)] + [
                        .integers(probes.map(\.after)), excluded(probes), asOfFanOut(probes),
                    ], isCounting)
            }, position: position)
    }

    private func deviceQuestion() -> AudienceStatement {
        AudienceStatement(
            call: { [self] probes in
                AudienceCalls.namedDevices(numbers(probes) + [names(probes), apps(probes)])
            }, position: Self.elementPosition)
    }

    private func tokenQuestion() -> AudienceStatement {
        let only = requests.map { request -> (tokens: Set<DeviceToken>, deviceIDs: Set<ByteText>)? in
            guard case .tokens = request.audience, let list = request.onlyDeviceIDs else { return nil }
            return (Set(list.compactMap { DeviceToken(hexadecimal: $0) }), Set(list.map(ByteText.init)))
        }
        return AudienceStatement(
            call: { [self] probes in
                AudienceCalls.tokenDevices(
                    numbers(probes) + [
                        .byteLists(probes.map { token($0).map { AddressKey(ofUnknownPlatform: $0).bytes } ?? [] }),
                        apps(probes),
                    ])
            },
            makeUp: { [self] probe in
                guard case .tokens(_, let app) = requests[probe.request].audience, let token = token(probe),
                    only[probe.request]?.tokens.contains(token) ?? true
                else { return nil }
                return Recipient(unregistered: token, app: app)
            },
            isMember: { [self] probe, rows, row in
                guard let only = only[probe.request] else { return true }
                return only.deviceIDs.contains(ByteText(rows.text(row, 3)))
                    || token(probe).map { only.tokens.contains($0) } ?? false
            }, position: Self.elementPosition)
    }

    private func onlyDatasetQuestion() -> AudienceStatement {
        AudienceStatement(
            call: { [self] probes in
                AudienceCalls.namedDatasetSubscribers(numbers(probes) + [only(probes)] + datasetParameters(probes))
            }, position: Self.elementPosition)
    }

    private func onlyTopicQuestion() -> AudienceStatement {
        AudienceStatement(
            call: { [self] probes in
                AudienceCalls.namedTopicSubscribers(numbers(probes) + [only(probes), apps(probes), names(probes)])
            }, position: Self.elementPosition)
    }

    private func onlyOwnerQuestion() -> AudienceStatement {
        let owners = requests.map { request -> Set<ByteText> in
            guard request.onlyDeviceIDs != nil else { return [] }
            switch request.audience {
            case .identities(let names, _), .users(let names, _): return Set(names.map(ByteText.init))
            default: return []
            }
        }
        return AudienceStatement(
            call: { [self] probes in
                AudienceCalls.namedDevices(numbers(probes) + [only(probes), apps(probes)])
            },
            isMember: { [self] probe, rows, row in
                if case .users = requests[probe.request].audience {
                    return rows.optionalText(row, 8).map { owners[probe.request].contains(ByteText($0)) } ?? false
                }
                return rows.optionalText(row, 7).map { owners[probe.request].contains(ByteText($0)) } ?? false
            }, position: Self.elementPosition)
    }

    // MARK: The parts of an audience

    /// The name that a probe looks for: the element of the audience's list, or its topic.
    private func names(_ probes: [Probe]) -> Parameter {
        .optionalTexts(
            probes.map { probe in
                switch requests[probe.request].audience {
                case .devices(let list, _), .identities(let list, _), .users(let list, _): list[probe.element]
                case .topic(let topic, _): topic
                case .dataset, .tokens: nil
                }
            })
    }

    private func apps(_ probes: [Probe]) -> Parameter {
        .optionalTexts(
            probes.map { probe in
                switch requests[probe.request].audience {
                case .devices(_, let app), .tokens(_, let app), .identities(_, let app), .users(_, let app),
                    .topic(_, let app):
                    app
                case .dataset: nil
                }
            })
    }

    private func token(_ probe: Probe) -> DeviceToken? {
        guard case .tokens(let list, _) = requests[probe.request].audience else { return nil }
        return list[probe.element]
    }
}
