import Essentials
public import RegistryCore
import RegistrySQL

extension SQLiteRegistry {
    /// Finds the devices of subscriptions, for a batch of events.
    public func resolveSubscribers(
        _ requests: [SubscriberRequest], limit: Int
    ) throws(RegistryError) -> [SubscriberPage] {
        try reading { () throws(RegistryError) in
            try SubscriberResolution(registry: self, requests: requests, limit: max(limit, 1)).resolve()
        }
    }
}

/// The work of one call of `resolveSubscribers`: asks for the devices of many subscriptions at once and fills the
/// pages.
final class SubscriberResolution {
    private struct Found {
        var recipient: RecipientRow
        var subscription: PushedSubscription
    }

    private let registry: SQLiteRegistry
    private let requests: [SubscriberRequest]
    private let limit: Int
    private let buffer = ProbeBuffer()
    private var pages: [SubscriberPage]
    private var ends: [AudienceCursor]
    /// The index of each subscription in its page, by row.
    private var indexOfSubscription: [[Int64: Int]]
    /// The subscriptions that were read already, by row.
    private var decoded: [Int64: PushedSubscription] = [:]

    /// Creates the work.
    init(registry: SQLiteRegistry, requests: [SubscriberRequest], limit: Int) {
        self.registry = registry
        self.requests = requests
        self.limit = limit
        pages = Array(repeating: SubscriberPage(), count: requests.count)
        ends = requests.map { $0.cursor ?? AudienceCursor(position: 0, subscription: 0) }
        indexOfSubscription = Array(repeating: [:], count: requests.count)
    }

    /// Answers every request.
    func resolve() throws(RegistryError) -> [SubscriberPage] {
        for (index, request) in requests.enumerated() {
            if let only = request.only {
                try ask(only, of: index)
            } else {
                try ask(request, at: index)
            }
        }
        try flushWhole()
        for index in pages.indices { try cover(index) }
        return pages
    }

    private func cover(_ index: Int) throws(RegistryError) {
        guard var covering = SilentCovering(pages[index], of: requests[index]) else { return }
        let queries = registry.subscriberQueries
        let deviceIDs = covering.deviceIDs
        try ask(queries.owners, about: deviceIDs.indices) { device in
            buffer.append(request: index, element: device, name: deviceIDs[device].utf8)
        } row: { device, row in
            let app = row.integer(2)
            covering.add(.device(row.integer(1), app: app), ofDevice: device)
            if let userID = row.optionalText(3) { covering.add(.user(ByteText(userID), app: app), ofDevice: device) }
        }
        let questions = covering.questions
        for (query, isUsers) in [(queries.silentOfUsers, true), (queries.silentThemselves, false)] {
            let asked = questions.indices.filter { (questions[$0].owner.userID != nil) == isUsers }
            try ask(query, about: asked) { number in
                let (owner, first, below) = (questions[number].owner, questions[number].first, questions[number].below)
                buffer.append(
                    request: index, element: number, name: (owner.userID ?? "").utf8,
                    numbers: owner.device.map { ($0, owner.app, first, below) } ?? (owner.app, first, below, 0))
            } row: { number, row in
                covering.found(row.integer(1), question: number)
            }
        }
        covering.cover(&pages[index])
    }

    /// Asks about the elements of a list, whose probes `append` adds to the buffer.
    private func ask(
        _ query: AudienceQuery, about list: some Sequence<Int>, append: (Int) -> Void, row: (Int, Statement) -> Void
    ) throws(RegistryError) {
        defer { buffer.removeAll() }
        func flush() throws(RegistryError) {
            try query.run(buffer) { probe, found in
                row(buffer.probes[probe].element, found)
                return true
            }
            buffer.removeAll()
        }
        for element in list {
            if buffer.isFull { try flush() }
            append(element)
        }
        try flush()
    }

    private func ask(_ request: SubscriberRequest, at index: Int) throws(RegistryError) {
        let start = ends[index]
        for row in request.subscriptions where row >= start.subscription {
            if buffer.isFull { try flushWhole() }
            if pages[index].next != nil { return }
            if let through = request.through, row > through.subscription { return }
            let after = row == start.subscription ? start.position : 0
            buffer.append(
                request: index, name: EmptyCollection(), numbers: (row, after, request.asOfFanOut ?? .max, 0))
        }
    }

    private func ask(_ only: [Subscriber], of index: Int) throws(RegistryError) {
        try flushWhole()
        var seen: Set<Subscriber> = []
        for subscriber in only where seen.insert(subscriber).inserted {
            if buffer.isFull { try flushOnly() }
            buffer.append(request: index, name: subscriber.deviceID.utf8, numbers: (subscriber.subscription, 0, 0, 0))
        }
        try flushOnly()
    }

    private func flushWhole() throws(RegistryError) {
        try flush([registry.subscriberQueries.devicesOfUsers, registry.subscriberQueries.devicesThemselves])
    }

    private func flushOnly() throws(RegistryError) {
        try flush([registry.subscriberQueries.oneDeviceOfUsers, registry.subscriberQueries.oneDeviceItself])
    }

