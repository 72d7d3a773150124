import HTTPServer
import PushTestKit
import Testing

@testable import RegistryAPI

@Suite("Signature Version 4")
struct SignatureTests {
    private static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    private static let nowSeconds: Int64 = 1_440_938_160

    private let verifier = SignatureVerifier(
        service: "service", keys: [AccessKey(identifier: "AKIDEXAMPLE", secret: secret)])

    private func request(
        _ method: String, _ target: String, signature: String, names: String = "host;x-amz-date",
        more: [HTTPField] = []
    ) throws -> HTTPRequest {
        let authorization =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            + "SignedHeaders=\(names), Signature=\(signature)"
        return HTTPRequest(
            method: method, target: try #require(HTTPTarget(target)),
            fields: [
                HTTPField("host", "example.amazonaws.com"), HTTPField("x-amz-date", "20150830T123600Z"),
                HTTPField("authorization", authorization),
            ] + more)
    }

    @Test("The signatures of Amazon's test suite are accepted")
    func testSuite() throws {
        // get-vanilla, post-vanilla, get-vanilla-query-order-key-case, get-header-value-trim.
        let requests = [
            try request("GET", "/", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            try request("POST", "/", signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            try request(
                "GET", "/?Param2=value2&Param1=value1",
                signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
            try request(
                "GET", "/", signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
                names: "host;my-header1;my-header2;x-amz-date",
                more: [HTTPField("my-header1", "value1"), HTTPField("my-header2", "\"a   b   c\"")]),
        ]
        for request in requests {
            #expect(try verifier.verify(request, nowSeconds: Self.nowSeconds).identifier == "AKIDEXAMPLE")
        }
    }

    @Test("A signature counts for five minutes, either way", arguments: [-300, 0, 300, -301, 301])
    func time(offset: Int64) throws {
        let request = try request(
            "GET", "/", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
        let verified = Result { try verifier.verify(request, nowSeconds: Self.nowSeconds + offset) }
        #expect((try? verified.get()) != nil || abs(offset) > 300)
        #expect((try? verified.get()) == nil || abs(offset) <= 300)
    }

    @Test("What says the same in other words is not accepted in place of what was signed")
    func variations() throws {
        let good = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        for bad in [good.uppercased(), good + " ", String(good.dropLast()), "", good + good] {
            #expect(throws: SignatureRefusal.self) {
                try verifier.verify(try request("GET", "/", signature: bad), nowSeconds: Self.nowSeconds)
            }
        }
        let unsigned = try request("GET", "/", signature: good, more: [HTTPField("x-amz-target", "a")])
        #expect(throws: SignatureRefusal.self) { try verifier.verify(unsigned, nowSeconds: Self.nowSeconds) }
        let twice = try request("GET", "/", signature: good, more: [HTTPField("authorization", "Bearer x")])
        #expect(throws: SignatureRefusal.self) { try verifier.verify(twice, nowSeconds: Self.nowSeconds) }
    }

    @Test(
        "A date that there is not is no date",
        arguments: [
            "20150230T000000Z", "20151301T000000Z", "20150830T240000Z", "20150830T126000Z", "20150830T123660Z",
            "20150830 123600Z", "2015083 T123600Z", "20150830T123600", "", "-0150830T123600Z", "20150800T000000Z",
        ])
    func dates(text: String) { #expect(AmazonDate(text) == nil) }

    @Test(
        "A path is signed without dots and empty segments",
        arguments: [
            ("/", "/"), ("/a/b", "/a/b"), ("/a/b/", "/a/b/"), ("/a/./b", "/a/b"), ("/a/../b", "/b"), ("/../a", "/a"),
            ("//a///b", "/a/b"), ("/a/..", "/"), ("/a/...", "/a/..."), ("/a/%2E/b", "/a/%2E/b"), ("/a/b/..", "/a"),
        ])
    func normalizedPaths(path: String, expected: String) {
        #expect(CanonicalRequest.normalized(path) == expected)
    }

    @Test("Dates are read and written alike")
    func dateRoundTrip() throws {
        for seconds: Int64 in [0, 951_827_696, 1_440_938_160, 4_102_444_799] {
            let text = AmazonDate.text(seconds: seconds)
            #expect(try #require(AmazonDate(text)).seconds == seconds)
        }
        #expect(AmazonDate.text(seconds: Self.nowSeconds) == "20150830T123600Z")
    }

    @Test("No header is a reason to crash")
    func randomHeaders() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "AWS4-HMAC-SHA256", " ", "Credential=", "AKIDEXAMPLE", "/", "20150830", "us-east-1", "service",
            "aws4_request", ",", "SignedHeaders=", "host", ";", "x-amz-date", "Signature=", "0", "=", "\u{e4}", "//",
        ]
        for _ in 0..<5_000 {
            var text =
                Bool.random(using: &generator) ? "AWS4-HMAC-SHA256 Credential=a/20150830/r/service/aws4_request" : ""
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                text += pieces.randomElement(using: &generator) ?? ""
            }
            let request = HTTPRequest(
                method: "GET", target: try #require(HTTPTarget("/")),
                fields: [
                    HTTPField("host", "h"), HTTPField("x-amz-date", "20150830T123600Z"),
                    HTTPField("authorization", text),
                ])
            #expect(throws: SignatureRefusal.self, "seed \(seed)") {
                try verifier.verify(request, nowSeconds: Self.nowSeconds)
            }
        }
    }
}
