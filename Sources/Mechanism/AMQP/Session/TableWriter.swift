import CRabbitMQ
import Messages

/// Encodes values for librabbitmq, in memory that is reused after each call, and counts their bytes on the wire.
///
/// librabbitmq sends the method of a publish before it finds that the headers exceed a frame, and writes only the low
/// byte of an excessive length. So both are checked here, before anything is sent.
struct TableWriter {
    /// The longest short string, in bytes.
    static let shortStringBytesMaximum = 255

    private let pool: UnsafeMutablePointer<amqp_pool_t>
    /// The bytes of the encoded values on the wire.
    private(set) var encodedBytes = 0

    init(pool: UnsafeMutablePointer<amqp_pool_t>) { self.pool = pool }

    /// A short string, up to 255 bytes.
    mutating func shortString(_ text: String, _ part: StaticString) throws(AMQPError) -> amqp_bytes_t {
        var text = text
        let count = text.utf8.count
        guard count <= Self.shortStringBytesMaximum else {
            throw AMQPError(.invalid, "the \(part) has \(count) bytes; AMQP allows 255")
        }
        encodedBytes += 1 + count
        return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
    }

    /// A table of up to `HeaderValue.depthMaximum` levels.
    mutating func table(_ headers: [MessageHeader], depth: Int = 1) throws(AMQPError) -> amqp_table_t {
        encodedBytes += 4
        guard !headers.isEmpty else { return amqp_empty_table }
        try Self.checkDepth(depth)
        let entries = allocate(amqp_table_entry_t.self, count: headers.count)
        for (index, header) in headers.enumerated() {
            let key = try shortString(header.name, "name of a header")
            let value = try field(header.value, depth: depth)
            entries[index] = amqp_table_entry_t(key: key, value: value)
        }
        return amqp_table_t(num_entries: Int32(headers.count), entries: entries)
    }

    private mutating func field(_ value: HeaderValue, depth: Int) throws(AMQPError) -> amqp_field_value_t {
        var field = amqp_field_value_t()
        switch value {
        case .boolean(let value): set(&field, "t", bytes: 1) { $0.boolean = value ? 1 : 0 }
        case .int8(let value): set(&field, "b", bytes: 1) { $0.i8 = value }
        case .uint8(let value): set(&field, "B", bytes: 1) { $0.u8 = value }
        case .int16(let value): set(&field, "s", bytes: 2) { $0.i16 = value }
        case .uint16(let value): set(&field, "u", bytes: 2) { $0.u16 = value }
        case .int32(let value): set(&field, "I", bytes: 4) { $0.i32 = value }
        case .uint32(let value): set(&field, "i", bytes: 4) { $0.u32 = value }
        case .int64(let value): set(&field, "l", bytes: 8) { $0.i64 = value }
        case .uint64(let value): set(&field, "L", bytes: 8) { $0.u64 = value }
        case .float32(let value): set(&field, "f", bytes: 4) { $0.f32 = value }
        case .float64(let value): set(&field, "d", bytes: 8) { $0.f64 = value }
        case .decimal(let scale, let value):
            set(&field, "D", bytes: 5) { $0.decimal = amqp_decimal_t(decimals: scale, value: value) }
        case .timestamp(let value): set(&field, "T", bytes: 8) { $0.u64 = value }
        case .string(var text):
            let copied = text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
            set(&field, "S", bytes: 4 + copied.len) { $0.bytes = copied }
        case .rawString(let bytes): setBytes(&field, "S", bytes)
        case .bytes(let bytes): setBytes(&field, "x", bytes)
        case .array(let values):
            let array = try array(values, depth: depth + 1)
            set(&field, "A", bytes: 0) { $0.array = array }
        case .table(let headers):
            let table = try table(headers, depth: depth + 1)
            set(&field, "F", bytes: 0) { $0.table = table }
        case .void: set(&field, "V", bytes: 0) { _ in }
        }
        return field
    }

    private mutating func array(_ values: [HeaderValue], depth: Int) throws(AMQPError) -> amqp_array_t {
        encodedBytes += 4
        guard !values.isEmpty else { return amqp_empty_array }
        try Self.checkDepth(depth)
        let entries = allocate(amqp_field_value_t.self, count: values.count)
        for (index, value) in values.enumerated() { entries[index] = try field(value, depth: depth) }
        return amqp_array_t(num_entries: Int32(values.count), entries: entries)
    }

