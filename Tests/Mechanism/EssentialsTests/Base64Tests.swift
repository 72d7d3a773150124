import Essentials
import Foundation
import Testing

@Suite("Base64")
struct Base64Tests {
    private static func oracle(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    @Test("Text agrees with the system's Base64 for every length up to 300")
    func encodingAgreesWithOracle() {
        let seed = UInt64.random(in: 0 ... .max)
        var state = seed
        for length in 0...300 {
            let bytes = (0..<length).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
            let text = Base64URL.encode(bytes)
            #expect(text == Self.oracle(bytes), "seed \(seed), length \(length)")
            #expect(Base64URL.decode(text) == bytes, "seed \(seed), length \(length)")
        }
    }

    @Test("Of all texts of up to three characters exactly the canonical ones are accepted")
    func decodingIsStrict() {
        let characters = Array("AQg-_+/= \n\0é9".unicodeScalars).map { String($0) }
        let texts =
            characters + characters.flatMap { first in characters.map { first + $0 } }
            + characters.flatMap { first in characters.flatMap { second in characters.map { first + second + $0 } } }
        for text in texts {
            if let bytes = Base64URL.decode(text) {
                #expect(Base64URL.encode(bytes) == text)
            } else {
                let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
                let padded = standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
                let isCanonical = Data(base64Encoded: padded).map { Self.oracle(Array($0)) == text } ?? false
                #expect(!isCanonical, "\(text.debugDescription) was refused")
            }
        }
        #expect(Base64URL.decode("") == [])
    }

    @Test("Standard text agrees with the system's, and is read back with padding or without")
    func standardAgreesWithOracle() throws {
        for length in 0...100 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255) }
            let text = Base64.encode(bytes)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Base64.decodeStrictly(text) == bytes)
            for written in [text, text.replacingOccurrences(of: "=", with: "")] {
                #expect(Array(written.utf8).withUnsafeBufferPointer(Base64.decode) == bytes)
            }
        }
    }

    @Test("Strictly read, standard text has all its padding, its own alphabet and no bits to spare")
    func standardIsStrict() {
        #expect(Base64.decodeStrictly("+/8=") == [0xFB, 0xFF])
        for text in ["+/8", "+/9=", "-_8=", "+/8==", "=", "====", "+/==8", "+/ 8", "A==="] {
            #expect(Base64.decodeStrictly(text) == nil, "\(text)")
        }
    }
}
