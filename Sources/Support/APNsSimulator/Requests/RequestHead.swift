/// The headers of one request, kept in one block of bytes that the next request reuses.
struct RequestHead {
    private var bytes: [UInt8] = []
    private var ranges: [Range<Int>] = Array(repeating: 0..<0, count: RequestField.allCases.count)
    private var present: UInt16 = 0

    /// Whether a header that APNs looks at came more than once.
    private(set) var hasDuplicates = false

    /// Forgets the request but keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        present = 0
        hasDuplicates = false
    }

    /// Adds one header; one that APNs ignores is left out, and of a repeated one the first value stays.
    mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        guard let field = RequestField(name: name) else { return }
        let bit: UInt16 = 1 << UInt16(field.rawValue)
        guard present & bit == 0 else {
            hasDuplicates = true
            return
        }
        present |= bit
        let start = bytes.count
        bytes.append(contentsOf: value)
        ranges[field.rawValue] = start..<bytes.count
    }

    /// Adds one header by its text, for tests.
    mutating func add(_ name: String, _ value: String) {
        var name = name
        var value = value
        name.withUTF8 { name in value.withUTF8 { value in add(name: name, value: value) } }
    }

    /// Lends the headers out for reading, which then costs no reference counting.
    borrowing func withFields<Result>(_ body: (RequestFields) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { bytes in
            ranges.withUnsafeBufferPointer { ranges in
                body(RequestFields(bytes: bytes, ranges: ranges, present: present, hasDuplicates: hasDuplicates))
            }
        }
    }
}

/// The body of one request: as many bytes as APNs could accept, and the length of all of them.
struct RequestBody {
    /// The most bytes that are kept, one more than the largest limit of Apple's.
    static let keptBytesMaximum = 5_121

    private(set) var bytes: [UInt8] = []
    private(set) var length = 0

    /// Forgets the body but keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        length = 0
    }

    /// Adds what one DATA frame carried.
    mutating func append(_ more: UnsafeRawBufferPointer) {
        length += more.count
        let room = Self.keptBytesMaximum - bytes.count
        guard room > 0 else { return }
        bytes.append(contentsOf: more.prefix(room))
    }
}
