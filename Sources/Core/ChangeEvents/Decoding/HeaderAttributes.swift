public import Essentials
public import Messages
import Notifications
import Tracing

/// The attributes of a CloudEvent in binary mode: headers whose names have one of four prefixes.
struct HeaderAttributes {
    private enum Attribute {
        case version
        case type
        case identifier
        case source
        case time
        case traceParent
        case traceState
    }

    private(set) var version: HeaderValue?
    private(set) var type: HeaderValue?
    private(set) var identifier: HeaderValue?
    private(set) var source: HeaderValue?
    private(set) var time: HeaderValue?
    /// The first attribute, known or not, whose text it may not have.
    private(set) var invalidText: (name: String, text: String)?
    private var traceParent: HeaderValue?
    private var traceState: HeaderValue?

    private static let prefixes: [StaticString] = ["ce-", "ce_", "cloudevents_", "cloudevents:"]

    /// Reads the attributes, the first of each name; nil if the headers are not those of a CloudEvent.
    init?(_ headers: [MessageHeader]) {
        for header in headers {
            guard let begin = header.name.readingUTF8(Self.prefixLength) else { continue }
            noteInvalidText(of: header)
            guard let attribute = header.name.readingUTF8({ Self.attribute($0, from: begin) }) else { continue }
            take(header.value, attribute)
        }
        guard version != nil || type != nil || identifier != nil || source != nil else { return nil }
    }

    private mutating func take(_ value: HeaderValue, _ attribute: Attribute) {
        switch attribute {
        case .version: version = version ?? value
        case .type: type = type ?? value
        case .identifier: identifier = identifier ?? value
        case .source: source = source ?? value
        case .time: time = time ?? value
        case .traceParent: traceParent = traceParent ?? value
        case .traceState: traceState = traceState ?? value
        }
    }

    private mutating func noteInvalidText(of header: MessageHeader) {
        guard invalidText == nil else { return }
        switch header.value {
        case .string(let text) where !text.readingUTF8(AttributeText.isValid): invalidText = (header.name, text)
        case .bytes(let bytes) where !bytes.withUnsafeBufferPointer(AttributeText.isValid):
            invalidText = (header.name, String(decoding: bytes, as: UTF8.self))
        default: break
        }
    }

    /// How many bytes of a header's name come before that of the attribute; nil if it is none of an event.
    private static func prefixLength(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let first = name.first, first | 0x20 == UInt8(ascii: "c") else { return nil }
        return prefixes.first { prefix in name.hasPrefix(ignoringCase: prefix) }?.utf8CodeUnitCount
    }

    /// Which attribute a header holds, if it holds one that we read.
    private static func attribute(_ name: UnsafeBufferPointer<UInt8>, from begin: Int) -> Attribute? {
        let attribute = UnsafeBufferPointer(rebasing: name[begin...])
        if attribute.isEqual(ignoringCase: "id") { return .identifier }
        if attribute.isEqual(ignoringCase: "type") { return .type }
        if attribute.isEqual(ignoringCase: "time") { return .time }
        if attribute.isEqual(ignoringCase: "source") { return .source }
        if attribute.isEqual(ignoringCase: "specversion") { return .version }
        if attribute.isEqual(ignoringCase: "traceparent") { return .traceParent }
        if attribute.isEqual(ignoringCase: "tracestate") { return .traceState }
        return nil
    }

    /// The text of an attribute that has to be there; the name and the expectation are for messages.
    func requiredText(
        _ value: HeaderValue?, _ name: String, _ expected: String
    ) throws(EventRejection) -> String {
        // Spelled out only where it is needed: it is on the way of every event in binary mode.
        var place: String { "the header ce-\(name)" }
        switch value {
        case .string(let text): return text
        case nil, .void: throw EventRejection(.missingField, "\(place) is missing; it must be \(expected)")
        case .bytes(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.notUTF8(place) }
            return text
        case .rawString: throw Self.notUTF8(place)
        case .some(let value):
            guard let number = value.wholeNumber else {
                throw FieldReader.invalid(place, found: "a \(value.kindName)", expected)
            }
            return number.description
        }
    }

