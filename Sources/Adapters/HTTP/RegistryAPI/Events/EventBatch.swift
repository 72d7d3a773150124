import ChangeEvents
import Essentials
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
        /// Whether there is nothing to publish.
        var isSkipped = false
    }

    private let tellsOfEach: Bool
    private let keepsHistory: Bool
    private var entries: [Entry] = []

    /// Begins without events.
    ///
    /// - Parameters:
    ///   - tellsOfEach: whether the answer has a result for each event, as that to a batch has.
    ///   - keepsHistory: whether one may ask later what became of an event.
    init(tellsOfEach: Bool, keepsHistory: Bool) {
        self.tellsOfEach = tellsOfEach
        self.keepsHistory = keepsHistory
    }

    /// How many events failed for reasons of the server, how many for those of the client, and how many tell nothing.
    var counts: (published: Int, refused: Int, failed: Int, skipped: Int) {
        let failed = entries.count { $0.problem?.isOfServer == true }
        let refused = entries.count { $0.problem != nil } - failed
        let skipped = entries.count { $0.isSkipped }
        return (entries.count - refused - failed - skipped, refused, failed, skipped)
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

    /// Adds a message that tells nothing that devices are to hear of.
    mutating func skipping() { entries.append(Entry(identity: nil, isOpen: false, isSkipped: true)) }

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
            var response = NativeHandler.json(202) { writer in writeEvents(to: &writer) }
            if keepsHistory, !tellsOfEach, let identity = entries.first?.identity {
                response.fields.append(HTTPField("Location", Self.path(of: identity)))
            }
            return response
        }
        guard tellsOfEach else { return problem.response }
        let published = entries.count - problems.count
        let whole = NativeProblem(
            problem.code, "\(published) of \(entries.count) events are published; events says why the others are not.",
            retryAfterSeconds: problem.retryAfterSeconds)
        return whole.response { writer in writeEvents(to: &writer) }
    }

    private static func path(of identity: (identifier: String, source: String)) -> String {
        "/v1/events/\(PercentEncoding.encode(identity.identifier))?source=\(PercentEncoding.encode(identity.source))"
    }

    private func writeEvents(to writer: inout JSONWriter) {
        // A single message that tells nothing is a batch without events.
        guard tellsOfEach || entries.contains(where: \.isSkipped) else {
            for entry in entries { Self.write(entry.identity, to: &writer) }
            return
        }
        writer.array("events") { writer in
            for entry in entries where !entry.isSkipped {
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

    /// The answer to an idempotency key that stands for another content.
    static let keyReused = NativeProblem(
        .conflict,
        "The Idempotency-Key was used for another content. Give each push a key of its own, and send the same content "
            + "when you try again.")

    /// Whether the same request may succeed later.
    var isOfServer: Bool { status >= 500 }
}
