import DispatchCore
import Essentials
import PostgreSQL
public import RegistryCore
import RegistrySQL

extension PostgresRegistry {
    /// Finds the devices of subscriptions, for a batch of events.
    public func resolveSubscribers(
        _ requests: [SubscriberRequest], limit: Int
    ) throws(RegistryError) -> [SubscriberPage] {
        guard !requests.isEmpty else { return [] }
        return try rereading { () throws(RegistryError) in
            try SubscriberResolution(registry: self, requests: requests, limit: limit).resolve()
        }
    }
}

/// The work of one call of `resolveSubscribers`: asks for the devices of many subscriptions at once, then for the
/// subscriptions themselves, and fills the pages; long lists take several rounds.
final class SubscriberResolution {
    private struct Found {
        var recipient: Recipient
        var device: Int64
        var subscription: Int64
    }

    /// How many silent subscriptions of an owner are asked for at first.
    private static let silentRowsAtFirst = 64
    /// How many an answer may have of all owners.
    private static let silentRowsMaximum = 16_384
    /// How many it may have of each, however many owners there are.
    private static let silentRowsMinimum = 8

    private let registry: PostgresRegistry
    private let requests: [SubscriberRequest]
    private let limit: Int
    /// The finds of each request, up to one more than its page may have.
    private var found: [[Found]]

    /// Creates the work.
    init(registry: PostgresRegistry, requests: [SubscriberRequest], limit: Int) {
        self.registry = registry
        self.requests = requests
        self.limit = min(max(limit, 1), Int(Int32.max) - 1)
        found = Array(repeating: [], count: requests.count)
    }

    /// Answers every request.
    func resolve() throws(RegistryError) -> [SubscriberPage] {
        var questions = makeQuestions()
        while true {
            var calls: [Call] = []
            for index in questions.indices {
                if let call = questions[index].next(unless: isComplete) { calls.append(call) }
            }
            guard !calls.isEmpty else { return try makePages() }
            for rows in try registry.ask(calls) { try add(rows) }
        }
    }

    private func isComplete(_ request: Int) -> Bool {
        requests[request].only == nil && found[request].count > limit
    }

    private func isBeyond(_ request: Int, _ subscription: Int64, _ device: Int64) -> Bool {
        guard let through = requests[request].through else { return false }
        return (subscription, device) > (through.subscription, through.position)
    }

    private func add(_ rows: Rows) throws(RegistryError) {
        let rests = try registry.storedAddresses(in: rows, from: 3)
        for row in rows {
            let request = Int(row.integer(0))
            guard !isComplete(request), !isBeyond(request, row.integer(7), row.integer(2)) else { continue }
            let recipient = try Recipient(row, from: 3, app: row.text(6)) { () throws(RegistryError) in
                rests[row.number]
            }
            guard !recipient.deviceID.hasBytes(of: requests[request].excludedDeviceID) else { continue }
            found[request].append(
                Found(recipient: recipient, device: row.integer(2), subscription: row.integer(7)))
        }
    }

    // MARK: Questions

    private func makeQuestions() -> [AudienceStatement] {
        var whole = AudienceStatement(call: { [self] in self.call($0) }, position: { _, row in row })
        var only = AudienceStatement(call: { [self] in self.callOnly($0) }, position: { _, row in row })
        for (index, request) in requests.enumerated() {
            if let list = request.only {
                for element in FirstOccurrences(of: list, from: 0) {
                    only.add(Probe(request: index, element: element, after: 0))
                }
                continue
            }
            let start = request.cursor ?? AudienceCursor(position: 0, subscription: 0)
            for (element, row) in request.subscriptions.enumerated() where row >= start.subscription {
                if let through = request.through, row > through.subscription { break }
                let after = row == start.subscription ? start.position : 0
                whole.add(Probe(request: index, element: element, after: after))
            }
        }
        return [whole, only]
    }

    private func numbers(_ probes: [Probe]) -> [Parameter] {
        [.integers(probes.map { Int64($0.request) }), .integers(probes.map { Int64($0.element) })]
    }

    private func call(_ probes: [Probe]) -> Call {
        SubscriptionCalls.subscribers(
            numbers(probes) + [
                .integer(Int64(limit) + 1),
                .integers(probes.map { requests[$0.request].subscriptions[$0.element] }),
                .integers(probes.map(\.after)),
                .optionalTexts(probes.map { requests[$0.request].excludedDeviceID }),
                .integers(probes.map { requests[$0.request].asOfFanOut ?? .max }),
            ])
    }

