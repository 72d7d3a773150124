import Testing

@testable import PushTestKit

@Suite("The scanner of AMQP frames")
struct AMQPFrameScannerTests {
    /// Scans a stream in pieces; gives the bytes that came out, and where each method was said to be.
    private func scan(_ bytes: [UInt8], cut: () -> Int) -> (bytes: [UInt8], reached: [FaultTrigger.Moment: [Int]]) {
        var scanner = AMQPFrameScanner(direction: .toServer)
        var rest = bytes[...]
        var pieces: [AMQPFrameScanner.Piece] = []
        while !rest.isEmpty {
            let count = max(1, cut())
            scanner.take(Array(rest.prefix(count)), into: &pieces)
            rest = rest.dropFirst(count)
        }
        var passed: [UInt8] = []
        var reached: [FaultTrigger.Moment: [Int]] = [:]
        for piece in pieces {
            switch piece {
            case .bytes(let bytes): passed += bytes
            case .reached(let marker, let moment):
                if marker == .publish { reached[moment, default: []].append(passed.count) }
            }
        }
        return (passed, reached)
    }

    @Test("Whatever pieces a stream comes in, its bytes come out unchanged and its methods are found where they are")
    func findsMethods() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let stream = AMQPStream()
        for round in 0..<300 {
            let maximum = [1, 3, 12, 100, 10_000][round % 5]
            let (bytes, reached) = scan(stream.bytes) { Int.random(in: 1...maximum, using: &generator) }
            #expect(bytes == stream.bytes, "seed \(seed)")
            #expect(reached[.before] == stream.publishes.map(\.lowerBound), "seed \(seed)")
            #expect(reached[.within] == stream.publishes.map { $0.lowerBound + 11 }, "seed \(seed)")
            #expect(reached[.after] == stream.publishes.map(\.upperBound), "seed \(seed)")
        }
    }

    @Test("Bytes that are no AMQP pass, and are never held back for ever")
    func passesAnything() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let bytes = (0..<400).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let (passed, _) = scan(bytes) { Int.random(in: 1...50, using: &generator) }
            #expect(bytes.starts(with: passed) && bytes.count - passed.count < 19, "seed \(seed)")
        }
    }
}
