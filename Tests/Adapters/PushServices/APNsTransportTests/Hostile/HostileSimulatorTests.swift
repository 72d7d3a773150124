import APNsSimulator
import APNsTransport
import ConnectionPool
import Notifications
import PushServiceSimulator
import PushTestKit
import Testing

@Suite("Client: a hostile simulator, one fault at a time")
struct HostileSimulatorTests {
    /// Sends pushes to a simulator with a fault, and gives what became of them.
    private func outcomes(
        _ faults: String, count: Int = 400, limits: @escaping (inout PoolLimits) -> Void = { _ in },
        simulator: @escaping (inout SimulatorConfiguration) -> Void = { _ in }
    ) async throws -> (all: [AttemptResult], summary: SimulatorSummary) {
        let script = try SimulatorFaults(parsing: Array(faults.utf8))
        let world = try await SimulatorWorld(
            limits: {
                $0.connections = 2
                // On a machine that is busy with all tests at once a push may wait for longer than the usual deadline.
                $0.deadlineNanoseconds = 600_000_000_000
                limits(&$0)
            },
            simulator: {
                $0.faults = script
                simulator(&$0)
            })
        for start in stride(from: 0, to: count, by: 100) { world.fixture.send(start..<start + 100) }
        let results = await world.fixture.results.wait(count: count)
        let summary = try await world.end()
        #expect(Set(results.map(\.identifier)).count == count, "each push ends once")
        #expect(summary.protocolViolations == 0)
        #expect(summary.faults > 0, "the fault has happened")
        return (results, summary)
    }

    private func accepted(_ results: [AttemptResult]) -> Int {
        results.count { $0.outcome == .answered(PushAnswer(status: 200)) }
    }

    /// How many ended in each way, for a failure's message.
    private func kinds(_ results: [AttemptResult]) -> [String: Int] {
        Dictionary(grouping: results) { "\($0.outcome)" }.mapValues(\.count)
    }

    private func ambiguous(_ results: [AttemptResult]) -> Int {
        results.count { if case .ambiguous = $0.outcome { true } else { false } }
    }

    @Test(
        "A GOAWAY loses nothing: what was not processed goes elsewhere",
        arguments: [
            #"{"fault":"goaway","after":20,"times":3}"#,
            #"{"fault":"goaway","after":20,"times":3,"reason":"Shutdown"}"#,
            #"{"fault":"goaway","after":20,"times":3,"last":"previous"}"#,
            #"{"fault":"goaway","after":20,"times":3,"last":"none","reason":"IdleTimeout"}"#,
            #"{"fault":"goaway","after":20,"times":3,"last":9}"#,
        ])
    func survivesGoAway(_ fault: String) async throws {
        let (results, _) = try await outcomes(fault)
        #expect(accepted(results) == 400, "\(kinds(results))")
    }

    @Test(
        "After a GOAWAY amid answers that are under way, what was said to be processed is not sent again",
        arguments: [
            #"{"fault":"goaway","after":20,"probability":0.02,"times":10}"#,
            #"{"fault":"goaway","after":20,"probability":0.02,"times":10,"last":"previous"}"#,
            #"{"fault":"goaway","after":20,"probability":0.02,"times":10,"last":"none"}"#,
        ])
    func doesNotRepeatAfterGoAway(_ fault: String) async throws {
        let (results, summary) = try await outcomes(
            fault, count: 2_000,
            simulator: {
                $0.latency = .uniform(milliseconds: 5...40, seed: 1)
            })
        #expect(accepted(results) == 2_000 && summary.accepted == 2_000, "\(summary), \(kinds(results))")
    }

