import Backoffice
import ChangeEvents
import Messages
import RegistryCore
import Testing

@Suite("What a dead letter is")
struct DeadLetterReaderTests {
    private let reader = DeadLetterReader { bytes in
        // Any hash will do here; which one is the adapter's business.
        (0..<2).flatMap { round in
            var hasher = Hasher()
            hasher.combine(round)
            hasher.combine(bytes)
            return withUnsafeBytes(of: hasher.finalize(), Array.init)
        }
    }

    /// A letter as a worker publishes it.
    private func message(
        event: String = "e1", devices: [String] = ["a"], firstSeen: Int64 = 5, dead: Int64 = 9
    ) -> Message {
        var message = Message(
            body: Array(
                #"{"specversion":"1.0","id":"\#(event)","source":"/sync","type":"com.example.push.requested","#.utf8)
                + Array(#""data":{"app":"chat"}}"#.utf8))
        message.properties.contentType = "application/cloudevents+json"
        message.headers = [
            MessageHeader("mine", .string("kept")),
            MessageHeader(RetryHeader.attempt, .int64(10)),
            MessageHeader(RetryHeader.firstSeenMilliseconds, .int64(firstSeen)),
            MessageHeader(RetryHeader.reason, .string("attempts-exhausted")),
            MessageHeader(RetryHeader.detail, .string("because")),
            MessageHeader(RetryHeader.devices, .array(devices.map { .string($0) })),
            MessageHeader(RetryHeader.deadLetteredMilliseconds, .int64(dead)),
        ]
        return message
    }

    private func read(_ message: Message) -> DeadLetterSummary {
        reader.read(message, publishedTo: "", nowMilliseconds: 1_000).summary
    }

    @Test("It tells source, id, type and app of its event, the reason, the attempts and the times")
    func summary() {
        let summary = read(message())
        #expect(summary.identifier.utf8.count == 32)
        #expect((summary.eventSource, summary.eventIdentifier) == ("/sync", "e1"))
        #expect((summary.eventType, summary.app) == ("com.example.push.requested", "chat"))
        #expect((summary.reason, summary.detail) == ("attempts-exhausted", "because"))
        #expect((summary.attempts, summary.firstSeenMilliseconds) == (10, 5))
        #expect(summary.deadLetteredMilliseconds == 9)
    }

    @Test("Delivered again, with its headers in another order and counted, it is the same letter")
    func redelivery() {
        var again = message()
        again.headers.reverse()
        again.headers.append(MessageHeader("x-delivery-count", .int64(3)))
        #expect(
            reader.read(again, publishedTo: "", nowMilliseconds: 2).message
                == reader.read(message(), publishedTo: "", nowMilliseconds: 1).message)
        #expect(read(again).identifier == read(message()).identifier)
    }

    @Test("Another event, other devices, a later try or another body make another letter")
    func distinctness() {
        var other = message()
        other.body.append(32)
        let letters = [
            message(), message(event: "e2"), message(devices: ["a", "b"]), message(firstSeen: 6), message(dead: 10),
            other,
        ]
        #expect(Set(letters.map { read($0).identifier }).count == letters.count)
    }

    @Test("What the broker put there has the broker's reason and time, whatever its publisher wrote into headers")
    func brokerDeath() {
        var message = message()
        message.headers.append(
            MessageHeader(
                "x-death",
                .array([
                    .table([
                        MessageHeader("reason", .string("delivery_limit")),
                        MessageHeader("exchange", .string("apus.changes")),
                        MessageHeader("time", .timestamp(1_700_000_000)),
                    ])
                ])))
        let letter = reader.read(message, publishedTo: "", nowMilliseconds: 1_000)
        #expect((letter.summary.reason, letter.summary.detail) == ("delivery-limit", nil))
        #expect(letter.summary.deadLetteredMilliseconds == 1_700_000_000_000)
        #expect(!letter.replay.headers.contains { $0.name.hasPrefix(RetryHeader.prefix) })
    }

    @Test("Of what came by another exchange than that of Apus' own copies no header of Apus counts")
    func foreignExchange() {
        let letter = reader.read(message(), publishedTo: "amq.topic", nowMilliseconds: 1_000)
        #expect((letter.summary.reason, letter.summary.attempts) == ("unknown", nil))
        #expect(letter.replay.headers.map(\.name) == ["mine"])
    }

    @Test("A replay keeps the publisher's headers and the devices, and forgets the attempts")
    func replay() {
        let names = reader.read(message(), publishedTo: "", nowMilliseconds: 1).replay.headers.map(\.name)
        #expect(names.sorted() == [RetryHeader.devices, "mine"].sorted())
    }

    @Test("What cannot be read is left out, and what is too long or a NUL does not get into a registry")
    func hostile() {
        var message = Message(body: [0xff, 0])
        message.properties.messageID = "a\u{0}b" + String(repeating: "ü", count: 2_000)
        message.headers = [MessageHeader("x-death", .array([.void]))]
        let summary = read(message)
        #expect((summary.reason, summary.deadLetteredMilliseconds, summary.attempts) == ("unknown", 1_000, nil))
        #expect(summary.eventIdentifier?.hasPrefix("a\u{FFFD}b") == true)
        #expect((summary.eventIdentifier?.utf8.count ?? .max) < 1_100)
        #expect((summary.eventSource, summary.app) == (nil, nil))
    }

    @Test("Properties and headers of every type are read back from their JSON exactly, and nothing else is")
    func envelope() {
        var message = message()
        message.properties.timestampSeconds = .max
        message.properties.priority = 3
        message.headers += [
            MessageHeader("n\n\u{0}", .uint64(.max)), MessageHeader("b", .boolean(false)),
            MessageHeader("x", .bytes([0, 255])), MessageHeader("r", .rawString([0xc3])),
            MessageHeader("f", .float64(-0.0)), MessageHeader("g", .float32(.infinity)),
            MessageHeader("d", .decimal(scale: 3, value: 7)), MessageHeader("v", .void),
            MessageHeader("t", .timestamp(9)), MessageHeader("i", .int8(-128)),
        ]
        var deep = HeaderValue.uint16(7)
        for _ in 0..<32 { deep = .table([MessageHeader("k", .array([deep]))]) }
        message.headers.append(MessageHeader("deep", deep))
        #expect(Message(envelope: message.envelope, body: message.body) == message)
        for text in ["", "{}", #"{"properties":{},"headers":[["a",{"int8":"300"}]]}"#, "[]"] {
            #expect(Message(envelope: Array(text.utf8), body: []) == nil, "\(text)")
        }
    }
}
