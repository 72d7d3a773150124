import CRabbitMQ

/// Remembers the last text of one field: neighbouring messages mostly have the same exchange, key or type, and a text
/// that is longer than Swift stores in place would cost an allocation for each.
struct StringCache {
    /// What Swift stores in place, in bytes.
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
