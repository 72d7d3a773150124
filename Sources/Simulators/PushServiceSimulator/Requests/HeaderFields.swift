/// The headers of one request, on loan from their `RequestState`: valid until the request is over.
public struct HeaderFields {
    @usableFromInline let bytes: UnsafePointer<UInt8>
    @usableFromInline let ranges: UnsafePointer<Range<Int>>
    @usableFromInline let present: UInt32

    /// Whether a header that the service looks at came more than once.
    public let hasDuplicates: Bool

    init(
        bytes: UnsafePointer<UInt8>, ranges: UnsafePointer<Range<Int>>, present: UInt32, hasDuplicates: Bool
    ) {
        self.bytes = bytes
        self.ranges = ranges
        self.present = present
        self.hasDuplicates = hasDuplicates
    }

    /// The value of the header with this number among the service's names, or nil if it is absent.
    @inlinable public subscript(number: Int) -> UnsafeBufferPointer<UInt8>? {
        guard present & 1 << UInt32(number) != 0 else { return nil }
        let range = ranges[number]
        return UnsafeBufferPointer(start: bytes + range.lowerBound, count: range.count)
    }
}

/// The names of the headers that a service looks at, numbered in their order from 0.
///
/// Looks at the length first: it leaves one or two candidates, and this runs for every header of every request. The
/// tables are allocated by hand, because arrays would be counted each time that they are looked at.
///
/// unchecked because the tables are written in `init` only.
public final class HeaderNames: @unchecked Sendable {
    private static let lengthMaximum = 31

    private let names: UnsafeMutablePointer<StaticString>
    /// For each length the numbers of two names; -1 for none.
    private let candidates: UnsafeMutablePointer<(first: Int, second: Int)>

    /// How many there are.
    let count: Int

    /// Numbers the names.
    ///
    /// - Parameter names: at most 32, lowercase as HTTP/2 has them (RFC 9113, section 8.2), at most two of a length.
    public init(_ names: [StaticString]) {
        precondition(names.count <= 32, "the presence of a request's headers is kept in 32 bits")
        count = names.count
        self.names = .allocate(capacity: max(1, count))
        candidates = .allocate(capacity: Self.lengthMaximum + 1)
        candidates.initialize(repeating: (-1, -1), count: Self.lengthMaximum + 1)
        for (number, name) in names.enumerated() {
            let length = name.utf8CodeUnitCount
            precondition(length <= Self.lengthMaximum, "\(name) is too long")
            precondition(candidates[length].second < 0, "\(name) is the third name of its length")
            (self.names + number).initialize(to: name)
            if candidates[length].first < 0 {
                candidates[length].first = number
            } else {
                candidates[length].second = number
            }
        }
    }

    deinit {
        names.deallocate()
        candidates.deallocate()
    }

    /// The number of a name, or nil for a header that the service ignores.
    func number(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        guard name.count <= Self.lengthMaximum else { return nil }
        let (first, second) = candidates[name.count]
        if first >= 0, name.matches(names[first]) { return first }
        if second >= 0, name.matches(names[second]) { return second }
        return nil
    }
}