    private func callOnly(_ probes: [Probe]) -> Call {
        let subscribers = probes.map { requests[$0.request].only?[$0.element] }
        return SubscriptionCalls.namedSubscribers(
            numbers(probes) + [
                .optionalIntegers(subscribers.map { $0?.subscription }),
                .optionalTexts(subscribers.map { $0?.deviceID }),
            ])
    }

    // MARK: Pages

    private func makePages() throws(RegistryError) -> [SubscriberPage] {
        let rows = Set(found.joined().map(\.subscription)).sorted()
        guard !rows.isEmpty else { return found.map { _ in SubscriberPage() } }
        var subscriptions: [Int64: PushedSubscription] = [:]
        for row in try registry.ask([SubscriptionCalls.subscriptions(rows)])[0] {
            let subscription = try registry.decoder.pushed(row, app: row.text(1))
            subscriptions[subscription.row] = subscription
        }
        var pages = requests.indices.map { page($0, subscriptions) }
        try cover(&pages)
        return pages
    }

    // MARK: Covering

    private func cover(_ pages: inout [SubscriberPage]) throws(RegistryError) {
        var searched: [Int] = []
        var searches: [SilentCovering] = []
        for page in pages.indices {
            guard let search = SilentCovering(pages[page], of: requests[page]) else { continue }
            searched.append(page)
            searches.append(search)
        }
        guard !searches.isEmpty else { return }
        let owners = try registry.ask(searches.map { SubscriptionCalls.owners(ofDevices: $0.deviceIDs) })
        for (search, rows) in owners.enumerated() {
            for row in rows {
                let device = Int(row.integer(0)) - 1
                let app = row.integer(2)
                searches[search].add(.device(row.integer(1), app: app), ofDevice: device)
                if let userID = row.optionalText(3) {
                    searches[search].add(.user(ByteText(userID), app: app), ofDevice: device)
                }
            }
        }
        try answer(&searches)
        for (page, search) in zip(searched, searches) { search.cover(&pages[page]) }
    }

    /// Finds the lowest row for each question.
    ///
    /// Nearly always it is among the first few of the owner. If not, more are asked for, as many as one answer may
    /// have, until one is found or there are no more.
    private func answer(_ searches: inout [SilentCovering]) throws(RegistryError) {
        var open = searches.indices.flatMap { search in
            searches[search].questions.indices.map { (search: search, question: $0) }
        }
        var limit = Self.silentRowsAtFirst
        while !open.isEmpty {
            limit = min(limit, max(Self.silentRowsMinimum, Self.silentRowsMaximum / open.count))
            let call = SubscriptionCalls.silent(
                open.map { searches[$0.search].questions[$0.question] }, limit: limit)
            let rows = try registry.ask([call])[0]
            var counts = Array(repeating: 0, count: open.count)
            for row in rows {
                let index = Int(row.integer(0)) - 1
                let (search, question) = open[index]
                counts[index] += 1
                searches[search].found(row.integer(1), question: question)
                searches[search].foundAll(through: row.integer(1), question: question)
            }
            open = zip(open, counts).filter { pair, count in
                count == limit && searches[pair.search].questions[pair.question].lowest == nil
            }.map(\.0)
            limit = Self.silentRowsMaximum
        }
    }

    private func page(_ request: Int, _ subscriptions: [Int64: PushedSubscription]) -> SubscriberPage {
        var page = SubscriberPage()
        var indexOfSubscription: [Int64: Int] = [:]
        let isWhole = requests[request].only == nil
        let shown = isWhole ? found[request].prefix(limit) : found[request][...]
        for entry in shown {
            // One that was removed since its devices were found has none.
            guard let subscription = subscriptions[entry.subscription] else { continue }
            let index = indexOfSubscription[entry.subscription] ?? page.subscriptions.count
            if index == page.subscriptions.count {
                page.subscriptions.append(subscription)
                indexOfSubscription[entry.subscription] = index
            }
            page.entries.append(SubscriberPage.Entry(recipient: entry.recipient, subscription: index))
        }
        if isWhole, found[request].count > limit, let last = shown.last {
            page.next = AudienceCursor(position: last.device, subscription: last.subscription)
        }
        return page
    }
}
