import Notifications

/// The headers of one request, on loan from their `RequestHead`: valid only inside `withFields`.
struct RequestFields {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let ranges: UnsafeBufferPointer<Range<Int>>
    private let present: UInt16

    /// Whether a header that APNs looks at came more than once.
    let hasDuplicates: Bool
    /// `apns-id`, or nil if it is absent or no canonical UUID.
    let identifier: APNsIdentifier?
    /// The device token's digits as they stand in the path `/3/device/<token>`, or nil for any other path.
    let deviceTokenDigits: UnsafeBufferPointer<UInt8>?

    /// Takes the loan.
    ///
    /// - Parameters:
    ///   - bytes: the values, one after the other.
    ///   - ranges: where each field's value is in them, by the field's number.
    ///   - present: a bit for each field that there is.
    ///   - hasDuplicates: whether a field came more than once.
    init(
        bytes: UnsafeBufferPointer<UInt8>, ranges: UnsafeBufferPointer<Range<Int>>, present: UInt16, hasDuplicates: Bool
    ) {
        self.bytes = bytes
        self.ranges = ranges
        self.present = present
        self.hasDuplicates = hasDuplicates
        func value(_ field: RequestField) -> UnsafeBufferPointer<UInt8>? {
            guard present & 1 << UInt16(field.rawValue) != 0 else { return nil }
            return UnsafeBufferPointer(rebasing: bytes[ranges[field.rawValue]])
        }
        identifier = value(.identifier).flatMap { UUIDText.parse($0) }
        deviceTokenDigits = value(.path).flatMap { Self.deviceTokenDigits(inPath: $0) }
    }

    /// The value of a header, or nil if it is absent.
    subscript(field: RequestField) -> UnsafeBufferPointer<UInt8>? {
        guard present & 1 << UInt16(field.rawValue) != 0 else { return nil }
        return UnsafeBufferPointer(rebasing: bytes[ranges[field.rawValue]])
    }

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
