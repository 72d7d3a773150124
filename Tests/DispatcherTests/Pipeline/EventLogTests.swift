import Dispatcher
import PushCore
import PushTestKit
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
        var message = Message(
            body: Array(#"{"specversion":"1.0","id":"\#(identifier)","source":"/test",\#(rest)}"#.utf8))
        message.properties.contentType = "application/cloudevents+json"
        return message
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
        let outcomes = Dictionary(grouping: entries) { $0.fields["id"] ?? "-" }
            .mapValues { $0.map { $0.fields["outcome"] } }
        #expect(
            outcomes == [
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
        await bench.broker.wait { !$0.parked(in: "apus.dead-letter").isEmpty }
        let letter = try #require(bench.broker.parked(in: "apus.dead-letter").first)
        #expect(letter.header(ParkingHeader.app) == .string("chat"))
        #expect(letter.header(ParkingHeader.deadLetteredMilliseconds) == .int64(bench.clock.nowMilliseconds))
        bench.stop()
    }
}
