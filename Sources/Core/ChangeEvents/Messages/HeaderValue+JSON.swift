import Essentials
internal import JSON
public import Messages

extension HeaderValue {
    /// The value in JSON, for people and programs that look at a message; bytes that are no text are in hexadecimal
    /// digits.
    public var json: [UInt8] { json { $0 } }

    /// The value in JSON, with each text as a function gives it.
    ///
    /// - Parameter text: gives a text as it may be shown.
    /// - Returns: the JSON.
    public func json(_ text: (String) -> String) -> [UInt8] {
        var writer = JSONWriter()
        write(to: &writer, text)
        return writer.bytes
    }

    private func write(to writer: inout JSONWriter, _ shown: (String) -> String) {
        switch self {
        case .boolean(let value): writer.boolean(value)
        case .int8(let value): writer.integer(value)
        case .uint8(let value): writer.integer(value)
        case .int16(let value): writer.integer(value)
        case .uint16(let value): writer.integer(value)
        case .int32(let value): writer.integer(value)
        case .uint32(let value): writer.integer(value)
        case .int64(let value): writer.integer(value)
        case .uint64(let value), .timestamp(let value): writer.integer(value)
        case .float32(let value): writer.double(Double(value))
        case .float64(let value): writer.double(value)
        case .decimal(let scale, let value): writer.string("\(value)e-\(scale)")
        case .string(let text): writer.string(shown(text))
        case .rawString(let bytes), .bytes(let bytes): writer.string(shown(HexadecimalDigits.text(bytes)))
        case .array(let values):
            writer.beginArray()
            for value in values { value.write(to: &writer, shown) }
            writer.endArray()
        case .table(let headers):
            writer.beginObject()
            for header in headers {
                writer.key(dynamic: header.name)
                header.value.write(to: &writer, shown)
            }
            writer.endObject()
        case .void: writer.null()
        }
    }
}
