import Essentials
internal import JSON
import Notifications

/// What surrounds the data of an event, whichever encoding it came in.
struct EventEnvelope {
    var identifier: String
    var source: String
    var type: EventType
    var time: WallTime?
    var data: JSONValue

    static let typeExpected = "a text whose last two labels are one of \(EventType.listing)"
    static let versionExpected = "the text 1.0"
    static let timeExpected = "an RFC 3339 timestamp with a zone, such as 2026-01-31T12:00:00.000Z"

    /// Whether the attribute `specversion` is one that we understand: 1.x.
    static func isVersionOne(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard (3...8).contains(bytes.count), bytes[0] == UInt8(ascii: "1"), bytes[1] == UInt8(ascii: ".") else {
            return false
        }
        return bytes.dropFirst(2).allSatisfy { byte in (0x30...0x39).contains(byte) }
    }

    static func unknownType(_ type: String, at place: String) -> EventRejection {
        EventRejection(.unknownType, "\(place) is \(type.excerpt); it must be \(typeExpected)")
    }

    static func unknownVersion(_ version: String, at place: String) -> EventRejection {
        EventRejection(.invalidField, "\(place) is \(version.excerpt); it must be \(versionExpected)")
    }
}
