import ChangeEvents
import DispatchCore
import Dispatcher
import Messages
import Notifications
import PushTestKit
import StructuredLogging
import Synchronization
import Testing

/// Keeps log entries: the event's name, and its fields as texts.
private final class LogBook: Sendable {
    struct Entry {
        let event: String
        let fields: [String: String]
    }

    private let entries = Mutex<[Entry]>([])

    func logger(minimum: LogLevel) -> Logger {
        Logger(minimum: minimum) { [self] _, event, fields in
            var texts: [String: String] = [:]
            for field in fields {
                texts["\(field.name)"] =
                    switch field.value {
                    case .string(let text): text
                    case .integer(let number): "\(number)"
                    case .number(let number): "\(number)"
                    case .boolean(let isTrue): "\(isTrue)"
                    }
            }
            entries.withLock { $0.append(Entry(event: "\(event)", fields: texts)) }
        }
    }

    func entries(of event: String) -> [Entry] { entries.withLock { $0.filter { $0.event == event } } }
}

@Suite("What the log says of single events", .timeLimit(.minutes(10)))
struct EventLogTests {
    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    private let book = LogBook()

    private func message(_ identifier: String, _ rest: String) -> Message {
        TestEvents.message(#"{"specversion":"1.0","id":"\#(identifier)","source":"/test",\#(rest)}"#)
    }

    private func change(_ identifier: String, owner: Int = 1, count: Int = 1) -> Message {
        message(
            identifier,
            #""type":"com.example.dataset.changed","data":{"identityPoolId":"\#(Self.pool)","#
                + #""identityId":"us-east-1:00000000-0000-0000-0000-00000000000\#(owner)","datasetName":"notes","#
                + #""syncCount":\#(count)}"#)
    }

    private func bench(minimum: LogLevel) throws -> PipelineBench {
        let bench = try PipelineBench(transport: FakeTransport(), logger: book.logger(minimum: minimum))
        try bench.register(
            [
                PipelineBench.device(
                    "device-1", identity: "us-east-1:00000000-0000-0000-0000-000000000001", pool: Self.pool)
            ],
            dataset: "notes")
        return bench
    }

    @Test("At the level debug there is exactly one line for each event, with its source, id, app and what became of it")
    func oneLineForEachEvent() async throws {
        let bench = try bench(minimum: .debug)
        var late = change("late", owner: 3)
        late.properties.timestampSeconds = 1
        late.properties.expiration = "1000"
        bench.broker.deliver([
            late,
            change("older"), change("newer", count: 2), change("nobody", owner: 2),
            message("broken", #""type":"com.example.push.requested","data":{"app":"chat"}"#),
            message("other", #""type":"com.example.push.requested","data":{"app":"no"}"#),
        ])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let entries = book.entries(of: "event.handled")
        #expect(
            outcomes(of: "event.handled") == [
                "late": ["expired"], "older": ["coalesced"], "newer": ["matched"], "nobody": ["unmatched"],
                "broken": ["rejected"],
                "other": ["rejected"],
            ])
        #expect(entries.allSatisfy { $0.fields["source"] == "/test" && $0.fields["type"] != nil })
        let matched = entries.first { $0.fields["outcome"] == "matched" }?.fields
        #expect(matched?["app"] == "chat" && matched?["devices"] == "1", "\(String(describing: matched))")
        #expect(entries.filter { $0.fields["outcome"] == "rejected" }.allSatisfy { $0.fields["reason"] != nil })
        bench.stop()
    }

    /// The outcomes that an event's lines tell, by the identifier of each event.
    private func outcomes(of name: String) -> [String: [String?]] {
        Dictionary(grouping: book.entries(of: name)) { $0.fields["id"] ?? "-" }
            .mapValues { $0.map { $0.fields["outcome"] } }
    }

    @Test("An event whose app is slow has one line that says that it is deferred, and one for each time it comes back")
    func deferredEvents() async throws {
        let way = RouteSwitch()
        way.turnOff([0])
        var limits = DispatchLimits()
        limits.unsettledDeliveriesMaximum = 100
        let bench = try PipelineBench(
            transport: FakeTransport { request, _ in
                way.isOff(request.route) ? nil : .answered(PushAnswer(status: 200))
            }, apps: ["chat", "mail"], delaysMilliseconds: [5_000, 60_000], limits: limits,
            timeGoesOn: false, logger: book.logger(minimum: .debug))
        await bench.settledLoop()
        // Most of the window is unanswered for longer than patience lasts.
        bench.broker.deliver((0..<59).map { PipelineBench.push($0) })
        await bench.settledLoop()
        // The app is watched from the first delivery that finds it over its share.
        bench.broker.deliver([PipelineBench.push(59)])
        await bench.settledLoop()
        bench.clock.advance(milliseconds: AppHealth.patienceMilliseconds + 1)
        var late = PipelineBench.push(62)
        late.properties.expiration = "1000"
        bench.broker.deliver([
            PipelineBench.push(60), PipelineBench.push(61, options: #"{"expiration":0}"#), late,
            PipelineBench.push(63, app: "mail"),
        ])
        await bench.broker.wait { $0.settledTags.count == 4 }
        var expected: [String: [String?]] = [
            // It waits in a retry queue. The next two could not wait until they came back.
            "chat-60": ["deferred"], "chat-61": ["expired"], "chat-62": ["expired"], "mail-63": ["matched"],
        ]
        for number in 0..<60 { expected["chat-\(number)"] = ["matched"] }
        #expect(outcomes(of: "event.handled") == expected)
        #expect(bench.broker.requeued(in: "apus.retry.5s").count == 1)

        bench.broker.deliverQueued(in: "apus.retry.5s")
        await bench.broker.wait { $0.settledTags.count == 5 }
        #expect(outcomes(of: "event.retried") == ["chat-60": ["deferred"]])
        way.turnOn([0])
        bench.transport.answerAll(.answered(PushAnswer(status: 200)))
        await bench.broker.wait { $0.settledTags.count == 65 }
        for queue in ["apus.retry.5s", "apus.retry.1m"] { bench.broker.deliverQueued(in: queue) }
        await bench.broker.wait { $0.settledTags.count == 66 }
        #expect(outcomes(of: "event.retried") == ["chat-60": ["deferred", "matched"]])
        #expect(book.entries(of: "event.retried").allSatisfy { $0.fields["attempt"] == "0" })
        #expect(outcomes(of: "event.handled") == expected, "none was said twice")
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == 61 && ledger.expired == 2 && ledger.isBalanced, "\(ledger)")
        bench.stop()
    }

    @Test("What becomes a dead letter is logged with its source, id, type and app, and nothing else of debug is")
    func deadLetters() async throws {
        let bench = try bench(minimum: .info)
        bench.broker.deliver([
            message("broken", #""type":"com.example.push.requested","data":{"app":"chat"}"#), change("fine"),
        ])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let fields = try #require(book.entries(of: "event.dead-lettered").first).fields
        #expect((fields["source"], fields["id"], fields["app"]) == ("/test", "broken", "chat"))
        #expect(fields["type"] == "com.example.push.requested" && fields["reason"] != nil)
        #expect(book.entries(of: "event.handled").isEmpty)
        bench.stop()
    }

    @Test("A dead letter bears when it became one, and the app of its pushes")
    func headers() async throws {
        let transport = FakeTransport { _, _ in .answered(PushAnswer(status: 413, reason: "PayloadTooLarge")) }
        let bench = try PipelineBench(transport: transport)
        bench.broker.deliver([PipelineBench.push(1)])
        await bench.broker.wait { !$0.requeued(in: "apus.dead-letter").isEmpty }
        let letter = try #require(bench.broker.requeued(in: "apus.dead-letter").first)
        #expect(letter.header(RetryHeader.app) == .string("chat"))
        #expect(letter.header(RetryHeader.deadLetteredMilliseconds) == .int64(bench.clock.nowMilliseconds))
        bench.stop()
    }
}