    @Test("A refused stream is sent again; another reset leaves in doubt whether it was processed")
    func survivesResets() async throws {
        #expect(accepted(try await outcomes(#"{"fault":"reset-stream","error":7,"after":50,"times":30}"#).all) == 400)
        let (results, _) = try await outcomes(#"{"fault":"reset-stream","error":2,"times":30}"#)
        #expect(accepted(results) == 370 && ambiguous(results) == 30)
    }

    @Test("Streams that are taken away after a rejection are respected, and used again when they are back")
    func respectsStreamLimits() async throws {
        let zeros = String(repeating: "0", count: 62)
        let (results, _) = try await outcomes(
            """
            {"fault":"answer","status":400,"reason":"BadDeviceToken","token":"\(zeros)0","times":3}
            {"fault":"stream-limit","streams":1,"back_ms":20,"times":5}
            """)
        #expect(accepted(results) == 397)
    }

    @Test("A token that is never answered ends in doubt at its deadline, and delays no other")
    func survivesSilence() async throws {
        let (results, _) = try await outcomes(#"{"fault":"silence","after":5,"times":7}"#) {
            $0.deadlineNanoseconds = 1_000_000_000
        }
        #expect(accepted(results) == 393 && ambiguous(results) == 7)
    }

    @Test("An answer after the deadline comes too late")
    func survivesLateAnswers() async throws {
        let (results, _) = try await outcomes(#"{"fault":"delay","ms":20000,"after":5,"times":7}"#) {
            $0.deadlineNanoseconds = 1_000_000_000
        }
        #expect(accepted(results) == 393 && ambiguous(results) == 7)
    }

    @Test("A peer that goes silent, with TCP up, is found out and left")
    func survivesHalfOpenConnections() async throws {
        let (results, summary) = try await outcomes(#"{"fault":"tcp-silence","bytes":4000,"connection":1}"#) {
            $0.deadlineNanoseconds = 500_000_000
            $0.pingTimeoutNanoseconds = 300_000_000
        }
        #expect(accepted(results) + ambiguous(results) == 400)
        #expect(summary.connections >= 2)
    }

    @Test("A handshake that hangs does not keep the others from being of use")
    func survivesHangingHandshakes() async throws {
        let (results, _) = try await outcomes(#"{"fault":"tcp-silence","bytes":0,"connection":1}"#) {
            $0.connectTimeoutNanoseconds = 1_000_000_000
        }
        #expect(accepted(results) == 400)
    }

    @Test(
        "TCP that is reset at any byte leaves in doubt only what was written",
        arguments: [1, 100, 1_500, 2_500, 3_000, 3_500, 5_000, 8_000])
    func survivesResetsOfTCP(_ bytes: Int) async throws {
        let (results, _) = try await outcomes(#"{"fault":"tcp-reset","bytes":\#(bytes),"times":2}"#)
        #expect(accepted(results) + ambiguous(results) == 400)
        #expect(accepted(results) >= 1)
    }

    @Test("A flow-control window that is opened slowly is respected; one that stays shut is left")
    func respectsWindows() async throws {
        let slow = try await outcomes(#"{"fault":"window","bytes":2000,"add":2000,"every_ms":10}"#)
        #expect(accepted(slow.all) == 400)
        let shut = try await outcomes(#"{"fault":"window","bytes":500,"connection":1}"#) {
            $0.starvationNanoseconds = 100_000_000
        }
        #expect(accepted(shut.all) == 400)
    }

    @Test("Answers that come byte by byte are put together")
    func readsSlowAnswers() async throws {
        let (results, _) = try await outcomes(#"{"fault":"drip","bytes":40}"#, count: 100)
        #expect(accepted(results) == 100)
    }

    @Test("A connection that an expired token has wedged is replaced, and its pushes are sent elsewhere")
    func leavesWedgedConnections() async throws {
        let (results, _) = try await outcomes(#"{"fault":"wedge","after":50,"times":1}"#)
        #expect(accepted(results) == 400)
    }

    @Test("Retry-After, timestamps, unknown reasons and bodies that are no JSON are passed on as what they are")
    func readsStrangeAnswers() async throws {
        let (results, _) = try await outcomes(
            """
            {"fault":"answer","token":"\(ClientFixture.token(1))","status":503,"reason":"Busy","retry_after":30}
            {"fault":"answer","token":"\(ClientFixture.token(2))","status":429,"reason":"TooManyRequests"}
            {"fault":"answer","token":"\(ClientFixture.token(3))","status":410,"reason":"Unregistered","timestamp":5}
            {"fault":"answer","token":"\(ClientFixture.token(4))","status":400,"reason":"NeverHeardOf"}
            {"fault":"answer","token":"\(ClientFixture.token(5))","status":500,"body":"<html>"}
            {"fault":"answer","token":"\(ClientFixture.token(6))","status":200,"body_bytes":3000000}
            {"fault":"answer","token":"\(ClientFixture.token(7))","status":200,"header_bytes":30000}
            """)
        let byIdentifier = Dictionary(uniqueKeysWithValues: results.map { ($0.identifier, $0.outcome) })
        #expect(
            byIdentifier[1] == .answered(PushAnswer(status: 503, reason: "Busy", retryAfterSeconds: 30)))
        #expect(byIdentifier[2] == .answered(PushAnswer(status: 429, reason: "TooManyRequests")))
        #expect(
            byIdentifier[3] == .answered(PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: 5)))
        #expect(byIdentifier[4] == .answered(PushAnswer(status: 400, reason: "NeverHeardOf")))
        #expect(byIdentifier[5] == .answered(PushAnswer(status: 500, explanation: "<html>")))
        #expect(byIdentifier[6] == .answered(PushAnswer(status: 200)))
        #expect(byIdentifier[7] == .answered(PushAnswer(status: 200)))
        #expect(accepted(results) == 395)
    }

    @Test("A certificate that changes to somebody else's is refused, and the pushes go on by other connections")
    func refusesForeignCertificates() async throws {
        let (results, summary) = try await outcomes(
            """
            {"fault":"certificate","connection":2}
            {"fault":"tcp-reset","bytes":6000,"connection":1}
            """)
        #expect(accepted(results) + ambiguous(results) == 400)
        #expect(summary.connectionsFailed >= 1)
    }
}
