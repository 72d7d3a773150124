extension HeaderValue {
    /// The value, if it is of one of AMQP's integer types.
    var wholeNumber: Int128? {
        switch self {
        case .int8(let value): Int128(value)
        case .uint8(let value): Int128(value)
        case .int16(let value): Int128(value)
        case .uint16(let value): Int128(value)
        case .int32(let value): Int128(value)
        case .uint32(let value): Int128(value)
        case .int64(let value): Int128(value)
        case .uint64(let value): Int128(value)
        case .boolean, .float32, .float64, .decimal, .timestamp, .string, .rawString, .bytes, .array, .table, .void: nil
        }
    }

    /// What kind of value it is, for messages.
    var kindName: String {
        switch self {
        case .boolean: "boolean"
        case .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64, .uint64: "whole number"
        case .float32, .float64, .decimal: "number with a fraction"
        case .timestamp: "timestamp"
        case .string: "string"
        case .rawString: "string that is not UTF-8"
        case .bytes: "byte array"
        case .array: "list"
        case .table: "table"
        case .void: "void"
        }
    }
}
