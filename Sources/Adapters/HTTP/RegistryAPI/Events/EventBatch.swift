import ChangeEvents
import HTTPServer
import JSON
import Notifications

/// The events of a request whose answer is due, and how each has ended so far.
struct EventBatch {
    private struct Entry {
        /// The identity of the event; nil if it could not be read.
        let identity: (identifier: String, source: String)?
        /// Why RabbitMQ does not have it; nil if it has, or is asked.
        var problem: NativeProblem?
        /// Whether RabbitMQ is asked.
        var isOpen: Bool
    }

    private let tellsOfEach: Bool
    private var entries: [Entry] = []

    /// Begins without events.
    ///
    /// - Parameter tellsOfEach: whether the answer has a result for each event, as that to a batch has.
    init(tellsOfEach: Bool) { self.tellsOfEach = tellsOfEach }

    /// How many events failed for reasons of the server, and how many for those of the client.
    var counts: (published: Int, refused: Int, failed: Int) {
        let failed = entries.count { $0.problem?.isOfServer == true }
        let refused = entries.count { $0.problem != nil } - failed
        return (entries.count - refused - failed, refused, failed)
    }

    // MARK: Events

    /// Adds an event that RabbitMQ is asked to take.
    mutating func publishing(_ event: ChangeEvent) {
        entries.append(Entry(identity: (event.identifier, event.source), isOpen: true))
    }

    /// Adds an event that is not published.
    mutating func refusing(_ problem: NativeProblem) {
        entries.append(Entry(identity: nil, problem: problem, isOpen: false))
    }

    /// The event at an index ended.
    mutating func ended(at index: Int, _ outcome: PublishOutcome) {
        guard entries.indices.contains(index), entries[index].isOpen else { return }
        entries[index].isOpen = false
        entries[index].problem = outcome.problem
    }

    /// Gives up waiting for the rest.
    mutating func gaveUp() {
        for index in entries.indices where entries[index].isOpen {
            entries[index].isOpen = false
            entries[index].problem = NativeProblem(
                .busy,
                "RabbitMQ has not confirmed the event in time, and may still have it: send it again with the same id.")
        }
    }

    // MARK: The answer

    /// The answer: 202 only if RabbitMQ has every event, else the problem; one that passes comes before one that stays.
    var response: HTTPResponse {
        let problems = entries.compactMap(\.problem)
        guard let problem = problems.first(where: \.isOfServer) ?? problems.first else {
            return NativeHandler.json(202) { writer in writeEvents(to: &writer) }
        }
        guard tellsOfEach else { return problem.response }
        let published = entries.count - problems.count
        let whole = NativeProblem(
            problem.code, "\(published) of \(entries.count) events are published; events says why the others are not.",
            retryAfterSeconds: problem.retryAfterSeconds)
        return whole.response { writer in writeEvents(to: &writer) }
    }

    private func writeEvents(to writer: inout JSONWriter) {
        guard tellsOfEach else {
            for entry in entries { Self.write(entry.identity, to: &writer) }
            return
        }
        writer.array("events") { writer in
            for entry in entries {
                writer.beginObject()
                writer.member("status", entry.problem?.status ?? 202)
                Self.write(entry.identity, to: &writer)
                if let problem = entry.problem {
                    writer.member("code", problem.code.rawValue)
                    writer.member("detail", problem.detail)
                }
                writer.endObject()
            }
        }
    }

    private static func write(_ identity: (identifier: String, source: String)?, to writer: inout JSONWriter) {
        guard let identity else { return }
        writer.member("id", identity.identifier)
        writer.member("source", identity.source)
    }
}

extension PublishOutcome {
    /// Why RabbitMQ does not have the event; nil if it has.
    fileprivate var problem: NativeProblem? {
        switch self {
        case .confirmed: nil
        case .returned: NativeProblem(.busy, "RabbitMQ has no queue for events; its operator finds why in the log.")
        case .refused: NativeProblem(.busy, "RabbitMQ refuses events at the moment, perhaps because a queue is full.")
        case .rejected(let reason): NativeProblem(.invalid, "RabbitMQ does not accept such a message: \(reason)")
        }
    }
}

extension NativeProblem {
    /// The answer to an event that a worker would not understand, or may not have from this sender.
    init(_ rejection: EventRejection) {
        let code: Code =
            switch rejection.reason {
            case .bodyTooLarge: .tooLarge
            case .unknownEncoding: .unsupportedMediaType
            default: .invalid
            }
        self.init(code, rejection.message)
    }

    /// Whether the same request may succeed later.
    var isOfServer: Bool { status >= 500 }
}
