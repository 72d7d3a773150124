import CRabbitMQ
import Messages

@testable import AMQP

/// Reads bytes as a table and as frames of a connection, as librabbitmq does, and hands them to what puts messages
/// together; what was read is written, in the counted length, and read again.
///
/// The broker is trusted more than a publisher. But what a publisher puts into headers comes this way.
struct AMQPFuzzTarget: FuzzTarget {
    func run(_ input: FuzzInput) throws(FuzzFailure) {
        try readTable(input.bytes)
        try readFrames(input.bytes)
    }

    private func readTable(_ bytes: [UInt8]) throws(FuzzFailure) {
        guard let headers = Self.decode(bytes) else { return }
        try writeAgain(headers)
    }

    /// The entries of an encoded table; nil if it is none.
    private static func decode(_ bytes: [UInt8]) -> [MessageHeader]? {
        var pool = amqp_pool_t()
        init_amqp_pool(&pool, 4_096)
        defer { empty_amqp_pool(&pool) }
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { buffer in
            var table = amqp_table_t()
            var offset = 0
            let encoded = amqp_bytes_t(len: buffer.count, bytes: buffer.baseAddress)
            guard amqp_decode_table(encoded, &pool, &table, &offset) >= 0 else { return nil }
            return TableReader.read(table).headers
        }
    }

    private func writeAgain(_ headers: [MessageHeader]) throws(FuzzFailure) {
        var pool = amqp_pool_t()
        init_amqp_pool(&pool, 4_096)
        defer { empty_amqp_pool(&pool) }
        let bytes = withUnsafeMutablePointer(to: &pool) { pool -> [UInt8]? in
            var writer = TableWriter(pool: pool)
            guard var table = try? writer.table(headers) else { return nil }
            var buffer = [UInt8](repeating: 0, count: writer.encodedBytes)
            var offset = 0
            let status = buffer.withUnsafeMutableBytes { memory in
                amqp_encode_table(amqp_bytes_t(len: memory.count, bytes: memory.baseAddress), &table, &offset)
            }
            return status >= 0 && offset == writer.encodedBytes ? buffer : []
        }
        // Headers that were read may be too long to be sent: names have 255 bytes at most.
        guard let bytes else { return }
        guard let again = Self.decode(bytes) else {
            throw FuzzFailure("what was written is no table, or not as long as it was counted")
        }
        // As text, because a number that is none does not equal itself.
        try promise("\(again)" == "\(headers)", "\(headers) comes back as \(again)")
    }

    private func readFrames(_ bytes: [UInt8]) throws(FuzzFailure) {
        guard let connection = amqp_new_connection() else { return }
        defer { amqp_destroy_connection(connection) }
        var assembler = FrameAssembler()
        var batch = AMQPBatch()
        var bytes = bytes
        bytes.withUnsafeMutableBytes { buffer in
            var position = 0
            while position < buffer.count {
                var frame = amqp_frame_t()
                let rest = amqp_bytes_t(len: buffer.count - position, bytes: buffer.baseAddress.map { $0 + position })
                let count = amqp_handle_input(connection, rest, &frame)
                guard count > 0 else { return }
                position += Int(count)
                guard frame.frame_type != 0, Self.take(frame, &assembler, &batch) else { continue }
            }
        }
        for delivery in batch.deliveries { try writeAgain(delivery.message.headers) }
    }

    /// Hands a frame on as a session does; false if that ends the connection.
    private static func take(
        _ frame: amqp_frame_t, _ assembler: inout FrameAssembler, _ batch: inout AMQPBatch
    ) -> Bool {
        guard Int32(frame.frame_type) == AMQP_FRAME_METHOD else {
            return (try? assembler.add(frame, to: &batch)) != nil
        }
        guard assembler.isIdle, let decoded = frame.payload.method.decoded else { return false }
        switch Int(frame.payload.method.id) {
        case CRABBITMQ_BASIC_DELIVER: assembler.begin(decoded.load(as: amqp_basic_deliver_t.self))
        case CRABBITMQ_BASIC_GET_OK: assembler.begin(decoded.load(as: amqp_basic_get_ok_t.self))
        case CRABBITMQ_BASIC_RETURN: assembler.begin(decoded.load(as: amqp_basic_return_t.self))
        default: break
        }
        return true
    }
}
