import ChangeEvents
import Notifications
import PushTestKit
import Testing

@Suite("Bodies that are no events, and damaged ones")
struct EventBodyTests {
    private static let seed = UInt64.random(in: .min ... .max)
    private let decoding = EventDecoding()

    private func reason(_ text: String) -> EventRejection.Reason? { decoding.rejection(Array(text.utf8))?.reason }

    @Test("Broken UTF-8 and broken JSON are told apart")
    func refusesBrokenText() {
        #expect(decoding.rejection([0x7b, 0x22, 0xff, 0x22, 0x7d])?.reason == .invalidUTF8)
        for text in ["", " ", "{", "{\"a\":}", "nul", "{}{}", "<event/>", "\0", "{\"a\":\"\u{0}\"}"] {
            #expect(reason(text) == .invalidJSON, "\(text)")
        }
        for text in ["[]", "7", "null", "\"x\"", "[1e999]"] {
            #expect(reason(text) == .invalidField, "\(text)")
        }
        #expect(reason("{}") == .missingField)
    }

    @Test("A body of 100 or 5000 levels is refused as too deep")
    func refusesDeepBodies() {
        for depth in [100, 5000] {
            let array = String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
            #expect(reason(array) == .tooDeep)
            let event = EventText.changed([:], ["extra": array])
            #expect(decoding.rejection(event)?.reason == .tooDeep)
        }
    }

    @Test("A body of 5 MB is refused as too large, and one at the limit is read")
    func refusesLargeBodies() {
        let padding = String(repeating: "x", count: 5_000_000)
        let rejection = decoding.rejection(EventText.changed([:], ["extra": "\"\(padding)\""]))
        #expect(rejection?.reason == .bodyTooLarge)
        #expect(rejection?.message.contains("4194304") == true)
        let overhead = EventText.changed([:], ["extra": "\"\""]).count
        let rest = String(padding.prefix(EventLimits.bodyBytesMaximum - overhead))
        #expect(decoding.rejection(EventText.changed([:], ["extra": "\"\(rest)\""])) == nil)
    }

    @Test("NULs in names and texts of the app's own survive")
    func keepsNULs() throws {
        let push = try #require(try decoding.push(EventText.push(notification: #"{"body":"a\u0000b"}"#)))
        #expect(push.notification.body == "a\0b")
        #expect(decoding.rejection(EventText.changed(["datasetName": #""a\u0000""#]))?.reason == .invalidField)
    }

    @Test("Texts from outside are quoted shortened and on one line")
    func quotesSafely() throws {
        let type = String(repeating: "é", count: 5000)
        for (text, reason) in [(type, EventRejection.Reason.unknownType), ("\\n\(type)\\u0000\\n", .invalidField)] {
            let rejection = try #require(decoding.rejection(EventText.event(text, data: [:])))
            #expect(rejection.reason == reason)
            #expect(rejection.message.count < 400)
            #expect(!rejection.message.contains("\n"))
        }
    }

    @Test("Every beginning of every example is refused")
    func survivesTruncation() throws {
        for name in try ExampleEvents.files(in: "deploy/examples") {
            let bytes = try ExampleEvents.bytes("deploy/examples/\(name)")
            let end = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
            for count in 0...end { #expect(decoding.rejection(Array(bytes.prefix(count))) != nil) }
        }
    }

    @Test("A damaged example is an event or a rejection, and the decoder is as good as before")
    func survivesRandomDamage() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let examples = try ExampleEvents.files(in: "deploy/examples").map { name in
            try ExampleEvents.bytes("deploy/examples/\(name)")
        }
        let intact = try decoding.event(examples[0])
        let words: [[UInt8]] = [
            "null", "-1", "\"\"", "[]", "{}", "true", "1e9", "9223372036854775808", "\\u0000", "aps",
        ]
        .map { word in Array(word.utf8) }
        for round in 0..<10_000 {
            var bytes = try #require(examples.randomElement(using: &generator))
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let start = Int.random(in: 0..<bytes.count, using: &generator)
                let end = min(bytes.count, start + Int.random(in: 0...12, using: &generator))
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[start] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.replaceSubrange(start..<end, with: words.randomElement(using: &generator) ?? [])
                case 2: bytes.replaceSubrange(start..<end, with: bytes[start..<end] + bytes[start..<end])
                default: Self.replaceValue(in: &bytes, after: start, with: words.randomElement(using: &generator) ?? [])
                }
            }
            if let rejection = decoding.rejection(bytes) {
                #expect(!rejection.message.isEmpty, "seed \(Self.seed), round \(round)")
                #expect(rejection.message.utf8.count < 1000, "seed \(Self.seed), round \(round): \(rejection)")
            }
        }
        #expect(try decoding.event(examples[0]) == intact, "seed \(Self.seed)")
    }

    /// Puts a word in the place of a whole value, so that the damage gets past the grammar.
    private static func replaceValue(in bytes: inout [UInt8], after start: Int, with word: [UInt8]) {
        guard let colon = bytes[start...].firstIndex(of: UInt8(ascii: ":")),
            let end = bytes[colon...].firstIndex(where: { byte in
                byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n")
            })
        else { return }
        bytes.replaceSubrange((colon + 1)..<end, with: word)
    }
}
