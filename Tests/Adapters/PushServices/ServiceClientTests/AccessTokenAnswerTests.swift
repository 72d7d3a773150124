import ServiceClient
import Testing

@Suite("Answers of token endpoints")
struct AccessTokenAnswerTests {
    private func read(_ status: Int, _ body: String, retryAfter: Int? = nil, hiding: String = "") -> AccessTokenOutcome
    {
        AccessTokenOutcome(status: status, body: Array(body.utf8), retryAfterSeconds: retryAfter, hiding: hiding)
    }

    private func failure(_ outcome: AccessTokenOutcome) -> AccessTokenFailure? {
        if case .failed(let failure) = outcome { failure } else { nil }
    }

    @Test("A token comes with its life, which is an hour if the answer does not say it and a day at most")
    func granted() {
        #expect(
            read(200, #"{"access_token":"ya29.a","expires_in":3599,"token_type":"Bearer"}"#)
                == .granted(token: "ya29.a", lifeSeconds: 3_599))
        #expect(read(200, #"{"access_token":"a"}"#) == .granted(token: "a", lifeSeconds: 3_600))
        #expect(
            read(200, #"{"access_token":"a","expires_in":9223372036854775807}"#)
                == .granted(token: "a", lifeSeconds: 86_400))
    }

    @Test(
        "A success without a usable token is a failure that passes",
        arguments: [
            "", "[]", "{}", "<html>", #"{"access_token":""}"#, #"{"access_token":"a b"}"#, #"{"access_token":"a\n"}"#,
            #"{"access_token":7}"#, #"{"access_token":"a","expires_in":0}"#, #"{"access_token":"a","expires_in":-5}"#,
        ])
    func unusable(_ body: String) {
        #expect(failure(read(200, body))?.isRefusal == false)
    }

    @Test("Refused credentials need an operator; trouble of the endpoint passes")
    func failures() {
        let grant = failure(
            read(400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#))
        #expect(grant?.isRefusal == true)
        #expect(grant?.reason == "the token endpoint answered 400 (invalid_grant: Invalid JWT Signature.)")
        for status in [401, 403, 404] { #expect(failure(read(status, ""))?.isRefusal == true) }
        for status in [302, 408, 429, 500, 503] { #expect(failure(read(status, ""))?.isRefusal == false) }
        #expect(failure(read(400, #"{"error":"internal_failure"}"#))?.isRefusal == false)
        #expect(failure(read(503, "", retryAfter: 30))?.retryAfterSeconds == 30)
    }

    @Test("What an endpoint says is printable, short, and without the secret that it was sent")
    func hostile() throws {
        let text = "eyJ0.secret.x " + String(repeating: "y", count: 999)
        let answer = read(
            400, #"{"error":"\u001b[31mred","error_description":"\#(text)"}"#, hiding: "eyJ0.secret.x")
        let reason = try #require(failure(answer)?.reason)
        #expect(!reason.contains("\u{1b}") && !reason.contains("secret"))
        #expect(reason.contains("[redacted]") && reason.count < 300)
    }
}
