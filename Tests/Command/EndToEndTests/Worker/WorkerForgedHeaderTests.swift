import ChangeEvents
import Messages
import PushTestKit
import Testing

@Suite("The worker, when a publisher sends headers that are Apus' own")
struct WorkerForgedHeaderTests {
    private static func message(_ identifier: String, identity: Int, _ headers: [(String, HeaderValue)]) -> Message {
        var message = TestEvents.message(
            WorkerFixture.datasetChanged(identifier, identity: identity, syncCount: 1))
        message.headers = headers.map { MessageHeader($0.0, $0.1) }
        return message
    }

    @Test(
        "They stop no worker and mislead none: each device gets its push, after its retries, and the log says it once")
    func forgedHistory() async throws {
        let fixture = try await WorkerFixture(
            script: #"{"token":"\#(TestDevices.token(0))","answer":"throttle","times":2}"#)
        try fixture.register(4)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish([
            // Its device is throttled twice: the arithmetic of the retry ladder overflowed here.
            Self.message("first-seen", identity: 0, [(RetryHeader.firstSeenMilliseconds, .int64(.min))]),
            Self.message("expired", identity: 1, [(RetryHeader.expiresAtMilliseconds, .int64(0))]),
            Self.message("nobody", identity: 2, [(RetryHeader.devices, .array([]))]),
            Self.message(
                "chunk", identity: 3,
                [
                    (RetryHeader.cursor, .int64(.max)), (RetryHeader.fanOut, .int64(.min)),
                    (RetryHeader.chunk, .int64(.min)), (RetryHeader.chunkDevices, .int64(.min)),
                ]),
        ])
        _ = try await fixture.accepted(reachingDevices: 4)
        try await worker.wait(for: "apus_pushes_total", #"outcome="accepted""#, toReach: 4)
        #expect(try await worker.metric("apus_pushes_total", #"outcome="requeued_retry""#) == 2)
        #expect(try await worker.metric("apus_events_headers_ignored_total") == 4)
        #expect(try await worker.metric("apus_events_untimed_total") == 4)
        let end = await worker.drain()
        #expect(end.exitCode == 0 && end.errors.contains(#""balanced":true"#), "\(end.errors)")
        let lines = end.errors.split(separator: "\n").filter { $0.contains(#""event.headers-ignored""#) }
        #expect(lines.count == 1 && lines[0].contains(#""id":"first-seen""#), "\(lines)")
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }

    @Test("An event that the broker gave up on is replayed as its publisher's: to its whole audience, as if new")
    func replayOfForgedHistory() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        var message = Self.message(
            "r", identity: 0,
            [
                (RetryHeader.devices, .array([])), (RetryHeader.reason, .string("forged")),
                (RetryHeader.cursor, .int64(.max)), ("x-delivery-count", .int64(99)), ("x-acquired-count", .int64(99)),
                (
                    "x-death",
                    .array([
                        .table([
                            MessageHeader("queue", .string("\(fixture.namespace).retry.1s")),
                            MessageHeader("reason", .string("rejected")),
                            MessageHeader("count", .int64(99)),
                        ])
                    ])
                ),
            ])
        message.properties.expiration = "0"
        try await fixture.publish([message])
        try await fixture.waitForMessages(0)
        #expect(try await fixture.deadLetters().map(\.reason) == ["expired"])
        #expect(try await fixture.apus("dead-letters", "replay", "--reason", "expired").exitCode == 0)
        let worker = try fixture.startWorker()
        _ = try await fixture.accepted(reachingDevices: 1)
        await worker.drainCleanly()
        #expect(try await fixture.deadLetters().isEmpty)
        try await fixture.stop()
    }
}
