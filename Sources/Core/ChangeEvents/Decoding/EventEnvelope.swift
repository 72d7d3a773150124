import Essentials
internal import JSON
import Notifications
import Tracing

/// The attributes around the data of an event, in any encoding.
struct EventEnvelope {
    var identifier: String
    var source: String
    var type: EventType
    var time: WallTime?
    var trace: TraceContext?
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

/// The encoding of an event, as the property `content_type` names it.
enum ContentType {
    /// The body is a whole CloudEvent.
    case cloudEvent
    /// The body is JSON of some kind.
    case json
    /// There is none.
    case absent
    /// The body is something that we do not read.
    case other

    /// Reads a media type (RFC 9110 section 8.3.1), in any case and with any parameters.
    init(_ contentType: String?) {
        switch contentType {
        case nil, "": self = .absent
        // As nearly all publishers write it.
        case "application/cloudevents+json": self = .cloudEvent
        case "application/json": self = .json
        case .some(let contentType): self = contentType.readingUTF8(Self.read)
        }
    }

    private static func read(_ text: UnsafeBufferPointer<UInt8>) -> ContentType {
        let end = text.firstIndex { byte in byte == UInt8(ascii: ";") || byte == 0x20 || byte == 0x09 } ?? text.count
        let type = UnsafeBufferPointer(rebasing: text[..<end])
        if type.isEqual(ignoringCase: "application/cloudevents+json") { return .cloudEvent }
        if type.isEqual(ignoringCase: "application/json") || type.isEqual(ignoringCase: "text/json") { return .json }
        // A batch, or a CloudEvent in another format.
        if type.hasPrefix(ignoringCase: "application/cloudevents") { return .other }
        let suffix = UnsafeBufferPointer(rebasing: type.suffix(5))
        return suffix.isEqual(ignoringCase: "+json") ? .json : .other
    }
}
