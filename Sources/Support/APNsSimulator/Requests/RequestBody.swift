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
