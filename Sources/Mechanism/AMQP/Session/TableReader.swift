import CRabbitMQ
import Messages

/// Copies what librabbitmq decoded into values of our own; librabbitmq takes its memory back after each frame.
struct TableReader {
    /// Whether a table or an array lay too deep in others to be read; `void` stands in its place.
    private var hasLeftOut = false

    /// The entries of a table, those at most `HeaderValue.depthMaximum` deep.
    static func read(_ table: amqp_table_t) -> (headers: [MessageHeader], isWhole: Bool) {
        var reader = TableReader()
        let headers = reader.entries(of: table, depth: 1)
        return (headers, !reader.hasLeftOut)
    }

    private mutating func entries(of table: amqp_table_t, depth: Int) -> [MessageHeader] {
        var headers: [MessageHeader] = []
        headers.reserveCapacity(Int(table.num_entries))
        for index in 0..<Int(table.num_entries) {
            let entry = table.entries[index]
            headers.append(MessageHeader(Self.string(entry.key), value(entry.value, depth: depth)))
        }
        return headers
    }

    /// Decodes text; bytes that are not UTF-8 are replaced.
    static func string(_ bytes: amqp_bytes_t) -> String { String(decoding: buffer(bytes), as: UTF8.self) }

    /// The bytes themselves, valid until librabbitmq takes them back.
    static func buffer(_ bytes: amqp_bytes_t) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.bytes == nil ? 0 : bytes.len)
    }

    private mutating func value(_ field: amqp_field_value_t, depth: Int) -> HeaderValue {
        let value = field.value
        switch field.kind {
        case UInt8(ascii: "t"): return .boolean(value.boolean != 0)
        case UInt8(ascii: "b"): return .int8(value.i8)
        case UInt8(ascii: "B"): return .uint8(value.u8)
        case UInt8(ascii: "s"): return .int16(value.i16)
        case UInt8(ascii: "u"): return .uint16(value.u16)
        case UInt8(ascii: "I"): return .int32(value.i32)
        case UInt8(ascii: "i"): return .uint32(value.u32)
        case UInt8(ascii: "l"): return .int64(value.i64)
        case UInt8(ascii: "L"): return .uint64(value.u64)
        case UInt8(ascii: "f"): return .float32(value.f32)
        case UInt8(ascii: "d"): return .float64(value.f64)
        case UInt8(ascii: "D"): return .decimal(scale: value.decimal.decimals, value: value.decimal.value)
        case UInt8(ascii: "T"): return .timestamp(value.u64)
        case UInt8(ascii: "S"): return Self.longString(value.bytes)
        case UInt8(ascii: "x"): return .bytes(Array(Self.buffer(value.bytes)))
        case UInt8(ascii: "A") where depth < HeaderValue.depthMaximum:
            return .array(
                (0..<Int(value.array.num_entries)).map { self.value(value.array.entries[$0], depth: depth + 1) })
        case UInt8(ascii: "F") where depth < HeaderValue.depthMaximum:
            return .table(entries(of: value.table, depth: depth + 1))
        case UInt8(ascii: "A"), UInt8(ascii: "F"):
            hasLeftOut = true
            return .void
        default: return .void
        }
    }

    private static func longString(_ bytes: amqp_bytes_t) -> HeaderValue {
        let buffer = buffer(bytes)
        guard let text = String(validating: buffer, as: UTF8.self) else { return .rawString(Array(buffer)) }
        return .string(text)
    }
}

/// Caches the last text of one field, because neighbouring messages mostly have the same exchange, key or type.
///
/// Without it each text that is too long for Swift's inline storage would cost an allocation.
struct StringCache {
    /// The most bytes that Swift stores inline.
    private static let inPlaceBytes = 15

    private var last = ""

    mutating func string(_ bytes: amqp_bytes_t) -> String {
        let buffer = TableReader.buffer(bytes)
        guard buffer.count > Self.inPlaceBytes else { return String(decoding: buffer, as: UTF8.self) }
        let isSame = last.utf8.withContiguousStorageIfAvailable { known in
            known.count == buffer.count && known.elementsEqual(buffer)
        }
        if isSame != true { last = String(decoding: buffer, as: UTF8.self) }
        return last
    }
}
