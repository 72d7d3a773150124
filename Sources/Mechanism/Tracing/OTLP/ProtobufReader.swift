/// Reads the wire format of Protocol Buffers, field by field, from a server that may send anything.
struct ProtobufReader {
    /// The value of a field, by its wire type.
    enum Value: Equatable {
        /// A number of variable length.
        case varint(UInt64)
        /// Text, bytes or a message.
        case bytes(ArraySlice<UInt8>)
        /// A number of 4 or 8 bytes, which none of the fields that are read has.
        case fixed
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Reads all fields of a message.
    ///
    /// - Parameters:
    ///   - bytes: the message.
    ///   - body: gets the number and the value of each field; unknown ones are to be passed over.
    /// - Returns: whether the message is well formed.
    static func read(_ bytes: ArraySlice<UInt8>, _ body: (UInt64, Value) -> Void) -> Bool {
        var reader = ProtobufReader(bytes)
        while !reader.rest.isEmpty {
            guard let key = reader.varint(), key >> 3 > 0, let value = reader.value(wireType: key & 7) else {
                return false
            }
            body(key >> 3, value)
        }
        return true
    }

    private mutating func value(wireType: UInt64) -> Value? {
        switch wireType {
        case 0: varint().map { .varint($0) }
        case 1: take(8).map { _ in .fixed }
        case 2: varint().flatMap { Int(exactly: $0) }.flatMap { take($0) }.map { .bytes($0) }
        case 5: take(4).map { _ in .fixed }
        // Groups are obsolete, and OTLP has none.
        default: nil
        }
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            // Bits above 64 are lost, as in the official libraries.
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
