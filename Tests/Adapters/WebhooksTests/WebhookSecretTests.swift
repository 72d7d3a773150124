import Testing

@testable import Webhooks

@Suite("Secrets of webhooks")
struct WebhookSecretTests {
    @Test("A request is signed as the example of Standard Webhooks is")
    func example() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = secret.signature(
            identifier: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestampSeconds: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(
        "What is no secret of 24 to 64 bytes is refused",
        arguments: [
            "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!", "whsec_\(String(repeating: "AAAA", count: 22))",
        ])
    func refused(text: String) { #expect(WebhookSecret(text) == nil) }

    @Test("A secret prints nothing of itself")
    func printsNothing() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "[redacted]")
        #expect(String(reflecting: secret) == "[redacted]")
        #expect(!dumped.contains("MfKQ") && !dumped.contains("49"))
    }
}
