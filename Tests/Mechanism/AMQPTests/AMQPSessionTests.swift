import AMQP
import EventLoop
import Messages
import PushTestKit
import Testing

@Suite("A session with the broker")
struct AMQPSessionTests {
    /// Runs blocking work with a session of the shared broker, off the test's thread.
    static func withSession<Result: Sendable>(
        url: String? = nil, options: AMQPOptions = AMQPOptions(),
        _ body: @escaping @Sendable (AMQPSession) throws -> Result
    ) async throws -> Result {
        let address = if let url { url } else { try await PrivateRabbitMQ.shared().url }
        let loop = try EventLoop(name: "test")
        defer { loop.stopAndJoin() }
        return try await loop.run {
            let session = try AMQPSession(AMQPEndpoint(address), options: options)
            defer { session.close() }
            return try body(session)
        }
    }

    /// Publishes messages to a queue and gets them back.
    static func roundTrip(_ messages: [Message]) async throws -> [AMQPDelivery] {
        let queue = "\(PrivateRabbitMQ.makeNamespace()).round-trip"
        return try await withSession { session in
            try session.declareQueue(queue)
            try session.enableConfirms()
            let failures = try session.publishConfirmed(messages.map { ($0, "", queue) })
            #expect(failures.allSatisfy { $0 == nil })
            var deliveries: [AMQPDelivery] = []
            while let (delivery, _) = try session.get(queue) { deliveries.append(delivery) }
            try session.deleteQueue(queue)
            return deliveries
        }
    }

    private static let everyType: [MessageHeader] = [
        MessageHeader("t", .boolean(true)), MessageHeader("b", .int8(-128)), MessageHeader("B", .uint8(255)),
        MessageHeader("s", .int16(-32_768)), MessageHeader("u", .uint16(65_535)), MessageHeader("I", .int32(.min)),
        MessageHeader("i", .uint32(.max)), MessageHeader("l", .int64(.min)), MessageHeader("f", .float32(1.5)),
        MessageHeader("d", .float64(-2.25)), MessageHeader("D", .decimal(scale: 2, value: 314)),
        MessageHeader("T", .timestamp(1_700_000_000)), MessageHeader("S", .string("gr\u{FC}n")),
        MessageHeader("raw", .rawString([0xFF, 0x00, 0xC3])), MessageHeader("x", .bytes([0, 1, 255])),
        MessageHeader("V", .void), MessageHeader("empty", .string("")), MessageHeader("no-array", .array([])),
        MessageHeader("no-table", .table([])),
        MessageHeader("A", .array([.int32(1), .string("two"), .array([.boolean(false)])])),
        MessageHeader("F", .table([MessageHeader("inner", .table([MessageHeader("x", .int64(1))]))])),
    ]

    @Test("Headers of every type, non-UTF-8 text and all properties come back as they were published")
    func keepsHeadersAndProperties() async throws {
        var properties = MessageProperties()
        properties.contentType = "application/cloudevents+json; charset=utf-8"
        properties.contentEncoding = "identity"
        properties.deliveryMode = 2
        properties.priority = 3
        properties.correlationID = "correlation"
        properties.replyTo = "reply"
        properties.expiration = "600000"
        properties.messageID = "6f1c8d2e-6b1c-4b6f-9d53-0a6a8a7a51d2"
        properties.timestampSeconds = 1_700_000_000
        properties.type = "com.example.dataset.changed"
        properties.userID = "guest"
        properties.appID = "tests"
        let message = Message(properties: properties, headers: Self.everyType, body: [1, 2, 3])
        let deliveries = try await Self.roundTrip([message])
        #expect(deliveries.map(\.message.properties) == [properties])
        #expect(deliveries.map(\.message.body) == [[1, 2, 3]])
        // RabbitMQ 4.0 and newer sort headers by their names, as 3.x sorts those of what it dead-letters.
        let names: (MessageHeader, MessageHeader) -> Bool = { $0.name < $1.name }
        #expect(deliveries.map { $0.message.headers.sorted(by: names) } == [Self.everyType.sorted(by: names)])
        #expect(deliveries.first?.hasUnreadableHeaders == false)
    }

