import Crypto
import Foundation
import Testing

@Suite("Base64URL and SHA-256")
struct Base64URLTests {
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

    @Test("The published digests of the empty message and of abc are met")
    func digestMeetsPublishedVectors() {
        let empty = SHA256Digest.digest([]).map { String(format: "%02x", $0) }.joined()
        #expect(empty == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let letters = SHA256Digest.digest(Array("abc".utf8)).map { String(format: "%02x", $0) }.joined()
        #expect(letters == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
