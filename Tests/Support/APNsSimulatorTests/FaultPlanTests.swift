import JSON
import Testing

@testable import APNsSimulator

@Suite("Faults: who is befallen")
struct FaultPlanTests {
    private func request(_ number: Int, connection: Int = 1, token: String = "ab", rejected: Bool = false)
        -> FaultPlan.Request
    {
        FaultPlan.Request(
            connection: connection, number: number, tokenDigits: Array(token.utf8), isRejected: rejected)
    }

    @Test("A fault befalls the connection, the tokens and the requests that it is aimed at, as often as it says")
    func aims() throws {
        let script = try SimulatorFaults(
            parsing: Array(
                """
                {"fault":"silence","connection":2,"after":3,"token":"AB","times":2}

                {"fault":"stream-limit","on":"rejection"}
                """.utf8))
        var plan = FaultPlan(rules: script.rules, seed: 1)
        #expect(plan.requestCame(request(4)) == nil, "another connection")
        #expect(plan.requestCame(request(3, connection: 2)) == nil, "too early")
        #expect(plan.requestCame(request(4, connection: 2, token: "ac")) == nil, "another token")
        #expect(plan.requestCame(request(4, connection: 2, token: "abcd")) == .silence)
        #expect(plan.requestCame(request(5, connection: 2)) == .silence)
        #expect(plan.requestCame(request(6, connection: 2)) == nil, "twice is enough")
        #expect(
            plan.requestCame(request(1, rejected: true)) == .streamLimit(1, backAfterMilliseconds: 1_000))
        #expect(plan.faultCount == 3)
    }

    @Test("The same seed gives the same faults, another seed others, and about as many as is likely")
    func isRepeatable() throws {
        let script = try SimulatorFaults(parsing: Array(#"{"fault":"silence","probability":0.2}"#.utf8))
        func faults(_ seed: UInt64) -> [Bool] {
            var plan = FaultPlan(rules: script.rules, seed: seed)
            return (1...2_000).map { plan.requestCame(request($0)) != nil }
        }
        #expect(faults(7) == faults(7) && faults(7) != faults(8))
        #expect((300...500).contains(faults(7).count { $0 }))
    }

    @Test("Every fault is read, and what befalls connections is told from what befalls requests")
    func readsEveryFault() throws {
        let lines = [
            #"{"fault":"goaway","last":"none","error":2,"reason":"Shutdown"}"#, #"{"fault":"reset-stream","error":7}"#,
            #"{"fault":"stream-limit","streams":3,"back_ms":5}"#, #"{"fault":"wedge"}"#, #"{"fault":"silence"}"#,
            #"{"fault":"answer","status":503,"body":"no JSON","retry_after":30,"header_bytes":5,"body_bytes":9}"#,
            #"{"fault":"delay","ms":7}"#, #"{"fault":"tcp-reset","bytes":100}"#, #"{"fault":"tcp-silence"}"#,
            #"{"fault":"drip","bytes":2}"#, #"{"fault":"window","bytes":10,"add":1,"every_ms":2}"#,
            #"{"fault":"certificate"}"#, #"{"fault":"goaway","last":7}"#,
        ]
        let faults = try SimulatorFaults(parsing: Array(lines.joined(separator: "\n").utf8)).rules.map(\.fault)
        var answer = FaultyAnswer(status: 503, body: Array("no JSON  ".utf8))
        answer.retryAfter = "30"
        answer.extraHeaderBytes = 5
        #expect(
            faults == [
                .goAway(.none, errorCode: 2, reason: "Shutdown"), .resetStream(errorCode: 7),
                .streamLimit(3, backAfterMilliseconds: 5), .wedgeConnection, .silence, .answer(answer),
                .delay(milliseconds: 7), .wire(.reset(afterBytes: 100)), .wire(.silence(afterBytes: 0)),
                .wire(.drip(bytesPerMillisecond: 2)), .window(bytes: 10, addedBytes: 1, everyMilliseconds: 2),
                .foreignCertificate, .goAway(.upTo(7), errorCode: 0, reason: nil),
            ])
        #expect(
            faults.map(\.befallsConnections) == Array(repeating: false, count: 7) + Array(repeating: true, count: 5) + [
                false
            ])
    }

    @Test(
        "A line that is no fault is refused with its number",
        arguments: [
            "x", "[]", "{}", #"{"fault":"flood"}"#, #"{"fault":"wedge","chance":1}"#,
            #"{"fault":"wedge","probability":2}"#, #"{"fault":"wedge","times":0}"#, #"{"fault":"goaway","last":"all"}"#,
            #"{"fault":"answer","status":100}"#, #"{"fault":"wedge","on":"monday"}"#,
        ])
    func refusesLines(_ line: String) {
        let error = #expect(throws: SimulatorError.self) {
            try SimulatorFaults(parsing: Array("{\"fault\":\"silence\"}\n\(line)".utf8))
        }
        #expect(error?.message.hasPrefix("line 2 of the faults: ") == true)
    }
}
