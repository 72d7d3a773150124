import JSON
import Testing

@testable import PushServiceSimulator

@Suite("Faults: who is befallen")
struct FaultPlanTests {
    private static let syntax = FaultSyntax(furtherTriggers: ["oauth": .authorization], lowercasesTokens: true) {
        status, reason, timestamp in
        guard reason != "unknown" else { return nil }
        return ServiceAnswer(status: status ?? 418, reason: reason, body: Array("\(reason) \(timestamp ?? 0)".utf8))
    }

    private func faults(_ text: String) throws -> SimulatorFaults {
        try SimulatorFaults(parsing: Array(text.utf8), as: Self.syntax)
    }

    private func plan(_ text: String, seed: UInt64 = 1) throws -> FaultPlan {
        FaultPlan(rules: try faults(text).rules, seed: seed)
    }

    private func request(
        _ number: Int, connection: Int = 1, token: String = "ab", _ trigger: FaultSyntax.Trigger = .request
    )
        -> FaultPlan.Request
    {
        FaultPlan.Request(connection: connection, number: number, token: Array(token.utf8), trigger: trigger)
    }

    @Test("A fault befalls the connection, the tokens and the requests that it is aimed at, as often as it says")
    func aims() throws {
        var plan = try plan(
            """
            {"fault":"silence","connection":2,"after":3,"token":"AB","times":2}

            {"fault":"stream-limit","on":"rejection"}
            {"fault":"delay","on":"oauth"}
            """)
        #expect(plan.requestCame(request(4)) == nil, "another connection")
        #expect(plan.requestCame(request(3, connection: 2)) == nil, "too early")
        #expect(plan.requestCame(request(4, connection: 2, token: "ac")) == nil, "another token")
        #expect(plan.requestCame(request(4, connection: 2, token: "abcd")) == .silence)
        #expect(plan.requestCame(request(5, connection: 2)) == .silence)
        #expect(plan.requestCame(request(6, connection: 2)) == nil, "twice is enough")
        #expect(
            plan.requestCame(request(1, .rejection)) == .streamLimit(1, backAfterMilliseconds: 1_000))
        #expect(plan.requestCame(request(1, .authorization)) == .delay(milliseconds: 1_000))
        #expect(plan.faultCount == 4)
    }

    @Test("The same seed gives the same faults, another seed others, and about as many as is likely")
    func isRepeatable() throws {
        func faults(_ seed: UInt64) throws -> [Bool] {
            var plan = try plan(#"{"fault":"silence","probability":0.2}"#, seed: seed)
            return (1...2_000).map { plan.requestCame(request($0)) != nil }
        }
        let first = try faults(7)
        let second = try faults(8)
        #expect(try faults(7) == first && first != second)
        #expect((300...500).contains(first.count { $0 }))
    }

    @Test("Every fault is read, and what befalls connections is told from what befalls requests")
    func readsEveryFault() throws {
        let lines = [
            #"{"fault":"goaway","last":"none","error":2,"reason":"Shutdown"}"#, #"{"fault":"reset-stream","error":7}"#,
            #"{"fault":"stream-limit","streams":3,"back_ms":5}"#, #"{"fault":"wedge"}"#, #"{"fault":"silence"}"#,
            #"{"fault":"answer","status":503,"body":"no JSON","retry_after":30,"header_bytes":5,"body_bytes":9}"#,
            #"{"fault":"answer","reason":"Teapot","timestamp":7,"content_type":"text/html"}"#,
            #"{"fault":"lose-answer"}"#, #"{"fault":"cut-answer","bytes":3}"#,
            #"{"fault":"delay","ms":7}"#, #"{"fault":"tcp-reset","bytes":100}"#, #"{"fault":"tcp-silence"}"#,
            #"{"fault":"drip","bytes":2}"#, #"{"fault":"idle-end","ms":40}"#,
            #"{"fault":"window","bytes":10,"add":1,"every_ms":2}"#,
            #"{"fault":"certificate"}"#, #"{"fault":"goaway","last":7}"#,
        ]
        let faults = try faults(lines.joined(separator: "\n")).rules.map(\.fault)
        var answer = ServiceAnswer(status: 503, body: Array("no JSON  ".utf8))
        answer.retryAfter = "30"
        answer.extraHeaderBytes = 5
        let teapot = ServiceAnswer(
            status: 418, reason: "Teapot", body: Array("Teapot 7".utf8), contentType: "text/html")
        #expect(
            faults == [
                .goAway(.none, errorCode: 2, reason: "Shutdown"), .resetStream(errorCode: 7),
                .streamLimit(3, backAfterMilliseconds: 5), .wedgeConnection, .silence, .answer(answer),
                .answer(teapot), .loseAnswer, .cutAnswer(afterBytes: 3), .delay(milliseconds: 7),
                .wire(.reset(afterBytes: 100)), .wire(.silence(afterBytes: 0)),
                .wire(.drip(bytesPerMillisecond: 2)), .wire(.endWhenIdle(afterMilliseconds: 40)),
                .window(bytes: 10, addedBytes: 1, everyMilliseconds: 2),
                .foreignCertificate, .goAway(.upTo(7), errorCode: 0, reason: nil),
            ])
        #expect(
            faults.map(\.befallsConnections) == Array(repeating: false, count: 10) + Array(repeating: true, count: 6)
                + [
                    false
                ])
    }

    @Test(
        "A line that is no fault is refused with its number",
        arguments: [
            "x", "[]", "{}", #"{"fault":"flood"}"#, #"{"fault":"wedge","chance":1}"#,
            #"{"fault":"wedge","probability":2}"#, #"{"fault":"wedge","times":0}"#, #"{"fault":"goaway","last":"all"}"#,
            #"{"fault":"answer","status":100}"#, #"{"fault":"wedge","on":"monday"}"#,
            #"{"fault":"answer","reason":"unknown"}"#,
        ])
    func refusesLines(_ line: String) {
        let error = #expect(throws: SimulatorError.self) {
            try faults("{\"fault\":\"silence\"}\n\(line)")
        }
        #expect(error?.message.hasPrefix("line 2 of the faults: ") == true)
    }
}
