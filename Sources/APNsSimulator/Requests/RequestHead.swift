/// The headers of one request, kept in one block of bytes that the next request reuses.
struct RequestHead {
    private var bytes: [UInt8] = []
    private var ranges: [Range<Int>?] = Array(repeating: nil, count: RequestField.allCases.count)

    /// Whether a header that APNs looks at came more than once.
    private(set) var hasDuplicates = false

    /// Forgets the request but keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        for index in ranges.indices { ranges[index] = nil }
        hasDuplicates = false
    }

    /// Adds one header; one that APNs ignores is left out, and of a repeated one the first value stays.
    mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        guard let field = RequestField(name: name) else { return }
        guard ranges[field.rawValue] == nil else {
            hasDuplicates = true
            return
        }
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

    /// The value of a header, or nil if it is absent.
    subscript(field: RequestField) -> ArraySlice<UInt8>? {
        guard let range = ranges[field.rawValue] else { return nil }
        return bytes[range]
    }

    /// The device token's digits as they stand in the path `/3/device/<token>`, or nil for any other path.
    var deviceTokenDigits: ArraySlice<UInt8>? {
        guard let path = self[.path], path.starts(with: Self.devicePath) else { return nil }
        let digits = path.dropFirst(Self.devicePath.count)
        return digits.contains(UInt8(ascii: "/")) || digits.contains(UInt8(ascii: "?")) ? nil : digits
    }

    private static let devicePath = Array("/3/device/".utf8)
}
