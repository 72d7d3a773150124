import Essentials

/// What the property `content_type` says about the encoding of an event.
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
