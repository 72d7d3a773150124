import Essentials
internal import JSON
public import Messages
public import Tracing

/// The readable parts of any event, even an invalid one: for logs and dead letters.
public struct EventOutline: Hashable, Sendable {
    /// The attribute `source`.
    public var source: String?
    /// The attribute `id`.
    public var identifier: String?
    /// The attribute `type`, whole.
    public var type: String?
    /// The app that the event's data names.
    public var app: String?
    /// The trace that the event belongs to.
    public var trace: TraceContext?

    /// Keeps what could be read of an event.
    public init(
        source: String?, identifier: String?, type: String?, app: String? = nil, trace: TraceContext? = nil
    ) {
        self.source = Self.bounded(source)
        self.identifier = Self.bounded(identifier)
        self.type = Self.bounded(type)
        self.app = Self.bounded(app)
        self.trace = trace
    }

    /// Cuts a text that is longer than the values of a valid event, and replaces NUL.
    ///
    /// No database of texts can hold a NUL.
    public static func bounded(_ text: String?, bytesMaximum: Int = EventLimits.sourceBytesMaximum) -> String? {
        guard let text, !text.isEmpty else { return nil }
        let short = text.shortened(bytesMaximum: bytesMaximum)
        guard short.utf8.contains(0) else { return short }
        return String(String.UnicodeScalarView(short.unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 }))
    }
}

extension EventDecoder {
    /// Reads the outline of a message, in the order of the encodings that `decode` accepts.
    ///
    /// Nothing is validated; missing values and values of another type are nil.
    public func outline(of message: Message) -> EventOutline {
        defer { if message.body.count > JSONParser.retainedBytes { parser.relinquish() } }
        let properties = message.properties
        let contentType = ContentType(properties.contentType)
        let attributes = contentType == .cloudEvent ? nil : HeaderAttributes(message.headers)
        let body =
            message.body.count <= EventLimits.bodyBytesMaximum
            ? try? parser.parse(message.body, refusingRepeatedKeys: false) : nil
        let own = TraceContext(headers: message.headers)
        if let attributes {
            return EventOutline(
                source: attributes.source?.text, identifier: attributes.identifier?.text, type: attributes.type?.text,
                app: body?["app"]?.string, trace: attributes.trace ?? own)
        }
        if let body, contentType == .cloudEvent || body["specversion"] != nil {
            return EventOutline(
                source: body["source"]?.string, identifier: body["id"]?.string, type: body["type"]?.string,
                app: body["data"]?["app"]?.string, trace: body.object.flatMap { TraceContext(attributes: $0) } ?? own)
        }
        if let body, properties.type == nil, let envelope = DebeziumEnvelope(body) {
            let event = try? tableChange(body, message)
            return EventOutline(
                source: envelope.eventSource,
                identifier: event?.identifier ?? envelope.eventIdentifier(of: nil), type: event?.type.rawValue,
                trace: own)
        }
        return EventOutline(
            source: properties.appID, identifier: properties.messageID, type: properties.type,
            app: body?["app"]?.string, trace: own)
    }
}

extension HeaderValue {
    /// The text of an attribute, as binary events have it.
    fileprivate var text: String? {
        switch self {
        case .string(let text): text
        case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
        default: wholeNumber?.description
        }
    }
}
