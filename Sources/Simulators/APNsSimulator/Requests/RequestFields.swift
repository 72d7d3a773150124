import Essentials
import Notifications
import PushServiceSimulator

/// The headers of one request, on loan: valid only inside `withFields`.
struct RequestFields {
    private let fields: HeaderFields

    /// `apns-id`, or nil if it is absent or no canonical UUID.
    let identifier: APNsIdentifier?
    /// The device token's digits as they stand in the path `/3/device/<token>`, or nil for any other path.
    let deviceTokenDigits: UnsafeBufferPointer<UInt8>?

    /// Takes the loan.
    init(_ fields: HeaderFields) {
        self.fields = fields
        identifier = fields[RequestField.identifier.rawValue].flatMap { UUIDText.parse($0) }
        deviceTokenDigits = fields[RequestField.path.rawValue].flatMap { Self.deviceTokenDigits(inPath: $0) }
    }

    /// Whether a header that APNs looks at came more than once.
    var hasDuplicates: Bool { fields.hasDuplicates }

    /// The value of a header, or nil if it is absent.
    subscript(field: RequestField) -> UnsafeBufferPointer<UInt8>? { fields[field.rawValue] }

    private static func deviceTokenDigits(inPath path: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        let prefix: StaticString = "/3/device/"
        let prefixCount = prefix.utf8CodeUnitCount
        guard path.count >= prefixCount, UnsafeBufferPointer(rebasing: path[..<prefixCount]).matches(prefix) else {
            return nil
        }
        let digits = UnsafeBufferPointer(rebasing: path[prefixCount...])
        return digits.contains(UInt8(ascii: "/")) || digits.contains(UInt8(ascii: "?")) ? nil : digits
    }
}

/// The request headers that APNs looks at.
///
/// Source: Apple, "Sending notification requests to APNs".
enum RequestField: Int {
    case method, path, authorization, identifier, expiration, priority, pushType, topic, collapseIdentifier
    case contentType, channelIdentifier

    /// The names on the wire, in the order of the cases; HTTP/2 has lowercase names only (RFC 9113, section 8.2).
    static let names: [StaticString] = [
        ":method", ":path", "authorization", "apns-id", "apns-expiration", "apns-priority", "apns-push-type",
        "apns-topic", "apns-collapse-id", "content-type", "apns-channel-id",
    ]
}

extension RequestState {
    /// Lends the headers out for reading, as those of a push.
    func withFields<Result>(_ body: (RequestFields) -> Result) -> Result {
        withExtendedLifetime(self) { body(RequestFields(fields)) }
    }
}

/// The canonical text of a UUID, as the header `apns-id` carries it.
enum UUIDText {
    /// Reads 32 lowercase hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    ///
    /// Apple asks for lowercase ("Sending notification requests to APNs"), so uppercase digits are refused.
    ///
    /// - Parameter text: the value of the header.
    /// - Returns: the identifier, or nil if the text is anything else.
    static func parse(_ text: UnsafeBufferPointer<UInt8>) -> APNsIdentifier? {
        let hyphen = UInt8(ascii: "-")
        guard text.count == APNsIdentifier.textLength, text[8] == hyphen, text[13] == hyphen, text[18] == hyphen,
            text[23] == hyphen, let first = number(text, 0..<8), let second = number(text, 9..<13),
            let third = number(text, 14..<18), let fourth = number(text, 19..<23), let fifth = number(text, 24..<36)
        else { return nil }
        return APNsIdentifier(high: first << 32 | second << 16 | third, low: fourth << 48 | fifth)
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for index in range {
            guard let value = HexadecimalDigits.value(ofLowercase: text[index]) else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }
}
