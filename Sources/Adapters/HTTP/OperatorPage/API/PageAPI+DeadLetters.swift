import Backoffice
import ChangeEvents
import Essentials
import HTTPServer
import JSON
import Messages
import RegistryCore
import Synchronization

/// Dead letters that were collected: what there is, one of them, and what is done with them.
extension PageAPI {
    private static let limitMaximum = 200

    // MARK: Looking

    /// `GET dead-letters`.
    func deadLetters(_ call: PageCall) async throws -> HTTPResponse {
        let filter = try DeadLetterFilter(call)
        let after = try call.number("after") ?? 0
        let limit = try call.limit(50, atMost: Self.limitMaximum)
        let letters = try await store.run { try $0.deadLetters(matching: filter, after: after, limit: limit) }
        return PageResponse.object { writer in
            writer.array("letters", letters) { $1.write(to: &$0) }
            writer.member("next", letters.count == limit ? letters.last?.number : nil)
        }
    }

    /// `GET dead-letters/counts`.
    func deadLetterCounts(_ call: PageCall) async throws -> HTTPResponse {
        let filter = try DeadLetterFilter(call)
        let reading = await queues?.reading()
        let counts = try await store.run { try $0.deadLetterCounts(matching: filter) }
        return PageResponse.object { writer in
            counts.write(to: &writer)
            writer.member("total", counts.reduce(0) { $0 + $1.count })
            writer.member("waiting", reading?.queues?.deadLettersCount)
        }
    }

    /// `GET dead-letters/ID`.
    func deadLetter(_ call: PageCall) async throws -> HTTPResponse {
        let name = call.values["name"]
        let letter = try await letter(named: name)
        let mask = PageMask(showsPayloads: configuration.showsPayloads)
        return PageResponse.object { writer in
            writer.object("letter") { letter.summary.write(to: &$0) }
            writer.object("properties") { writer in
                for (name, value) in letter.message.properties.texts {
                    writer.member(dynamic: name, PageMask.text(value))
                }
            }
            writer.key("headers")
            writer.raw(HeaderValue.table(letter.message.headers).json(PageMask.text))
            mask.write(body: letter.message.body, to: &writer)
        }
    }

    /// One letter, whole.
    func letter(named name: String) async throws -> DeadLetter {
        try await store.run { registry in
            let summary = try DeadLetterSelection.letter(named: name, in: registry)
            guard let message = try registry.deadLetterMessages([summary.number])[summary.number] else {
                throw PageProblem(.notFound, "The dead letter was replayed or purged a moment ago.")
            }
            return DeadLetter(summary: summary, message: message)
        }
    }

    // MARK: Acting

    /// `POST dead-letters/collect`.
    func collect(_ call: PageCall) async throws -> HTTPResponse {
        try call.body([]) { _ in }
        let broker = try requiredBroker()
        let waitingCount = await queues?.reading().queues?.deadLettersCount
        let entry = try await actions.begin(
            .collectDeadLetters, call.user, target: "the queue of dead letters",
            selectedCount: waitingCount ?? 0
        ) { [self] progress in
            defer { forgetCounts() }
            return try await broker.collect(progress)
        }
        return action(entry, status: 202)
    }

    /// `POST dead-letters/preview`.
    func preview(_ call: PageCall) async throws -> HTTPResponse {
        _ = try requiredBroker()
        let now = nowMilliseconds
        let wanted = try call.body(["action", "filter", "ids"]) { (body) throws(PageProblem) in
            try Self.selection(body, nowMilliseconds: now)
        }
        let (selection, counts) = try await store.run { registry in
            var selection = wanted
            guard selection.identifiers.isEmpty else {
                let letters = try Self.present(selection.identifiers, in: registry)
                selection.identifiers = letters.map(\.identifier)
                selection.count = letters.count
                return (selection, letters.counts)
            }
            selection.filter.numberMaximum = try registry.newestDeadLetterNumber()
            let counts = try registry.deadLetterCounts(matching: selection.filter)
            selection.count = counts.reduce(0) { $0 + $1.count }
            return (selection, counts)
        }
        return PageResponse.object { writer in
            writer.member("token", selection.token)
            writer.member("action", selection.actionName)
            writer.member("count", selection.count)
            counts.write(to: &writer)
            writer.member("expiresAtMilliseconds", selection.expiresAtMilliseconds)
        }
    }

