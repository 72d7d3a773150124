import PushTestKit
import Testing

@testable import ChangeEvents

@Suite("The texts of attributes")
struct AttributeTextTests {
    @Test("A document is plain if it has neither escapes nor bytes from 0x7f on, wherever they would be")
    func plainDocuments() {
        var generator = SeededGenerator(seed: 38)
        for count in 0..<40 {
            let plain = (0..<count).map { _ in UInt8.random(in: 0x20...0x5b, using: &generator) }
            #expect(AttributeText.isPlain(plain), "\(plain)")
            for place in plain.indices {
                for byte in UInt8.min...UInt8.max {
                    var document = plain
                    document[place] = byte
                    let isPlain = byte < 0x7f && byte != UInt8(ascii: "\\")
                    guard AttributeText.isPlain(document) != isPlain else { continue }
                    Issue.record("\(byte) at \(place) of \(count)")
                }
            }
        }
    }
}
