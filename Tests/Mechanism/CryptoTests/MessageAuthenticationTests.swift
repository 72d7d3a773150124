import Crypto
import Testing

@Suite("Message authentication")
struct MessageAuthenticationTests {
    @Test("The codes of RFC 4231 come out")
    func testVectors() {
        func code(_ key: [UInt8], _ message: [UInt8]) -> String {
            MessageAuthentication.code(of: message, key: key).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
                .joined()
        }
        #expect(
            code([UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8))
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            code(Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            code(
                [UInt8](repeating: 0xaa, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
        #expect(code([], []) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test("Bytes are equal if all are")
    func comparison() {
        #expect(MessageAuthentication.isEqual([], []))
        #expect(MessageAuthentication.isEqual([1, 2], [1, 2]))
        #expect(!MessageAuthentication.isEqual([1, 2], [1, 3]))
        #expect(!MessageAuthentication.isEqual([1, 2], [1, 2, 0]))
    }
}
