/// What a publisher sends: the protocol's header, a heartbeat, and three publishes with bodies of 0, 300 and 20 bytes,
/// the second in two frames.
struct AMQPStream {
    private(set) var bytes = Array("AMQP".utf8) + [0, 0, 9, 1]
    /// Where each publish begins and ends.
    private(set) var publishes: [Range<Int>] = []

    init() {
        frame(type: 8, [])
        for parts in [[], [200, 100], [20]] {
            let start = bytes.count
            frame(type: 1, [0, 60, 0, 40, 0, 0, 1, 120, 1, 121, 0])
            let size = parts.reduce(0, +)
            frame(type: 2, [0, 60, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(size >> 8), UInt8(size & 255), 0, 0])
            for part in parts { frame(type: 3, [UInt8](repeating: 0xCE, count: part)) }
            publishes.append(start..<bytes.count)
        }
        frame(type: 8, [])
    }

    private mutating func frame(type: UInt8, _ payload: [UInt8]) {
        bytes += [type, 0, 1, 0, 0, UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload + [0xCE]
    }
}
