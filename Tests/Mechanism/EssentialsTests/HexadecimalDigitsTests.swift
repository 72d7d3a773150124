import Essentials
import Notifications
import PushTestKit
import Testing

@Suite("Hexadecimal digits")
struct HexadecimalDigitsTests {
    private func digits(_ number: some FixedWidthInteger, _ count: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: count - text.count) + text
    }

    @Test("Bytes of every number and value are written as their digits, and identifiers as canonical UUIDs")
    func writesDigits() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for count in 0...70 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            var text = [UInt8](repeating: 0, count: 2 * count)
            text.withUnsafeMutableBytes { text in
                bytes.withUnsafeBufferPointer { HexadecimalDigits.write($0, to: text) }
            }
            let expected = bytes.map { digits($0, 2) }.joined()
            #expect(String(decoding: text, as: UTF8.self) == expected, "seed \(seed)")
        }
        for _ in 0..<1_000 {
            let identifier = APNsIdentifier(high: random.next(), low: random.next())
            let high = digits(identifier.high, 16)
            let low = digits(identifier.low, 16)
            let first = "\(high.prefix(8))-\(high.dropFirst(8).prefix(4))-\(high.suffix(4))"
            #expect(identifier.description == "\(first)-\(low.prefix(4))-\(low.dropFirst(4))", "seed \(seed)")
        }
    }
}
