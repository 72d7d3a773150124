/// The attributes of a CloudEvent in binary mode: headers whose names have one of four prefixes.
struct HeaderAttributes {
    private(set) var version: HeaderValue?
    private(set) var type: HeaderValue?
    private(set) var identifier: HeaderValue?
    private(set) var source: HeaderValue?
    private(set) var time: HeaderValue?

    private static let prefixes: [String] = ["ce-", "ce_", "cloudevents_", "cloudevents:"]

    /// Looks for the attributes, of which the first of each name counts; nil if the headers are none of a CloudEvent.
    init?(_ headers: [MessageHeader]) {
        for header in headers {
            let name = header.name.utf8
            guard let first = name.first, first | 0x20 == UInt8(ascii: "c"),
                let prefix = Self.prefixes.first(where: { prefix in name.hasPrefix(ignoringCase: prefix) })
            else { continue }
            take(header.value, name.dropFirst(prefix.utf8.count))
        }
        guard version != nil || type != nil || identifier != nil || source != nil else { return nil }
    }

    private mutating func take(_ value: HeaderValue, _ attribute: Substring.UTF8View) {
        switch attribute.count {
        case 2 where attribute.isEqual(ignoringCase: "id"): identifier = identifier ?? value
        case 4 where attribute.isEqual(ignoringCase: "type"): type = type ?? value
        case 4 where attribute.isEqual(ignoringCase: "time"): time = time ?? value
        case 6 where attribute.isEqual(ignoringCase: "source"): source = source ?? value
        case 11 where attribute.isEqual(ignoringCase: "specversion"): version = version ?? value
        default: break
        }
    }

    /// The text of an attribute that has to be there; the name and the expectation are for messages.
    func requiredText(
        _ value: HeaderValue?, _ name: String, _ expected: String
    ) throws(EventRejection) -> String {
        let place = "the header ce-\(name)"
        switch value {
        case nil, .void: throw EventRejection(.missingField, "\(place) is missing; it must be \(expected)")
        case .string(let text): return text
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
                "the header ce-\(name)", found: "a text of \(text.utf8.count) bytes", rule.expected)
        }
        return text
    }

    /// The attribute `time`; AMQP has a type of its own for it, in whole seconds.
    var timeMilliseconds: Int64? {
        get throws(EventRejection) {
            switch time {
            case nil, .void: return nil
            case .timestamp(let seconds):
                if let milliseconds = Int64(exactly: seconds)?.milliseconds { return milliseconds }
            default:
                let text = try requiredText(time, "time", EventEnvelope.timeExpected)
                if let milliseconds = text.readingUTF8(RFC3339.milliseconds) { return milliseconds }
            }
            throw FieldReader.invalid("the header ce-time", found: "something else", EventEnvelope.timeExpected)
        }
    }

    private static func notUTF8(_ place: String) -> EventRejection {
        EventRejection(.invalidUTF8, "\(place) is not UTF-8")
    }
}
