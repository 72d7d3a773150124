import Crypto
import Foundation
import Testing

@Suite("SHA-256")
struct SHA256DigestTests {
    @Test("The published digests of the empty message and of abc are met")
    func digestMeetsPublishedVectors() {
        let empty = SHA256Digest.digest([]).map { String(format: "%02x", $0) }.joined()
        #expect(empty == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let letters = SHA256Digest.digest(Array("abc".utf8)).map { String(format: "%02x", $0) }.joined()
        #expect(letters == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