    private mutating func set(
        _ field: inout amqp_field_value_t, _ kind: Unicode.Scalar, bytes: Int,
        _ change: (inout amqp_field_value_t.__Unnamed_union_value) -> Void
    ) {
        encodedBytes += 1 + bytes
        field.kind = UInt8(ascii: kind)
        change(&field.value)
    }

    private mutating func setBytes(_ field: inout amqp_field_value_t, _ kind: Unicode.Scalar, _ bytes: [UInt8]) {
        let copied = bytes.withUnsafeBytes { copy($0) }
        set(&field, kind, bytes: 4 + bytes.count) { $0.bytes = copied }
    }

    private func copy(_ bytes: UnsafeRawBufferPointer) -> amqp_bytes_t {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return amqp_empty_bytes }
        let memory = allocate(UInt8.self, count: bytes.count)
        UnsafeMutableRawPointer(memory).copyMemory(from: source, byteCount: bytes.count)
        return amqp_bytes_t(len: bytes.count, bytes: memory)
    }

    private func allocate<Element>(_ type: Element.Type, count: Int) -> UnsafeMutablePointer<Element> {
        guard let memory = amqp_pool_alloc(pool, count * MemoryLayout<Element>.stride) else {
            preconditionFailure("out of memory")
        }
        return memory.bindMemory(to: type, capacity: count)
    }

    private static func checkDepth(_ depth: Int) throws(AMQPError) {
        guard depth <= HeaderValue.depthMaximum else {
            throw AMQPError(
                .invalid, "headers lie more than \(HeaderValue.depthMaximum) levels deep in each other")
        }
    }

    /// The properties and headers of a message, with the number of its publish in `cluster-id`.
    mutating func properties(
        _ message: borrowing Message, number: UInt64
    ) throws(AMQPError) -> amqp_basic_properties_t {
        var written = amqp_basic_properties_t()
        var flags: Int32 = AMQP_BASIC_CLUSTER_ID_FLAG
        let read = message.properties
        if let text = read.contentType {
            written.content_type = try shortString(text, "content type")
            flags |= AMQP_BASIC_CONTENT_TYPE_FLAG
        }
        if let text = read.contentEncoding {
            written.content_encoding = try shortString(text, "content encoding")
            flags |= AMQP_BASIC_CONTENT_ENCODING_FLAG
        }
        if !message.headers.isEmpty {
            written.headers = try table(message.headers)
            flags |= AMQP_BASIC_HEADERS_FLAG
        }
        if let text = read.correlationID {
            written.correlation_id = try shortString(text, "correlation id")
            flags |= AMQP_BASIC_CORRELATION_ID_FLAG
        }
        if let text = read.replyTo {
            written.reply_to = try shortString(text, "reply-to")
            flags |= AMQP_BASIC_REPLY_TO_FLAG
        }
        if let text = read.expiration {
            written.expiration = try shortString(text, "expiration")
            flags |= AMQP_BASIC_EXPIRATION_FLAG
        }
        if let text = read.messageID {
            written.message_id = try shortString(text, "message id")
            flags |= AMQP_BASIC_MESSAGE_ID_FLAG
        }
        if let text = read.type {
            written.type = try shortString(text, "type")
            flags |= AMQP_BASIC_TYPE_FLAG
        }
        if let text = read.userID {
            written.user_id = try shortString(text, "user id")
            flags |= AMQP_BASIC_USER_ID_FLAG
        }
        if let text = read.appID {
            written.app_id = try shortString(text, "application id")
            flags |= AMQP_BASIC_APP_ID_FLAG
        }
        written.cluster_id = try shortString(String(number), "cluster id")
        setNumbers(&written, &flags, read)
        written._flags = amqp_flags_t(bitPattern: flags)
        return written
    }

    private func setNumbers(
        _ written: inout amqp_basic_properties_t, _ flags: inout Int32, _ read: MessageProperties
    ) {
        if let value = read.deliveryMode {
            written.delivery_mode = value
            flags |= AMQP_BASIC_DELIVERY_MODE_FLAG
        }
        if let value = read.priority {
            written.priority = value
            flags |= AMQP_BASIC_PRIORITY_FLAG
        }
        if let value = read.timestampSeconds {
            written.timestamp = value
            flags |= AMQP_BASIC_TIMESTAMP_FLAG
        }
    }
}