    /// The text of an attribute that has to be there and follows a rule.
    func requiredText(_ value: HeaderValue?, _ name: String, _ rule: TextRule) throws(EventRejection) -> String {
        let text = try requiredText(value, name, rule.expected)
        guard text.readingUTF8(rule.isFollowed) else {
            throw FieldReader.invalid(
                "the header ce-\(name)", found: "a text of \(text.utf8.count) bytes", rule.length)
        }
        return text
    }

    /// The attribute `time`; AMQP has a type of its own for it, in whole seconds.
    var timestamp: WallTime? {
        get throws(EventRejection) {
            switch time {
            case nil, .void: return nil
            case .timestamp(let seconds):
                if seconds <= WallTime.latest.seconds { return WallTime(seconds: seconds) }
            default:
                let text = try requiredText(time, "time", EventEnvelope.timeExpected)
                if let time = text.readingUTF8(RFC3339.milliseconds) { return WallTime(milliseconds: time) }
            }
            throw FieldReader.invalid("the header ce-time", found: "something else", EventEnvelope.timeExpected)
        }
    }

    /// The trace that the attributes name, if they name one.
    var trace: TraceContext? { TraceContext(parent: traceParent, state: traceState) }

    private static func notUTF8(_ place: String) -> EventRejection {
        EventRejection(.invalidUTF8, "\(place) is not UTF-8")
    }
}

extension HeaderValue {
    /// The value, if it is of one of AMQP's integer types.
    public var wholeNumber: Int128? {
        switch self {
        case .int8(let value): Int128(value)
        case .uint8(let value): Int128(value)
        case .int16(let value): Int128(value)
        case .uint16(let value): Int128(value)
        case .int32(let value): Int128(value)
        case .uint32(let value): Int128(value)
        case .int64(let value): Int128(value)
        case .uint64(let value): Int128(value)
        case .boolean, .float32, .float64, .decimal, .timestamp, .string, .rawString, .bytes, .array, .table, .void: nil
        }
    }

    /// The kind of the value, for messages.
    var kindName: String {
        switch self {
        case .boolean: "boolean"
        case .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64, .uint64: "whole number"
        case .float32, .float64, .decimal: "number with a fraction"
        case .timestamp: "timestamp"
        case .string: "string"
        case .rawString: "string that is not UTF-8"
        case .bytes: "byte array"
        case .array: "list"
        case .table: "table"
        case .void: "void"
        }
    }
}

extension Message {
    /// When the change happened, as far as the message says so outside of its event: the header `x-timestamp-ms`, a
    /// whole number or its digits, else the property `timestamp`.
    ///
    /// Both are hints for measuring; a value that makes no sense is ignored.
    var timestamp: WallTime? {
        if let header = header("x-timestamp-ms"), let milliseconds = Self.milliseconds(in: header) {
            return WallTime(milliseconds: milliseconds)
        }
        guard let seconds = properties.timestampSeconds, seconds <= WallTime.latest.seconds else { return nil }
        return WallTime(seconds: seconds)
    }

    /// When its publisher says that it was published: the end of the second that the property `timestamp` names.
    public var published: WallTime? {
        properties.timestampSeconds.map { WallTime(seconds: $0).advanced(byMilliseconds: 999) }
    }

    /// How long it may wait, from the property `expiration`: decimal digits, milliseconds.
    ///
    /// RabbitMQ refuses to publish any other text there, so other values are ignored.
    var timeToLiveMilliseconds: Int64? {
        guard let expiration = properties.expiration else { return nil }
        return Self.digits(expiration)
    }

    private static func milliseconds(in value: HeaderValue) -> Int64? {
        if let number = value.wholeNumber { return number >= 0 ? Int64(exactly: number) : nil }
        guard case .string(let text) = value else { return nil }
        return digits(text)
    }

    private static func digits(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy({ byte in (0x30...0x39).contains(byte) }) else { return nil }
        return Int64(text)
    }
}
