import CNghttp2

/// A list of header fields to send, made to be filled again for each request without allocating.
///
/// Names must be in lower case (RFC 9113 section 8.2.1), pseudo-header fields first. A block is read only during the
/// call that it is given to.
public struct HeaderBlock: ~Copyable {
    /// How the peer should keep a field for later header blocks (HPACK, RFC 7541 section 6.2).
    public enum Indexing: Sendable {
        /// Enter the field into the table of recent fields; a repetition then costs one byte.
        case incremental
        /// Never enter it into a table, here or at an intermediary: for secrets and for values that do not return.
        case neverAdd
    }

    private(set) var fields: UnsafeMutablePointer<nghttp2_nv>
    /// The number of fields.
    public private(set) var count = 0
    private var fieldsCapacity: Int

    private var bytes: UnsafeMutablePointer<UInt8>
    private var bytesCount = 0
    private var bytesCapacity: Int

    /// Makes an empty block.
    ///
    /// - Parameters:
    ///   - fieldsCapacity: fields that fit before the block grows.
    ///   - bytesCapacity: bytes of values, other than constant ones, that fit before the block grows.
    public init(fieldsCapacity: Int = 16, bytesCapacity: Int = 1_024) {
        self.fieldsCapacity = max(1, fieldsCapacity)
        self.bytesCapacity = max(1, bytesCapacity)
        fields = .allocate(capacity: self.fieldsCapacity)
        bytes = .allocate(capacity: self.bytesCapacity)
    }

    deinit {
        fields.deallocate()
        bytes.deallocate()
    }

    /// Empties the block and keeps its memory.
    public mutating func removeAll() {
        count = 0
        bytesCount = 0
    }

    /// Adds a field with a constant value.
    public mutating func add(_ name: StaticString, value: StaticString, indexing: Indexing = .incremental) {
        precondition(name.hasPointerRepresentation && value.hasPointerRepresentation, "a field is longer than a scalar")
        appendField(
            name, UnsafeMutablePointer(mutating: value.utf8Start), value.utf8CodeUnitCount, indexing,
            UInt8(NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue))
    }

    /// Adds a field with the given bytes as value.
    public mutating func add(
        _ name: StaticString, value: UnsafeBufferPointer<UInt8>, indexing: Indexing = .incremental
    ) {
        reserve(value.count)
        let start = bytes + bytesCount
        if let source = value.baseAddress { start.update(from: source, count: value.count) }
        bytesCount += value.count
        appendField(name, start, value.count, indexing, 0)
    }

    /// Adds a field with the given bytes as value.
    public mutating func add(_ name: StaticString, value: [UInt8], indexing: Indexing = .incremental) {
        value.withUnsafeBufferPointer { add(name, value: $0, indexing: indexing) }
    }

    /// Adds a field with the given text as value.
    public mutating func add(_ name: StaticString, value: String, indexing: Indexing = .incremental) {
        var value = value
        value.withUTF8 { add(name, value: $0, indexing: indexing) }
    }

    /// Adds a field with a number, written in decimal digits, as value.
    public mutating func add(_ name: StaticString, value: some FixedWidthInteger, indexing: Indexing = .incremental) {
        let wide = Int64(clamping: value)
        // The sign and the 19 digits of the longest.
        reserve(20)
        let start = bytes + bytesCount
        var magnitude = wide.magnitude
        var digitCount = 1
        var rest = magnitude / 10
        while rest > 0 {
            digitCount += 1
            rest /= 10
        }
        var length = digitCount
        if wide < 0 {
            start[0] = UInt8(ascii: "-")
            length += 1
        }
        for position in 1...digitCount {
            start[length - position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10)
            magnitude /= 10
        }
        bytesCount += length
        appendField(name, start, length, indexing, 0)
    }

    private mutating func appendField(
        _ name: StaticString, _ value: UnsafeMutablePointer<UInt8>, _ valueCount: Int, _ indexing: Indexing,
        _ copyFlags: UInt8
    ) {
        if count == fieldsCapacity { growFields() }
        // The name of a constant outlives every stream, so nghttp2 need not copy it; other values it copies.
        var flags = copyFlags | UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
        if indexing == .neverAdd { flags |= UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) }
        (fields + count).initialize(
            to: nghttp2_nv(
                name: UnsafeMutablePointer(mutating: name.utf8Start), value: value, namelen: name.utf8CodeUnitCount,
                valuelen: valueCount, flags: flags))
        count += 1
    }

    private mutating func growFields() {
        let grown = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: 2 * fieldsCapacity)
        grown.moveInitialize(from: fields, count: count)
        fields.deallocate()
        fields = grown
        fieldsCapacity *= 2
    }

    /// Makes room for more bytes; fields that point into the old memory are pointed into the new.
    private mutating func reserve(_ additional: Int) {
        guard bytesCount + additional > bytesCapacity else { return }
        let capacity = max(2 * bytesCapacity, bytesCount + additional)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        grown.moveInitialize(from: bytes, count: bytesCount)
        for index in 0..<count where fields[index].flags & UInt8(NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue) == 0 {
            guard let value = fields[index].value else { continue }
            fields[index].value = grown + (value - bytes)
        }
        bytes.deallocate()
        bytes = grown
        bytesCapacity = capacity
    }
}
