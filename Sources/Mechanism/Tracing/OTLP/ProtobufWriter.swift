/// Writes the wire format of Protocol Buffers: the few rules that OTLP needs.
///
/// As proto3 asks for, a scalar field that has its default value is not written.
/// Source: "Encoding" in the documentation of Protocol Buffers.
struct ProtobufWriter {
    private(set) var bytes: [UInt8]

    init(capacityBytes: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacityBytes)
    }

    /// A field of the types `int64`, `uint32`, `bool` or of an enumeration.
    mutating func integer(_ field: Int, _ value: Int64) {
        guard value != 0 else { return }
        alwaysInteger(field, value)
    }

    /// The same, as a member of a `oneof`, where also a default value says something.
    mutating func alwaysInteger(_ field: Int, _ value: Int64) {
        key(field, wireType: 0)
        varint(UInt64(bitPattern: value))
    }

    /// A field of the type `fixed64`.
    mutating func fixed64(_ field: Int, _ value: UInt64) {
        guard value != 0 else { return }
        alwaysFixed64(field, value)
    }

    /// A member of a `oneof` of the types `fixed64` or `double`.
    mutating func alwaysFixed64(_ field: Int, _ value: UInt64) {
        key(field, wireType: 1)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// A field of the type `fixed32`.
    mutating func fixed32(_ field: Int, _ value: UInt32) {
        guard value != 0 else { return }
        key(field, wireType: 5)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// A field of the type `string`.
    mutating func string(_ field: Int, _ text: String) {
        guard !text.isEmpty else { return }
        alwaysString(field, text)
    }

    /// The same, as a member of a `oneof` or of a list.
    mutating func alwaysString(_ field: Int, _ text: String) {
        key(field, wireType: 2)
        varint(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// A field of the type `bytes` with 64-bit numbers, big endian: how identifiers of traces and spans are sent.
    mutating func identifier(_ field: Int, _ words: UInt64...) {
        key(field, wireType: 2)
        varint(UInt64(words.count * 8))
        for word in words { withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) } }
    }

    /// A field that is a message.
    mutating func message(_ field: Int, _ content: (inout ProtobufWriter) -> Void) {
        key(field, wireType: 2)
        let start = bytes.count
        content(&self)
        // The length stands before the content, and is known only now.
        var length = ProtobufWriter(capacityBytes: 10)
        length.varint(UInt64(bytes.count - start))
        bytes.insert(contentsOf: length.bytes, at: start)
    }

    private mutating func key(_ field: Int, wireType: UInt64) { varint(UInt64(field) << 3 | wireType) }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