    /// `POST dead-letters/apply`.
    func apply(_ call: PageCall) async throws -> HTTPResponse {
        let broker = try requiredBroker()
        let now = nowMilliseconds
        var selection = try call.body(["token", "action", "count"]) { (body) throws(PageProblem) in
            let token = try body.requiredText("token")
            guard let selection = PageSelection(token: token) else {
                throw PageProblem(.invalid, "The token is not that of a preview. Make a preview first.")
            }
            guard try body.text("action") == selection.actionName, try body.number("count") == Int64(selection.count)
            else {
                throw PageProblem(
                    .conflict,
                    "The preview was of \(selection.actionName) for \(selection.count) letters: confirm "
                        + "exactly that, or make another preview.")
            }
            guard now < selection.expiresAtMilliseconds else {
                throw PageProblem(.conflict, "The preview is more than ten minutes old. Make another one.")
            }
            return selection
        }
        if !selection.identifiers.isEmpty {
            let identifiers = selection.identifiers
            selection.identifiers = try await store.run { try Self.present(identifiers, in: $0).map(\.identifier) }
            guard !selection.identifiers.isEmpty else {
                throw PageProblem(.conflict, "None of the letters is there any more: they were replayed or purged.")
            }
        }
        guard selection.count > 0 else { throw PageProblem(.conflict, "The preview found no letters.") }
        let letters = selection.letters
        let isPurge = selection.action == .purgeDeadLetters
        let entry = try await actions.begin(
            selection.action, call.user, target: selection.description, selectedCount: selection.count
        ) { [self] progress in
            defer { forgetCounts() }
            return isPurge ? try await broker.purge(letters, progress) : try await broker.replay(letters, progress)
        }
        return action(entry, status: 202)
    }

    /// Counts again with the next question, because an action has changed the counts.
    private func forgetCounts() {
        queues?.forget()
        collected.withLock { $0 = nil }
    }

    /// RabbitMQ, for what cannot be done without.
    func requiredBroker() throws(PageProblem) -> any PageBroker {
        guard let broker else {
            throw PageProblem(.unavailable, "This process knows no RabbitMQ. Use the page of a worker.")
        }
        return broker
    }

    private static func selection(
        _ body: JSONObject, nowMilliseconds: Int64
    ) throws(PageProblem) -> PageSelection {
        let name = try body.requiredText("action")
        guard let action = PageSelection.actions[name] else {
            throw PageProblem(.invalid, "action is \"\(name.shortened(bytesMaximum: 40))\": expected replay or purge.")
        }
        let identifiers = (body["ids"]?.array).map { Array($0.map(\.string)) }
        guard (identifiers == nil) != (body["filter"] == nil) else {
            throw PageProblem(.invalid, "Give either filter, an object, or ids, an array of identifiers.")
        }
        if let identifiers {
            guard (1...PageSelection.identifiersMaximum).contains(identifiers.count),
                identifiers.allSatisfy({ $0?.utf8.count == 32 })
            else {
                throw PageProblem(
                    .invalid, "ids: expected 1 to \(PageSelection.identifiersMaximum) identifiers of 32 digits each.")
            }
            return PageSelection(
                action: action, filter: DeadLetterFilter(), identifiers: identifiers.compactMap(\.self),
                nowMilliseconds: nowMilliseconds)
        }
        guard let filter = body["filter"]?.object else { throw PageProblem(.invalid, "filter: expected an object.") }
        return PageSelection(
            action: action, filter: try DeadLetterFilter(filter), identifiers: [], nowMilliseconds: nowMilliseconds)
    }

    /// The letters of these identifiers that are there, each once.
    private static func present(
        _ identifiers: [String], in registry: any PageRegistry
    ) throws -> [DeadLetterSummary] {
        var numbers: Set<Int64> = []
        return try identifiers.compactMap { identifier in
            var filter = DeadLetterFilter()
            filter.identifierPrefix = identifier.lowercased()
            let letter = try registry.deadLetters(matching: filter, after: 0, limit: 1).first
            return letter.flatMap { numbers.insert($0.number).inserted ? $0 : nil }
        }
    }
}

extension PageSelection {
    /// The names that actions have in requests.
    static let actions: [String: AuditEntry.Action] = ["replay": .replayDeadLetters, "purge": .purgeDeadLetters]

    fileprivate var actionName: String { action == .purgeDeadLetters ? "purge" : "replay" }
}

extension DeadLetterSummary {
    /// Writes it as the page shows it.
    func write(to writer: inout JSONWriter) {
        writer.member("id", identifier)
        writer.member("reason", reason)
        writer.member("detail", detail.map(PageMask.text))
        writer.member("app", app)
        writer.member("eventSource", eventSource)
        writer.member("eventId", eventIdentifier)
        writer.member("eventType", eventType)
        writer.member("attempts", attempts)
        writer.member("firstSeenMilliseconds", firstSeenMilliseconds)
        writer.member("deadLetteredMilliseconds", deadLetteredMilliseconds)
        writer.member("bodyBytes", bodySizeBytes)
    }
}

extension [DeadLetterCount] {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.array("counts", self) { writer, count in
            writer.member("reason", count.reason)
            writer.member("app", count.app)
            writer.member("count", count.count)
            writer.member("oldestMilliseconds", count.oldestMilliseconds)
        }
    }
}

extension [DeadLetterSummary] {
    /// How many there are of each reason and app.
    fileprivate var counts: [DeadLetterCount] {
        Dictionary(grouping: self) { [$0.reason, $0.app ?? ""] }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { _, letters in
                DeadLetterCount(
                    reason: letters[0].reason, app: letters[0].app, count: letters.count,
                    oldestMilliseconds: letters.map(\.deadLetteredMilliseconds).min() ?? 0)
            }
    }
}
