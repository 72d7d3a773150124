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