    @Test("Bodies of every size around the size of a frame, of 300 KB and of 5 MB come back whole")
    func assemblesBodies() async throws {
        let frame = 131_072 - 8
        let sizes = [0, 1, frame - 1, frame, frame + 1, 2 * frame, 300_000, 5_000_000]
        let bodies = sizes.map { size in (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }
        let deliveries = try await Self.roundTrip(bodies.map { Message(body: $0) })
        #expect(deliveries.map(\.message.body.count) == sizes)
        #expect(deliveries.map(\.message.body) == bodies)
    }

    @Test("Headers come back that lie as deep in each other as may be; deeper ones cannot be sent")
    func boundsTheDepthOfHeaders() async throws {
        func nested(_ depth: Int) -> MessageHeader {
            var value = HeaderValue.int32(1)
            for _ in 1..<depth { value = .array([value]) }
            return MessageHeader("deep", value)
        }
        let deepest = HeaderValue.depthMaximum
        let deliveries = try await Self.roundTrip([Message(headers: [nested(deepest)], body: [1])])
        #expect(deliveries.first?.message.headers == [nested(deepest)])
        let tooDeep = Message(headers: [nested(deepest + 1)], body: [1])
        try await Self.withSession { session in
            try session.enableConfirms()
            #expect(try session.publishConfirmed([(tooDeep, "", "any")])[0]?.isForGood == true)
        }
    }

    @Test("A message that AMQP cannot express is refused before anything is sent, and the session goes on")
    func refusesWhatCannotBeSent() async throws {
        let queue = "\(PrivateRabbitMQ.makeNamespace()).refuse"
        try await Self.withSession { session in
            try session.declareQueue(queue)
            try session.enableConfirms()
            let long = String(repeating: "x", count: 256)
            var longType = Message(body: [])
            longType.properties.type = long
            let messages = [
                longType, Message(headers: [MessageHeader(long, .void)], body: []),
                Message(headers: [MessageHeader("x", .bytes([UInt8](repeating: 0, count: 131_072)))], body: []),
            ]
            for message in messages {
                let error = #expect(throws: AMQPError.self) {
                    try session.publish(message, exchange: "", routingKey: queue, isMandatory: true)
                }
                #expect(error?.code == .invalid)
            }
            let largest = Message(
                headers: [MessageHeader("x", .bytes([UInt8](repeating: 0, count: 130_990)))], body: [])
            #expect(try session.publishConfirmed([(largest, "", queue)]) == [nil])
            #expect(try session.get(queue)?.delivery.message.headers == largest.headers)
            try session.deleteQueue(queue)
        }
    }

    @Test("What is asked for in vain throws with the broker's text, and the session can be used on")
    func survivesChannelErrors() async throws {
        let queue = "\(PrivateRabbitMQ.makeNamespace()).errors"
        try await Self.withSession { session in
            let missing = #expect(throws: AMQPError.self) { try session.declareQueue(queue, isPassive: true) }
            #expect(missing?.code == .missing)
            try session.declareQueue(queue, arguments: [MessageHeader("x-message-ttl", .int64(1_000))])
            let different = #expect(throws: AMQPError.self) { try session.declareQueue(queue) }
            #expect(different?.code == .different)
            #expect(different?.message.contains("x-message-ttl") == true)
            #expect(try session.get(queue) == nil)
            try session.deleteQueue(queue)
        }
    }

    @Test("An unroutable publish is told from its neighbours with the same route that were taken")
    func tellsReturnsApart() async throws {
        let namespace = PrivateRabbitMQ.makeNamespace()
        try await Self.withSession { session in
            try session.declareQueue("\(namespace).here")
            try session.enableConfirms()
            let message = Message(body: [1])
            let failures = try session.publishConfirmed([
                (message, "", "\(namespace).here"), (message, "", "\(namespace).nowhere"),
                (message, "", "\(namespace).here"),
            ])
            #expect(failures.map { $0 == nil } == [true, false, true])
            #expect(failures[1]?.text.contains("NO_ROUTE") == true)
            try session.deleteQueue("\(namespace).here")
        }
    }

    @Test("A wrong password, a missing virtual host and a closed port each say what is wrong")
    func saysWhyNot() async throws {
        let port = try await PrivateRabbitMQ.shared().port
        let cases: [(url: String, code: AMQPError.Code, text: String)] = [
            ("amqp://guest:hunter2@127.0.0.1:\(port)/", .refused, "ACCESS_REFUSED"),
            ("amqp://guest:guest@127.0.0.1:\(port)/nope", .missing, "nope"),
            ("amqp://127.0.0.1:1/", .unreachable, "is the broker running"),
            ("amqp://no-such-host.invalid/", .unreachable, "cannot be resolved"),
        ]
        for (url, code, text) in cases {
            let error = await #expect(throws: AMQPError.self) { try await Self.withSession(url: url) { _ in } }
            #expect(error?.code == code)
            #expect(error?.message.contains(text) == true)
            #expect(error?.message.contains("hunter2") == false)
        }
    }
}
