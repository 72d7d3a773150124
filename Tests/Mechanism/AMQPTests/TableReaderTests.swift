import CRabbitMQ
import Messages
import Testing

@testable import AMQP

struct TableReaderTests {
    @Test("Of headers that lie too deep in each other only those are left out, each with a void in its place")
    func leavesOutTheDeep() throws {
        let shallow = Self.entry("ce-id", [UInt8(ascii: "S")] + Self.long(Array("7".utf8)))
        var nested: [UInt8] = []
        for _ in 0...HeaderValue.depthMaximum { nested = Self.entry("t", [UInt8(ascii: "F")] + Self.long(nested)) }
        let (headers, isWhole) = try #require(Self.read(nested + shallow))
        #expect(!isWhole && headers.last == MessageHeader("ce-id", .string("7")))
        var depth = 1
        var value = try #require(headers.first).value
        while case .table(let entries) = value, let entry = entries.first {
            depth += 1
            value = entry.value
        }
        #expect(depth == HeaderValue.depthMaximum && value == .void)
        #expect(try #require(Self.read(shallow)).isWhole)
    }

    private static func read(_ entries: [UInt8]) -> (headers: [MessageHeader], isWhole: Bool)? {
        var pool = amqp_pool_t()
        init_amqp_pool(&pool, 4_096)
        defer { empty_amqp_pool(&pool) }
        var bytes = long(entries)
        return bytes.withUnsafeMutableBytes { buffer in
            var table = amqp_table_t()
            var offset = 0
            let encoded = amqp_bytes_t(len: buffer.count, bytes: buffer.baseAddress)
            guard amqp_decode_table(encoded, &pool, &table, &offset) >= 0 else { return nil }
            return TableReader.read(table)
        }
    }

    private static func entry(_ name: String, _ value: [UInt8]) -> [UInt8] {
        [UInt8(clamping: name.utf8.count)] + Array(name.utf8) + value
    }

    private static func long(_ bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes
    }
}
