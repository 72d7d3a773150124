import APNsSimulator
import Messages
import PushTestKit
import Testing

@Suite("Changes of tables, with RabbitMQ and a worker as processes")
struct WorkerSourceTests {
    private static let configuration = """
        [[source]]
        table = "public.songs"
        record_type = "Song"
        columns = ["title", "price"]

        """

    /// As Debezium's sink for RabbitMQ publishes: headers, and no property but the delivery mode.
    private static func message(_ body: String, _ headers: [MessageHeader] = []) -> Message {
        Message(headers: headers, body: Array(body.utf8))
    }

    private static func envelope(_ operation: String, _ lsn: Int, _ row: String, table: String = "songs") -> Message {
        let (before, after) = operation == "d" ? (row, "null") : ("null", row)
        return message(
            """
            {"before":\(before),"after":\(after),"source":{"connector":"postgresql","name":"shop","db":"store",
            "schema":"public","table":"\(table)","txId":555,"lsn":\(lsn),"ts_ms":1764370000123},"op":"\(operation)"}
            """)
    }

    /// The same with its schema, whose price is a decimal.
    private static func wrapped(_ lsn: Int, title: String, cents: String) -> Message {
        let row = #"{"id":\#(lsn),"title":"\#(title)","price":"\#(cents)"}"#
        let body = String(decoding: envelope("u", lsn, row).body, as: UTF8.self)
        return message(
            #"""
            {"schema":{"type":"struct","fields":[{"type":"struct","field":"after","fields":[
            {"type":"int32","field":"id"},{"type":"string","field":"title"},{"type":"bytes","field":"price",
            "name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}}]}]},"payload":\#(body)}
            """#)
    }

    @Test("Debezium's changes are pushes to those who subscribed to such rows; what tells of none is acknowledged")
    func debezium() async throws {
        let fixture = try await WorkerFixture(configuration: Self.configuration)
        let token = TestDevices.token(1)
        _ = try await fixture.apus("device", "add", "--app", "chat", "--token", token, "--id", "d1", "--user", "anna")
        let saved = try await fixture.apus(
            "subscription", "save", "cheap", "--app", "chat", "--user", "anna", "--type", "Song", "--predicate",
            "price <= 20", "--alert", "{title}")
        try #require(saved.exitCode == 0, "\(saved)")
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let outbox = #"{"app":"chat","userIds":["anna"],"notification":{"body":"Outbox"}}"#
        let outboxHeaders = [MessageHeader("id", .string("\"o-1\"")), MessageHeader("type", .string("push.requested"))]
        try await fixture.publish([
            Self.envelope("c", 1, #"{"id":1,"title":"Inserted","price":12}"#),
            Self.envelope("u", 2, #"{"id":1,"title":"Dear","price":25}"#),
            // 19.99 in base64.
            Self.wrapped(3, title: "Updated", cents: "B88="),
            Self.envelope("r", 4, #"{"id":4,"title":"Snapshot","price":1}"#),
            Self.envelope("d", 5, #"{"id":1,"title":"Deleted","price":5}"#),
            Self.message("default"), Self.message(""),
            Self.envelope("c", 6, #"{"id":1,"name":"x"}"#, table: "albums"),
            Self.message(outbox, outboxHeaders),
        ])
        try await worker.wait(for: "apus_dead_letters_total", "unknown-table", toReach: 1)
        try await fixture.simulator.waitForAnswers(4)
        let end = await worker.drain()
        #expect(end.exitCode == 0 && end.errors.contains(#""balanced":true"#), "\(end.errors)")
        try await fixture.waitForMessages(0)
        let payloads = try await fixture.simulator.recorded().map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(payloads.count == 4)
        for text in ["Inserted", "Updated", "Deleted", "Outbox"] {
            #expect(payloads.count { $0.contains(text) } == 1, "\(text): \(payloads)")
        }
        let letters = try await fixture.deadLetters()
        #expect(letters.map(\.reason) == ["unknown-table"])
        for line in ["[[source]]", #"table = "public.albums""#, #"key = ["id"]"#] {
            #expect(letters.first?.detail.contains(line) == true, "\(letters)")
        }
        try await fixture.stop()
    }
}