    /// Runs the gathered probes and adds the found devices to the pages, in the order of the probes.
    private func flush(_ queries: [AudienceQuery]) throws(RegistryError) {
        guard !buffer.probes.isEmpty else { return }
        defer { buffer.removeAll() }
        var found: [[Found]] = Array(repeating: [], count: buffer.probes.count)
        for query in queries {
            var counts: [Int: Int] = [:]
            try query.run(buffer) { probe, row throws(RegistryError) in
                let request = buffer.probes[probe].request
                let entry = try decode(row)
                // The device to leave out takes no slot of the page: it can have many subscriptions among these.
                if entry.recipient.recipient.deviceID.hasBytes(of: requests[request].excludedDeviceID) { return true }
                found[probe].append(entry)
                counts[request, default: 0] += 1
                // One more than fits tells that there are more; in the order of the probes, no other row can come
                // first.
                return counts[request, default: 0] <= limit + 1 || requests[request].only != nil
            }
        }
        for (probe, rows) in found.enumerated() {
            for row in rows where !add(row, request: buffer.probes[probe].request) { break }
        }
    }

    private func decode(_ row: Statement) throws(RegistryError) -> Found {
        let recipient = try registry.decodeRecipient(row)
        let number = row.integer(6)
        if let known = decoded[number] { return Found(recipient: recipient, subscription: known) }
        let app = try registry.apps.name(of: row.integer(7))
        let subscription = try registry.decoder.pushed(row, from: 6, app: app)
        decoded[number] = subscription
        return Found(recipient: recipient, subscription: subscription)
    }

    /// Puts a device into its page.
    ///
    /// - Returns: false if the page was full, or if the device lies beyond the range.
    private func add(_ found: Found, request: Int) -> Bool {
        let row = found.subscription.row
        if pages[request].next != nil { return false }
        if let through = requests[request].through {
            guard (row, found.recipient.row) <= (through.subscription, through.position) else { return false }
        }
        guard pages[request].entries.count < limit || requests[request].only != nil else {
            pages[request].next = ends[request]
            return false
        }
        let index = indexOfSubscription[request][row] ?? pages[request].subscriptions.count
        if index == pages[request].subscriptions.count {
            pages[request].subscriptions.append(found.subscription)
            indexOfSubscription[request][row] = index
        }
        pages[request].entries.append(SubscriberPage.Entry(recipient: found.recipient.recipient, subscription: index))
        ends[request] = AudienceCursor(position: found.recipient.row, subscription: row)
        return true
    }
}

/// The questions that `resolveSubscribers` asks; subscriptions of users and of devices are asked for apart, each in the
/// order of the devices' rows without sorting.
struct SubscriberQueries {
    /// The devices of a user's subscription: row of the subscription, row of the last device, and the fan-out that the
    /// device's membership has to be older than.
    let devicesOfUsers: AudienceQuery
    /// The device of a device's own subscription: the same probes.
    let devicesThemselves: AudienceQuery
    /// One device of a user's subscription: name = the device's identifier; row of the subscription.
    let oneDeviceOfUsers: AudienceQuery
    /// The device of a device's own subscription, if it is that one: the same probes.
    let oneDeviceItself: AudienceQuery
    /// The owners of the subscriptions that push to a device: name = the device's identifier.
    let owners: AudienceQuery
    /// The silent subscriptions of a user that fire always: name = the user; app, the first row, the row to end before.
    let silentOfUsers: AudienceQuery
    /// The silent subscriptions of a device that fire always: row of the device, app, the first row, the row to end
    /// before.
    let silentThemselves: AudienceQuery

    /// Creates the questions; nothing is prepared yet.
    init(connection: Connection) {
        let columns = ", \(RecipientRow.columns), \(SubscriptionDecoder.pushedColumns(app: "s.app"))"
        func query(
            _ name: AudienceQuery.Name, _ numbers: [String], _ owner: String, _ condition: String
        ) -> AudienceQuery {
            AudienceQuery(
                name: name, numbers: numbers, columns: columns,
                from: """
                    CROSS JOIN subscription s ON s.id = r.subscription
                    \(SQLiteRegistry.deviceJoin)
                    CROSS JOIN device d ON d.app = s.app AND \(owner) AND \(condition)
                    """,
                connection: connection)
        }
        let isUsers = "d.user_id = s.user_id"
        let isOwn = "d.id = s.device"
        let isLater = "d.id > r.after AND d.joined < r.as_of"
        devicesOfUsers = query(.none, ["subscription", "after", "as_of"], isUsers, isLater)
        devicesThemselves = query(.none, ["subscription", "after", "as_of"], isOwn, isLater)
        oneDeviceOfUsers = query(.text, ["subscription"], isUsers, "d.device_id = r.name")
        oneDeviceItself = query(.text, ["subscription"], isOwn, "d.device_id = r.name")
        owners = AudienceQuery(
            name: .text, numbers: [], columns: ", d.id, d.app, d.user_id",
            from: "CROSS JOIN device d ON d.device_id = r.name", connection: connection)
        func silent(
            _ name: AudienceQuery.Name, _ numbers: [String], _ owner: String, by index: String
        ) -> AudienceQuery {
            AudienceQuery(
                name: name, numbers: numbers + ["app", "first_row", "below"], columns: ", t.id",
                from: """
                    CROSS JOIN subscription t INDEXED BY \(index) ON \(owner) AND t.app = r.app
                        AND t.is_silent AND NOT t.fires_once AND t.fired_event IS NULL
                        AND t.id >= r.first_row AND t.id < r.below
                    """,
                connection: connection)
        }
        silentOfUsers = silent(.text, [], "t.user_id = r.name", by: "subscription_of_user")
        silentThemselves = silent(.none, ["device"], "t.device = r.device", by: "subscription_of_device")
    }
}
