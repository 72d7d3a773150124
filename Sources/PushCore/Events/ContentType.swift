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
        guard let contentType, !contentType.isEmpty else {
            self = .absent
            return
        }
        let type = contentType.utf8.prefix { byte in byte != UInt8(ascii: ";") && byte != 0x20 && byte != 0x09 }
        if type.isEqual(ignoringCase: "application/cloudevents+json") {
            self = .cloudEvent
        } else if type.isEqual(ignoringCase: "application/json") || type.isEqual(ignoringCase: "text/json") {
            self = .json
        } else if type.hasPrefix(ignoringCase: "application/cloudevents") {
            // A batch, or a CloudEvent in another format.
            self = .other
        } else {
            self = type.suffix(5).isEqual(ignoringCase: "+json") ? .json : .other
        }
    }
}
