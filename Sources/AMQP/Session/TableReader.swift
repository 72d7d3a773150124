import CRabbitMQ

/// Copies what librabbitmq decoded into values of our own; librabbitmq takes its memory back after each frame.
enum TableReader {
    /// The entries of a table; nil if tables and arrays lie too deep in each other.
    static func read(_ table: amqp_table_t, depth: Int = 1) -> [AMQPHeader]? {
        guard depth <= AMQPFieldValue.depthMaximum else { return nil }
        var headers: [AMQPHeader] = []
        headers.reserveCapacity(Int(table.num_entries))
        for index in 0..<Int(table.num_entries) {
            let entry = table.entries[index]
            guard let value = read(entry.value, depth: depth) else { return nil }
            headers.append(AMQPHeader(string(entry.key), value))
        }
        return headers
    }

    /// Text, with what is not UTF-8 replaced.
    static func string(_ bytes: amqp_bytes_t) -> String { String(decoding: buffer(bytes), as: UTF8.self) }

    /// The bytes themselves, valid until librabbitmq takes them back.
    static func buffer(_ bytes: amqp_bytes_t) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.bytes == nil ? 0 : bytes.len)
    }

    private static func read(_ field: amqp_field_value_t, depth: Int) -> AMQPFieldValue? {
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
        case UInt8(ascii: "S"): return longString(value.bytes)
        case UInt8(ascii: "x"): return .bytes(Array(buffer(value.bytes)))
        case UInt8(ascii: "A"): return array(value.array, depth: depth + 1)
        case UInt8(ascii: "F"): return read(value.table, depth: depth + 1).map { .table($0) }
        default: return .void
        }
    }

    private static func longString(_ bytes: amqp_bytes_t) -> AMQPFieldValue {
        let buffer = buffer(bytes)
        guard let text = String(validating: buffer, as: UTF8.self) else { return .rawString(Array(buffer)) }
        return .string(text)
    }

    private static func array(_ array: amqp_array_t, depth: Int) -> AMQPFieldValue? {
        guard depth <= AMQPFieldValue.depthMaximum else { return nil }
        var values: [AMQPFieldValue] = []
        values.reserveCapacity(Int(array.num_entries))
        for index in 0..<Int(array.num_entries) {
            guard let value = read(array.entries[index], depth: depth) else { return nil }
            values.append(value)
        }
        return .array(values)
    }
}
